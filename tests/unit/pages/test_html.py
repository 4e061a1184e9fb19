"""Links, title, base, canonical URL, robots and text of pages, valid or broken."""

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.pages.html import LINK_TAGS, MAX_LINKS, _refresh, parse_page

A = frozenset({"a"})
ALL = frozenset(LINK_TAGS)


def parse(html, tags=A):
    return parse_page(html.encode(), None, tags)


def links_of(page):
    return [page.link(index) for index in range(len(page.hrefs))]


def test_only_links_of_the_selected_tags_count():
    html = '<meta http-equiv=Refresh content="5; url=m"><area href=ar><a href=a></a><iframe src=i></iframe>'
    page = parse(html, ALL)
    assert [link.tag for link in links_of(page)] == ["meta", "area", "a", "iframe"]
    assert page.hrefs == ["m", "ar", "a", "i"]
    assert parse(html).hrefs == ["a"]
    assert parse(html, frozenset({"iframe", "area"})).hrefs == ["ar", "i"]
    assert parse("<frameset><frame src=f><frame src=g></frameset>", ALL).hrefs == ["f", "g"]


# Content of a refresh, and the URL of the cases of the web platform tests (attr-meta-http-equiv-refresh).
REFRESHES = {
    None: [
        *("", "1", "1 ", "1\t", "1\r", "1\n", "1\f", "1;", "1,", "1url=foo", "1x;url=foo", "; foo", ", foo", "foo"),
        *("+1; url=foo", "-1; url=foo", "+0; url=foo", "-0; url=foo", "+1; foo", "-1; foo", "+0; foo", "-0; foo"),
        *("+1", "-1", "+0", "-0", "0", "1e0; url=foo", "1e1; url=foo", "10e-1; url=foo", "-0.1; url=foo"),
        *("\xa01; url=foo", "١; url=foo", "url=foo", ";url=foo", "1; url=", "1; url=''"),
    ],
    "foo": [
        *(f"1{mark}{blank}url=foo" for mark in (";", ",", "") for blank in " \t\r\n\f"),
        *("  1  ;  url  =  foo", "  1  ,  url  =  foo", "  1  ;  foo", "  1  ,  foo", "  1  url  =  foo"),
        *("1; url=foo ", "1; url=f\to\no", '1; url="foo"bar', "1; url='foo'bar", '1; "foo"bar', "0; url=foo", "0; foo"),
        *("1.9; url=foo", "1.9..5.; url=foo", ".9; url=foo", "0.9; url=foo", "1;URL=foo", "1;uRl='foo"),
    ],
    "x;url=foo": ["1 x;url=foo"],
    ";url=foo": ["1;;url=foo"],
    "foo'bar": ["1; url=\"foo'bar"],
    "url foo": ["1; url foo"],
    "urlfoo": ["1; urlfoo"],
    "urfoo": ["1; urfoo"],
    "ufoo": ["1; ufoo"],
}


@pytest.mark.parametrize(
    ("content", "url"), [(content, url) for url, contents in REFRESHES.items() for content in contents]
)
def test_refresh_follows_the_steps_of_the_standard(content, url):
    found = _refresh(content)
    assert (found and found.translate({9: None, 10: None, 13: None})) == url, (
        "tabs and lines vanish as links are joined"
    )


def test_href_is_stripped_as_in_the_url_standard():
    assert parse('<a href=" \t\x01/x y\n ">t</a><a href="\u00a0/z">t</a>').hrefs == ["/x y", "\u00a0/z"]


def test_xlink_of_svg_is_not_a_link_but_its_href_is():
    assert parse("<svg><a xlink:href=/x>1</a><a xlink:href=/y href=/z>2</a></svg>").hrefs == ["/z"]


def test_page_is_parsed_without_scripting():
    html = (
        "<noscript><a href=noscript>1</a></noscript><template><a href=template>2</a></template>"
        "<!-- <a href=comment>3</a> --><noframes><a href=noframes>4</a></noframes>"
        "<script>'<a href=script>5</a>'</script><textarea><a href=textarea>6</a></textarea>"
    )
    assert parse(html, ALL).hrefs == ["noscript"]


def test_title_is_collapsed_and_truncated():
    assert parse("<title> a\n  b&amp;c </title><title>other</title>").title == "a b&c"
    assert len(parse(f"<title>{'x ' * 5000}</title>").title) == 499  # the 500th is a space
    assert parse("<svg><title>no</title></svg>").title == ""


def test_canonical_and_robots_are_read_in_any_notation():
    page = parse(
        '<LINK REL="Canonical shortlink" HREF=" /c "><link rel=canonical href=/d>'
        '<meta name=Robots content="NoFollow, all">'
    )
    assert (page.canonical, page.robots) == ("/c", {"nofollow"})
    assert parse("<meta name=robots content=none>").robots == {"noindex", "nofollow"}
    assert (parse("<p>").canonical, parse("<p>").robots) == ("", frozenset())


@pytest.mark.parametrize(
    "before",
    [
        "<a href=x>first</a>",
        "<svg><title>no</title><link rel=canonical href=no /><base href=no /><g></g></svg>",
        "<svg><foreignObject>",
        "<link rel=stylesheet href=no><meta name=x content=noindex>" * 50,
    ],
)
def test_metadata_is_the_first_in_tree_order_wherever_it_stands(before):
    first = "<title>one</title><link rel=canonical href=/c><base href=/b/><meta name=robots content=nofollow>"
    page = parse(f"<body>{before}{first}<title>two</title><link rel=canonical href=/d><base href=/e/>")
    assert (page.title, page.canonical, page.base, page.robots) == ("one", "/c", "/b/", {"nofollow"})


def attributes(count, form=" a%d=1"):
    return "".join(form % number for number in range(count)).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * 100_000 + b"<a href=x>t</a>",
        b"<div>" * 100_000 + b"<a href=x>t</a>" + b"</div>" * 100_000,
        b"".join(b"<p><font color=%d>" % i for i in range(5_000)) + b"<a href=x>t</a>",
        b"<table><tr><td>" * 20_000 + b"<a href=x>t</a>",
        b"<div title='>'>" * 20_000 + b"<!--<a href=no>--><script>'<a href=no>'</script><a href=x>t</a>",
        b"<p" + attributes(100_000) + b"><a href=x>t</a>",
        b"<p" + attributes(100_000, "/a%d") + b"><a href=x>t</a>",
        b"<p" + attributes(100_000, "a%d=''") + b"><a href=x>t</a>",
        b"<!--c-->text <a href=x>t</a>" + (b"<p" + attributes(5_000) + b">") * 20,
        attributes(100_000, "<body a%d>") + b"<a href=x>t</a>",
        b"<a href=x" + attributes(100_000) + b">t</a>",
    ],
    ids=["open", "closed", "styles", "tables", "hidden", "tag", "slashes", "quotes", "tags", "bodies", "link"],
)
def test_links_of_a_page_with_extreme_nesting_or_excessive_attributes_are_found(body):
    start = time.process_time()
    assert parse_page(body, None, A).hrefs == ["x"]
    assert time.process_time() - start < 3  # it is 0.1 s; the parser alone would take 20 s, minutes or gigabytes


@pytest.mark.parametrize("piece", [b'<div x="', b"<div x='>", b"<div ", b"<a ", b"</", b"<!--", b"&#", b"<a x=1 "])
def test_unterminated_tags_take_linear_time(piece):
    start = time.process_time()
    parse_page(piece * 50_001, None, ALL)
    assert time.process_time() - start < 3  # it is 0.1 s


def test_usual_number_of_attributes_is_kept_and_scripts_keep_all():
    words = " ".join(f"w{number}" for number in range(3_000))
    page = parse(f"<script type='application/ld+json'>1<b {words}</script><p{attributes(99).decode()} title='{words}'>")
    assert page.json_ld == [f"1<b {words}"]
    paragraph = page.tree.css_first("p")
    assert (len(paragraph.attributes), paragraph.attributes["title"]) == (100, words)
    crowded = parse(f"<script type='application/ld+json'>1<b {words}</script><p{attributes(3_000).decode()}>t")
    assert crowded.json_ld == [f"1<b {words}"]
    assert crowded.text.split() == ["t"]


PIECES = """
<a href=x>|<a href>|</a>|<p>|</p>|<table>|<tr>|<td>|</table>|<b>|</b>|<svg>|</svg>|<template>|</template>
<!--|-->|<script>|</script>|<frameset>|<frame src=f>|<iframe src=i>|</iframe>|<title>|</title>|<base href=b>
<meta http-equiv=refresh content=0;r>|<nav>|text|<select>|<option>|<head>|<body>|<html>|<br>|<img alt=i>|&amp;
<|>|\0|\ufeff
"""
MARKUP = st.lists(st.sampled_from(PIECES.strip().replace("\n", "|").split("|")), max_size=40)


@given(MARKUP.map("".join).map(str.encode) | st.binary(max_size=300), st.sets(st.sampled_from(sorted(LINK_TAGS))))
def test_pages_never_raise(body, tags):
    page = parse_page(body, None, frozenset(tags))
    for link in links_of(page):
        assert link.tag in tags
        assert len(link.anchor) <= 200
        assert len(link.context) <= 402
        assert link.position in {"", "nav", "header", "footer", "main", "aside"}
        assert isinstance(link.rel, str)
    assert len(page.anchors(page.hrefs)) == len(page.hrefs)
    assert len(page.title) <= 500
    assert isinstance(page.text, str)


@given(MARKUP.map("".join))
def test_links_of_all_tags_are_the_union_over_tags(html):
    each = [href for tag in LINK_TAGS for href in parse(html, frozenset({tag})).hrefs]
    assert Counter(parse(html, ALL).hrefs) == Counter(each)


def test_of_a_page_with_too_many_elements_only_links_and_texts_are_parsed():
    few, many = (b"<title>t</title>" + b"<p>word <b>x</b>" * count for count in (100, 100_000))
    assert len(parse_page(few, None, A).tree.css("p")) == 100
    page = parse_page(many + b"<a href=x title='<b>'>end</a><!-- <p> -->", None, A)
    assert (page.title, page.hrefs, page.link(0).anchor, page.tree.css("p,b")) == ("t", ["x"], "end", [])
    assert page.text.split()[:3] == ["word", "x", "word"]


def test_number_of_links_is_bounded():
    page = parse_page(b"<a href=x>" * (MAX_LINKS + 1), None, A)
    assert (len(page.hrefs), page.unread_links) == (MAX_LINKS, 1)
    assert parse_page(b"<a href=x>" * MAX_LINKS, None, A).unread_links == 0
    assert parse_page(b"<a>" * (MAX_LINKS + 1), None, A).unread_links == 1
    page = parse_page(b"<A\nhref=x><area href=y>" * MAX_LINKS, None, ALL)
    assert (len(page.hrefs), page.unread_links) == (MAX_LINKS, MAX_LINKS)
