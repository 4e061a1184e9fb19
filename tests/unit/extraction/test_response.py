"""A response becomes a page with a state and reason, and with internal, external or bad links."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.urls.link_resolver import LinkResolver
from crawlers.algorithms.urls.normalization import Normalization
from crawlers.algorithms.urls.redirect_targets import redirect_of
from crawlers.algorithms.urls.scope import Scope
from crawlers.extraction.html import MAX_LINKS
from crawlers.extraction.response import ResponseReader, WebResponse
from crawlers.items import State

SITE = "http://a.example"
HERE = f"{SITE}/dir/page.html"
HTML = "text/html; charset=utf-8"
TAGS = frozenset({"a", "area", "frame", "iframe", "meta"})
TYPES = frozenset({"text/html", "application/xhtml+xml"})


def read(body="", *, tags=TAGS, now=0.0, url=HERE, status=200, content_type=HTML, scope=None, location=None, **more):
    data = body.encode() if isinstance(body, str) else body
    reader = ResponseReader(LinkResolver(), tags, TYPES, scope=scope)
    redirect = redirect_of(url, status, None if location is None else location.encode(), Normalization())
    return reader.read(WebResponse(url, status, data, content_type, redirect, **more), 7, 3, now)


def urls(page):
    return {target.url.removeprefix(SITE): count for target, count in page.links}


def test_texts_of_links_are_those_of_the_first_link_to_each_page():
    body = """<a href=/b> to  <b>B</b></a><a href="/b#part">again</a><a href=http://a.example/c><img alt="to C"></a>
    <a href=http://other.example/>out</a><a href=http://[::1>bad</a>"""
    reader = ResponseReader(LinkResolver(), TAGS, TYPES, anchors=True)
    page = reader.read(WebResponse(HERE, 200, body.encode(), HTML), 7, 3, 0.0)
    keys = {target.url.removeprefix(SITE): target.key for target, _ in page.links}
    assert page.anchors[keys["/b"]] == "to B"
    assert page.anchors[keys["/c"]] == "to C"
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
        (f"<link rel=canonical href={HERE}?utm_source=x>", None, True),
        ("<base href=/other/><link rel=canonical href=/dir/page.html>", None, True),
        ("<link rel=canonical href=other.html>", None, False),
        ("<link rel=canonical href='http://['>", None, True),
    ],
)
def test_page_may_be_indexed_unless_it_or_its_canonical_url_says_otherwise(head, tag, is_indexable):
    assert read(head, robots_tag=tag).is_indexable == is_indexable


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html",
        "TEXT/HTML;CHARSET=X",
        " text/html ; x",
        "application/xhtml+xml",
        "text/html;",
        "text/html,text/html",
    ],
)
def test_content_types_of_pages_are_recognised_in_any_notation(content_type):
    wanted = State.REFUSED if "," in content_type else State.DONE
    assert read("<a href=x>", content_type=content_type).state is wanted


@pytest.mark.parametrize(
    ("content_type", "reason"),
    [
        (None, "no_content_type"),
        ("", "no_content_type"),
        ("text/plain", "content_type text/plain"),
        ("application/pdf", "content_type application/pdf"),
        ("text/htmlx", "content_type text/htmlx"),
        ("x" * 1000, "content_type " + "x" * 200),
    ],
)
def test_other_types_are_refused_with_the_type_as_reason(content_type, reason):
    page = read("<title>t</title><a href=x>", content_type=content_type)
    assert (page.state, page.reason) == (State.REFUSED, reason)
    assert (page.links, page.external, page.bad, page.title, page.content_hash) == ((), (), (), "", b"")


@pytest.mark.parametrize("status", [100, 201, 204, 206, 300, 304, 400, 404, 410, 500, 503, 999])
def test_other_statuses_are_refused_with_the_status_as_reason(status):
    page = read("<a href=x>", status=status)
    assert (page.state, page.status, page.reason, page.links) == (
        State.REFUSED,
        status,
        f"status {status}",
        (),
    )


@pytest.mark.parametrize(
    ("status", "retry_after", "rest_s"),
    [
        (429, "7", 7.0),
        (503, "Thu, 01 Jan 1970 00:02:00 GMT", 20.0),
        (503, "Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        (503, None, None),
        (429, "soon", None),
        (404, "7", None),
        (500, "7", None),
    ],
)
def test_only_429_and_503_have_a_retry_time(status, retry_after, rest_s):
    assert read(status=status, retry_after=retry_after, now=100.0).retry_after_s == rest_s


def test_truncated_body_is_a_page_with_a_reason():
    page = read("<title>t</title><a href=x>x</a><a hre", is_truncated=True)
    assert (page.state, page.reason, urls(page)) == (State.DONE, "body_cut", {"/dir/x": 1})


# Redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/x", f"{SITE}/x"),
        ("x?y#z", f"{SITE}/dir/x?y"),
        ("../up", f"{SITE}/up"),
        ("HTTP://A.example:80/x", f"{SITE}/x"),
        ("//a.example/x", f"{SITE}/x"),
        ("?q", f"{SITE}/dir/page.html?q"),
        (" /x ", f"{SITE}/x"),
    ],
)
def test_redirect_within_the_site_moves_the_page(status, location, url):
    page = read("<a href=y>", status=status, location=location)
    assert (page.state, page.reason, page.links) == (State.MOVED, "", ())
    assert (page.moved_to.url, page.moved_to.site) == (url, SITE)


@pytest.mark.parametrize("location", [None, ""])
def test_redirect_without_location_is_refused(location):
    page = read(status=302, location=location)
    assert (page.state, page.reason, page.moved_to) == (State.REFUSED, "redirect_without_location 302", None)


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("http://[::1", "not_a_url"),
        ("mailto:x@a.example", "other_scheme mailto"),
        ("javascript:alert(1)", "other_scheme javascript"),
    ],
)
def test_redirect_to_a_bad_url_is_refused_with_the_reason(location, why):
    page = read(status=301, location=location)
    assert (page.state, page.reason, page.moved_to) == (State.REFUSED, f"redirect_to_bad_url {why}", None)


@pytest.mark.parametrize(
    "location", ["http://b.example/x", "//b.example/x", "https://a.example/x", "http://a.example:81/x"]
)
def test_redirect_to_another_site_is_an_external_link(location):
    page = read(status=301, location=location)
    assert page.state is State.REFUSED
    assert page.reason.startswith("redirect_to_other_site http")
    ((link, count),) = page.external
    assert (link.tag, count, page.moved_to) == ("redirect", 1, None)
    assert page.reason.endswith(link.url)


def test_redirect_to_another_site_of_the_crawl_moves_the_page():
    scope = Scope("sites", [SITE, "http://b.example"])
    page = read(status=301, location="http://b.example/x", scope=scope)
    assert (page.state, page.moved_to.url, page.external) == (State.MOVED, "http://b.example/x", ())
    page = read(status=301, location="http://c.example/x", scope=scope)
    assert (page.state, page.moved_to, len(page.external)) == (State.REFUSED, None, 1)


# Links


def test_links_are_counted_by_target():
    page = read('<a href="x">1</a> <a href=x>2</a> <a href="/dir/x">3</a> <a href="x#part">4</a> <a href="y">5</a>')
    counts = {}
    for target, count in page.links:
        counts[target.key] = counts.get(target.key, 0) + count
    assert sorted(counts.values()) == [1, 4]


@pytest.mark.parametrize(
    ("base", "href", "url"),
    [
        ("/other/", "x", "/other/x"),
        ("/other/file", "x", "/other/x"),
        ("sub/", "../x", "/dir/x"),
        ("http://a.example/deep/er/", "?q", "/deep/er/?q"),
        ("http://[::1", "x", "/dir/x"),
        ("javascript:x", "x", "/dir/x"),
    ],
)
def test_links_are_relative_to_the_base_element(base, href, url):
    assert urls(read(f'<base href="{base}"><a href="{href}">x</a>')) == {url: 1}


def test_base_of_another_host_makes_relative_links_external():
    page = read('<base href="http://b.example/c/"><a href="x">out</a> <a href="http://a.example/y">in</a>')
    assert [link.url for link, _ in page.external] == ["http://b.example/c/x"]
    assert urls(page) == {"/y": 1}


def test_bad_links_keep_their_raw_text_and_the_reason():
    page = read('<a href="mailto:a@b.example">m</a><a href="http://[::1">b</a><a href=" JavaScript:void(0)">j</a>')
    assert {(bad.raw, bad.reason) for bad in page.bad} == {
        ("mailto:a@b.example", "other_scheme mailto"),
        ("http://[::1", "not_a_url"),
        ("JavaScript:void(0)", "other_scheme javascript"),
    }
    assert (page.links, page.external) == ([], [])


@pytest.mark.parametrize(("anchors", "texts"), [(True, [None, "a b"]), (False, [None, None])])
def test_bad_links_have_the_text_of_the_first_one_if_it_is_needed(anchors, texts):
    body = '<a href="mailto:a@b.example">m</a> <a href="http://[">a <b>b</b></a> <a href=" http://[ ">c</a>'
    reader = ResponseReader(LinkResolver(), TAGS, TYPES, anchors=anchors)
    page = reader.read(WebResponse(HERE, 200, body.encode(), HTML), 7, 3, 0.0)
    assert [(bad.raw, bad.count, bad.anchor) for bad in page.bad] == [
        ("mailto:a@b.example", 1, texts[0]),
        ("http://[", 2, texts[1]),
    ]


def test_long_bad_links_are_truncated():
    (bad,) = read(f'<a href="data:{"x" * 5000}">d</a>').bad
    assert (len(bad.raw), bad.reason) == (2000, "other_scheme data")


def test_external_links_have_their_context():
    page = read(
        "<main><p>Read more in <a rel='nofollow sponsored' href='http://b.example/x'>the <b>big</b> book</a>"
        " today.</p></main><footer><a href='http://b.example/x'>again</a></footer>"
    )
    first, second = (link for link, _ in page.external)
    assert (first.url, first.site, first.tag) == ("http://b.example/x", "http://b.example", "a")
    assert (first.anchor, first.position, second.anchor, second.position) == (
        "the big book",
        "main",
        "again",
        "footer",
    )
    assert first.rel == "nofollow sponsored"
    assert "Read more in" in first.context


@pytest.mark.parametrize(
    "href",
    [
        "http://sub.a.example/",
        "https://a.example/",
        "http://a.example:8080/",
        "//b.example",
        "http://b.example",
    ],
)
def test_subdomains_other_schemes_and_other_ports_are_external(href):
    page = read(f'<a href="{href}">x</a>')
    assert (page.links, len(page.external)) == ([], 1)


def test_links_to_another_site_of_the_crawl_are_not_external():
    page = read('<a href="http://b.example/x">x</a><a href="http://c.example/">c</a>', scope=Scope("b.example", [SITE]))
    assert [(target.url, count) for target, count in page.cross_site_links] == [("http://b.example/x", 1)]
    assert (page.links, [link.url for link, _ in page.external]) == ([], ["http://c.example/"])


@pytest.mark.parametrize(
    "href", ["http://a.example:80/", "HTTP://A.EXAMPLE/", "//a.example/", "/", "http://u:p@a.example/"]
)
def test_url_variants_of_the_site_are_internal(href):
    page = read(f'<a href="{href}">x</a>')
    assert (len(page.links), page.external) == (1, [])


def test_only_links_of_selected_tags_are_read():
    body = '<meta http-equiv=refresh content="0; url=/m"><a href=/a>a</a><map><area href=/r></map>'
    body += "<iframe src=/i></iframe>"
    assert urls(read(body)) == {"/m": 1, "/a": 1, "/r": 1, "/i": 1}
    assert urls(read(body, tags=frozenset({"a"}))) == {"/a": 1}


def test_page_with_too_many_links_says_how_many_were_not_read():
    page = read("<a href=x>" * (MAX_LINKS + 3))
    assert (page.state, page.reason) == (State.DONE, "links_cut 3")
    assert sum(count for _, count in page.links) == MAX_LINKS


def test_equal_bodies_have_equal_hashes_whatever_their_urls():
    assert read("<p>x").content_hash == read("<p>x", url=f"{SITE}/y").content_hash != read("<p>y").content_hash


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


@given(st.lists(st.text(max_size=40).filter(lambda text: '"' not in text), max_size=20))
def test_every_link_is_internal_external_or_bad(hrefs):
    page = read("".join(f'<a href="{href}">x</a>' for href in hrefs), tags=frozenset({"a"}))
    bad = sum(1 for _ in page.bad)
    found = sum(count for _, count in page.links) + len(page.external)
    assert found <= len(hrefs)
    assert bad <= len(hrefs)
    assert not hrefs or found + bad or not any(href.strip() for href in hrefs)
