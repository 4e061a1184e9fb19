"""A response becomes a page with a state and reason, and with internal, external or bad links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.items import State
from crawlers.pages.response import ResponseReader, WebResponse
from crawlers.urls.link_resolver import LinkResolver
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import redirect_of
from crawlers.urls.scope import Scope

SITE = "http://a.example"
HERE = f"{SITE}/dir/page.html"
HTML = "text/html; charset=utf-8"
TAGS = frozenset({"a", "area", "frame", "iframe", "meta"})
TYPES = frozenset({"text/html", "application/xhtml+xml"})


def read(
    body="", *, url=HERE, now=0.0, status=200, content_type=HTML, scope=None, anchors=False, location=None, **more
):
    data = body.encode() if isinstance(body, str) else body
    reader = ResponseReader(LinkResolver(), TAGS, TYPES, scope=scope, read_pages=set() if anchors else None)
    redirect = redirect_of(url, status, None if location is None else location.encode(), Normalization())
    return reader.read(WebResponse(url, status, data, content_type, redirect, **more), 7, 3, now)


def test_texts_of_links_are_those_of_the_first_link_to_each_page():
    body = """<a href=/b> to  <b>B</b></a><a href="/b#part">again</a><a href=http://a.example/c><img alt="to C"></a>
    <a href=http://other.example/>out</a><a href=http://[::1>bad</a>"""
    page = read(body, anchors=True)
    keys = {target.key: target.url.removeprefix(SITE) for target, _ in page.links}
    assert {keys[key]: text for key, text in page.anchors.items()} == {"/b": "to B", "/c": "to C"}
    assert read(body).anchors == {}


def test_texts_of_links_to_pages_that_were_read_are_not_needed():
    reader = ResponseReader(LinkResolver(), TAGS, TYPES, read_pages=set())
    body = b"<a href=/>home</a><a href=/a>a</a><a href=/b>b</a>"
    texts = [
        [*reader.read(WebResponse(f"{SITE}{path}", 200, body, HTML), 7, 3, 0.0).anchors.values()]
        for path in ("/", "/a")
    ]
    assert texts == [["a", "b"], ["b"]]


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
    links = f"{text}<a href='/{{0}}?day={{1}}'>next</a>"
    linked = [read(links.format(n, n * 7), url=f"{SITE}/?from=home").content_signature for n in (3, 44)]
    assert linked[0] == linked[1]
    alone = [read(text.format(n, n * 7), url=f"{SITE}/?from=home").content_signature for n in (3, 44)]
    assert alone[0] != alone[1]
    assert read(links).content_signature == 0  # nothing can be like it


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
