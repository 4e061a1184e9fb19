"""A response becomes a page with a state and reason, and with internal, external or bad links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.items import LinkPlace, State
from crawlers.pages.response import ANCESTORS, ResponseReader, WebResponse, with_places
from crawlers.urls.link_resolver import LinkResolver
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import Redirect, redirect_of, resolve
from crawlers.urls.scope import Scope

SITE = "http://a.example"
HERE = f"{SITE}/dir/page.html"
HTML = "text/html; charset=utf-8"
TAGS = frozenset({"a", "area", "frame", "iframe", "meta"})
TYPES = frozenset({"text/html", "application/xhtml+xml"})


def read(body="", *, now=0.0, status=200, content_type=HTML, scope=None, anchors=False, location=None, **more):
    data = body.encode() if isinstance(body, str) else body
    reader = ResponseReader(LinkResolver(), TAGS, TYPES, scope=scope, anchors=anchors)
    redirect = redirect_of(HERE, status, None if location is None else location.encode(), Normalization())
    return reader.read(WebResponse(HERE, status, data, content_type, redirect, **more), 7, 3, now)


def test_texts_of_links_are_those_of_the_first_link_to_each_page():
    body = """<a href=/b> to  <b>B</b></a><a href="/b#part">again</a><a href=http://a.example/c><img alt="to C"></a>
    <a href=http://other.example/>out</a><a href=http://[::1>bad</a>"""
    page = read(body, anchors=True)
    keys = {target.key: target.url.removeprefix(SITE) for target, _ in page.links}
    texts = page.anchors.texts([*keys, 1])
    assert {keys[key]: text for key, text in texts.items()} == {"/b": "to B", "/c": "to C"}
    assert read(body).anchors is None


# State


def test_html_page_is_done():
    page = read("<title> A  page </title><link rel=canonical href=/c>")
    assert (page.id, page.url, page.level, page.state, page.status) == (7, HERE, 3, State.DONE, 200)
    assert (page.title, page.canonical, page.content_type, page.reason) == ("A page", "/c", HTML, "")
    assert page.size_bytes == len("<title> A  page </title><link rel=canonical href=/c>")
    assert len(page.content_hash) == 16


@pytest.mark.parametrize(
    ("head", "tag", "is_indexable"),
    [
        ("", None, True),
        ("<meta name=robots content=noindex>", None, False),
        ("", "nofollow, NoIndex", False),
        ("", "none", False),
        ("", "unavailable_after: tomorrow", True),
        ("<link rel=canonical href=/dir/page.html>", None, True),
        ("<base href=/other/><link rel=canonical href=/dir/page.html>", None, True),
        ("<link rel=canonical href='http://['>", None, True),
    ],
)
def test_page_may_be_indexed_unless_it_or_its_canonical_url_says_otherwise(head, tag, is_indexable):
    assert read(head, robots_tag=tag).is_indexable == is_indexable


@pytest.mark.parametrize(
    ("status", "retry_after", "rest_s"),
    [
        (429, "7", 7.0),
        (503, "Thu, 01 Jan 1970 00:02:00 GMT", 20.0),
        (503, "Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        (503, None, None),
        (429, "soon", None),
        (404, "7", None),
    ],
)
def test_only_429_and_503_have_a_retry_time(status, retry_after, rest_s):
    assert read(status=status, retry_after=retry_after, now=100.0).retry_after_s == rest_s


def test_truncated_body_is_a_page_with_a_reason():
    page = read("<title>t</title><a href=x>x</a><a hre", is_truncated=True)
    assert (page.state, page.reason) == (State.DONE, "body_cut")
    assert [target.url for target, _ in page.links] == [f"{SITE}/dir/x"]


# Redirects


def test_redirect_within_the_site_moves_the_page():
    page = read("<a href=y>", status=302, location=" ../up#x ")
    assert (page.state, page.reason, page.links) == (State.MOVED, "", ())
    assert (page.moved_to.url, page.moved_to.site) == (f"{SITE}/up", SITE)


def test_redirect_to_another_site_of_the_crawl_moves_the_page():
    scope = Scope("sites", [SITE, "http://b.example"])
    page = read(status=301, location="http://b.example/x", scope=scope)
    assert (page.state, page.moved_to.url, page.external) == (State.MOVED, "http://b.example/x", ())
    page = read(status=301, location="http://c.example/x", scope=scope)
    assert (page.state, page.moved_to, len(page.external)) == (State.REFUSED, None, 1)


# Links


@pytest.mark.parametrize(("anchors", "texts"), [(True, [None, "a b"]), (False, [None, None])])
def test_bad_links_have_the_text_of_the_first_one_if_it_is_needed(anchors, texts):
    body = '<a href="mailto:a@b.example">m</a> <a href="http://[">a <b>b</b></a> <a href=" http://[ ">c</a>'
    page = read(body, anchors=anchors)
    assert [(bad.raw, bad.count, bad.anchor) for bad in page.bad] == [
        ("mailto:a@b.example", 1, texts[0]),
        ("http://[", 2, texts[1]),
    ]


def test_pages_that_differ_only_in_numbers_of_their_links_have_the_same_content_signature():
    text = "<p>Meeting {0} of the {1}th of May, all are welcome to it.</p>"
    linked = [read(f"{text}<a href='/{{0}}?day={{1}}'>next</a>".format(n, n * 7)) for n in (3, 44)]
    assert linked[0].content_signature == linked[1].content_signature
    assert len({read(text.format(n, n * 7)).content_signature for n in (3, 44)}) == 2


@given(
    st.binary(max_size=2000),
    st.sampled_from([200, 301, 302, 404, 429, 503, 0]),
    st.none()
    | st.text(max_size=30)
    | st.sampled_from([HTML, "text/html; charset=utf-16", "text/html; charset=nonsense"]),
    st.none() | st.text(max_size=60),
    st.none() | st.text(max_size=30),
)
def test_reading_never_raises_and_gives_a_reason_for_no_page(body, status, content_type, location, retry_after):
    page = read(body, status=status, content_type=content_type, location=location, retry_after=retry_after)
    assert bool(page.reason) == (page.state is State.REFUSED)
    assert (page.moved_to is not None) == (page.state is State.MOVED)


LINK_TAGS = frozenset({"a", "area", "link", "frame", "iframe", "meta"})
HTML_TYPES = frozenset({"text/html"})


def read_links(body, *, status=200, redirect=None):
    response = WebResponse(f"{SITE}/dir/page.html", status, body.encode(), HTML, redirect)
    return ResponseReader(LinkResolver(), LINK_TAGS, HTML_TYPES, analysis=with_places).read(response, 7, 3, 0.0)


def places(body):
    """The place of every internal link of *body*, by its path."""
    page = read_links(body)
    return {target.url.removeprefix(SITE): page.facts[target.key] for target, _ in page.links}


def positions_by_path(body):
    """The position of every internal link of *body*, by its path."""
    return {path: place.position for path, place in places(body).items()}


# Positions


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("<ul class=menu><li class='item first'><a href=x>x</a></ul>", "ul/li.item"),
        ("<head><meta http-equiv=refresh content='0; url=x'>", "html/head"),
        ("<head><link rel=next href=x>", "html/head"),
        ("<form><select><option><a href=x>x</a></select></form><a href=y>y</a>", "html/body"),
    ],
)
def test_position_of_a_link_is_given_by_the_surrounding_tags(body, wanted):
    assert [*positions_by_path(body).values()][-1] == wanted


@given(st.text("<>/ ='\"acdilpuv\n\t", max_size=80).map(lambda text: f"{text}<a href=x>x</a>"))
def test_links_of_broken_pages_have_a_position(body):
    for one in positions_by_path(body).values():
        assert one.count("/") >= 1


# Positions by path


def test_url_variants_have_the_position_of_the_first_one():
    body = "<dt><a href=/x/>1</a></dt><ul><li><a href=/x>2</a><li><a href='//a.example/x/'>3</a></ul>"
    page = read_links(body)
    assert {page.facts[target.key].position for target, _ in page.links} == {"body/dt"}


def test_bad_and_external_links_are_ignored():
    body = "<h1><a href='http://['>1</a><a href=http://b.example/x>2</a></h1><p><a href=/x>3</a>"
    assert positions_by_path(body) == {"/x": "body/p"}


def test_link_that_is_internal_only_by_the_base_has_a_position():
    page = read_links("<base href='http://a.example:80/b/'><p><a href='http:x.html'>1</a><p><a href=''>2</a>")
    assert [page.facts[target.key].position for target, _ in page.links] == ["body/p"] * len(page.links)
    assert page.links


@pytest.mark.parametrize("outer", ["svg", "math"])
@pytest.mark.parametrize("inner", ["script", "style"])
def test_links_within_removed_elements_have_no_position(outer, inner):
    """In SVG and MathML scripts and styles are elements like others, and may hold links."""
    body = f"<p><a href=/a>1</a></p><{outer}><{inner}><g><a href=/x>2</a></g></{inner}></{outer}><p><a href=/b>3</a>"
    found = positions_by_path(body)
    assert found.pop("/a") == found.pop("/b") == "body/p"
    assert set(found.values()) <= {""}


def test_pages_with_too_deep_nesting_have_positions():
    found = positions_by_path("<div>" * 20_000 + "<a href=/x>1</a>")
    assert found == {"/x": "html/body"}


TAGS_OF_LISTS = ["<ul>", "<li>", "</ul>", "<a href=/x>", "<a href=/y/z>", "</a>", "<svg>", "<style>", "</style>", "t"]


# Places


def test_place_is_that_of_the_first_link_to_a_target_with_its_text():
    found = places("<ul class=menu><li><a href=/x> The <b>news</b>\n of today</a></ul><p><a href=/x>2</a>")
    assert found == {"/x": LinkPlace("ul/li", "ul.menu/li", "The news of today")}


@given(st.lists(st.sampled_from(TAGS_OF_LISTS)))
def test_every_internal_link_of_any_page_has_a_place(parts):
    page = read_links("".join(parts))
    for target, _ in page.links:
        assert page.facts[target.key].path.count("/") < ANCESTORS


MOVED = Redirect(resolve(f"{SITE}/", "/moved"))


@pytest.mark.parametrize(("status", "redirect"), [(301, MOVED), (301, Redirect(None, "no location")), (404, None)])
def test_response_that_is_not_a_page_has_no_positions_by_path(status, redirect):
    page = read_links("<a href=/x>1</a>", status=status, redirect=redirect)
    assert page.facts is None
    assert page.state is (State.MOVED if redirect is MOVED else State.REFUSED)
