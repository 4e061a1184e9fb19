"""Sitemaps, news sitemaps and sitemap indexes, intact and broken."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.sites import feed_items
from crawlers.sites.feed_reader import read_feed
from tests.unit.sites.test_feed_reader import ATOM, RDF, RSS

NOON = 1795262400.0
NAMESPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)
URLSET = f"""<?xml version="1.0" encoding="UTF-8"?><?xml-stylesheet href="x.xsl"?><!-- made by hand -->
<urlset {NAMESPACES}>
<url><loc> https://example.com/old </loc><lastmod>2026-11-20</lastmod><changefreq>daily</changefreq>
<xhtml:link rel="alternate" hreflang="de" href="https://example.com/de/old"/></url>
<url><image:image><image:loc>https://example.com/picture.jpg</image:loc><image:title>Picture</image:title></image:image>
<loc><![CDATA[https://example.com/new?a=1&b=2]]></loc><lastmod>2026-11-21T12:00:00Z</lastmod></url>
<url><loc>https://example.com/undated</loc></url>
<url><lastmod>2026-11-21</lastmod></url>
</urlset>"""
NEWS = f"""<urlset {NAMESPACES}><url><loc>https://example.com/a</loc><lastmod>2026-11-21T20:00:00Z</lastmod><news:news>
<news:publication><news:name>The Paper</news:name><news:language>en</news:language></news:publication>
<news:publication_date>2026-11-21T12:00:00Z</news:publication_date><news:title>Q &amp; A</news:title>
</news:news></url></urlset>"""
INDEX = f"""<sitemapindex {NAMESPACES}>
<sitemap><loc>https://example.com/1.xml.gz</loc><lastmod>2026-11-20</lastmod></sitemap>
<sitemap><loc>/2.xml</loc></sitemap>
<sitemap><loc>https://example.com/3.xml</loc><lastmod>2026-11-21</lastmod></sitemap>
<sitemap><loc>https://example.com/sitemap.xml</loc></sitemap></sitemapindex>"""


def read(body, content_type=None):
    body = body if isinstance(body, bytes) else body.encode()
    return read_feed(body, "https://example.com/sitemap.xml", content_type, 1795305600.0)


def urls(body):
    """The addresses of the items, without the site of the sitemap."""
    return [item.url.removeprefix("https://example.com") for item in read(body).items]


def urlset(*locations):
    return f"<urlset>{''.join(f'<url><loc>{one}</loc></url>' for one in locations)}</urlset>"


def test_a_sitemap_gives_its_addresses_the_last_changed_first():
    content = read(URLSET)
    assert (content.kind, content.problem, content.further) == ("sitemap", "", [])
    assert [(item.url, item.published_at) for item in content.items] == [
        ("https://example.com/new?a=1&b=2", NOON),
        ("https://example.com/old", NOON - 36 * 3600),
        ("https://example.com/undated", None),
    ]


def test_url_that_is_news_in_one_entry_is_news():
    again = "<url><loc>https://example.com/a</loc></url></urlset>"
    assert [item.is_article for item in read(NEWS.replace("</urlset>", again)).items] == [True]


def test_text_of_addresses_is_a_sitemap():
    content = read(
        "\ufeffhttps://example.com/a\r\n\r\n https://example.com/b\nno address\nhttps://example.com/a\n", "text/plain"
    )
    assert content.kind == "sitemap"
    assert not any(item.is_article for item in content.items)
    assert [item.url for item in content.items] == ["https://example.com/a", "https://example.com/b"]


BROKEN = {
    "bare ampersand": (urlset("/?a=1&b=2&copy=3"), ["/?a=1&b=2&copy=3"]),
    "in and out of CDATA": (urlset("/?a&amp;b", "<![CDATA[/?c&d]]>", "/?e&f"), ["/?a&b", "/?c&d", "/?e&f"]),
    "cut within an address": (urlset("https://example.com/a", "https://example.com/bcd")[:65], ["/a"]),
    "cut after an address": (urlset("/a", "/b").replace("</url></urlset>", "<lastm"), ["/a", "/b"]),
    "unbound namespace": (NEWS.partition(">")[2].join(["<urlset>", ""]), ["/a"]),
    "entry not ended": ("<urlset><url><loc>/a</loc><url><loc>/b</loc></url></urlset>", ["/a", "/b"]),
    "wrong end tag": ("<urlset><url><loc>/a</lok></url><url><loc>/b</loc></url></urlset>", ["/a", "/b"]),
    "control characters": (urlset("/a\x00\x0b&#1;", "/b\ufffe"), ["/a", "/b"]),
    "notice of a script": ("<br/><b>Warning</b>: x" + urlset("/a"), ["/a"]),
    "junk after the end": (urlset("/a") + "<script>1</script>", ["/a"]),
    "upper case": ("<URLSET><URL><LOC>/a</LOC></URL></URLSET>", ["/a"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_sitemap_gives_its_readable_items(name):
    body, found = BROKEN[name]
    assert urls(body) == found


def test_gzip_is_inflated_even_if_truncated_damaged_or_doubled():
    body = urlset(*(f"/{i * i * 7919 % 100_003}" for i in range(2000))).encode()
    packed = gzip.compress(body)
    whole = read(body)
    assert read(packed) == read(gzip.compress(packed)) == whole
    assert read(gzip.compress(body[:9000]) + gzip.compress(body[9000:])) == whole
    cut = read(packed[: len(packed) // 2])
    assert cut.problem == "gzip_cut"
    damaged = read(packed[:-8] + b"\0" * 8)
    assert damaged.problem == "gzip_damaged"
    assert 500 < len(cut.items) < len(damaged.items) <= len(whole.items)


def test_gzip_bomb_is_limited(monkeypatch):
    bomb = gzip.compress(b"\0" * 5_000_000)
    text, problem = feed_items.inflated(bomb, 100_000)
    assert len(text) == 100_000
    assert problem == "gzip_large 100000"
    assert feed_items.inflated(gzip.compress(bomb), 100_000) == (text, problem)


def test_gzip_nested_three_times_is_not_inflated():
    body = gzip.compress(gzip.compress(gzip.compress(urlset("/a").encode())))
    assert read(body).items == []


@pytest.mark.parametrize(
    ("entries", "further"),
    [
        ("<sitemap>/1.xml</sitemap>", ["/1.xml"]),
        ("<sitemap>\n /1.xml <lastmod>2026-11-20</lastmod>\n</sitemap>", ["/1.xml"]),
        ("<sitemap><lastmod>2026-11-20</lastmod><![CDATA[/1.xml]]></sitemap>", ["/1.xml"]),
        ("<sitemap>/1.xml<sitemap>/2.xml</sitemap>", ["/1.xml", "/2.xml"]),
        ("<sitemap>text<loc>/1.xml</loc></sitemap>", ["/1.xml"]),
        ("<sitemap><loc>/1.xml</loc><loc>/2.xml</loc></sitemap>", ["/1.xml", "/2.xml"]),
        ("<sitemap><loc>/1.xml<loc>/2.xml</loc></sitemap>", ["/1.xml", "/2.xml"]),
        ("<sitemap><loc></loc><loc>/2.xml</loc></sitemap>", ["/2.xml"]),
        ("<sitemap> </sitemap><sitemap/>", []),
    ],
)
def test_addresses_of_an_index_stand_where_programs_write_them(entries, further):
    content = read(f"<sitemapindex>{entries}</sitemapindex>")
    assert content.further == [f"https://example.com{path}" for path in further]


def test_each_address_of_an_entry_has_the_date_behind_it():
    entry = "<loc>/1.xml</loc><lastmod>2026-11-20</lastmod><loc>/2.xml</loc><lastmod>2026-11-21</lastmod>"
    further = ["https://example.com/2.xml", "https://example.com/1.xml"]
    assert read(f"<sitemapindex><sitemap>{entry}</sitemap></sitemapindex>").further == further
    items = read(f"<urlset><url>{entry}</url></urlset>").items
    assert [item.url for item in items] == further
    assert items[0].published_at == (items[1].published_at or 0) + 86_400


@pytest.mark.parametrize(
    ("loc", "path"),
    [
        ("/&test;", None),
        ("/?a=1&copy;=2", None),
        ("/?a=1&copy=2", "/?a=1&copy=2"),
        ("/?a=1&b=2;c", "/?a=1&b=2;c"),
        ("/?a=1&amp;copy;=2", "/?a=1&copy;=2"),
        ("<![CDATA[/?a=1&copy;=2]]>", "/?a=1&copy;=2"),
        ("/&#97;", "/a"),
    ],
)
def test_address_with_an_undeclared_entity_is_unknown(loc, path):
    declared = '<!DOCTYPE urlset [<!ENTITY test SYSTEM "file:///etc/passwd"><!ENTITY nbsp "x">]>'
    body = f"<urlset><url><loc>{loc}</loc></url><url><loc>/b</loc></url></urlset>"
    assert urls(declared + body) == [one for one in (path, "/b") if one is not None]


def test_undeclared_entities_of_titles_are_those_of_html():
    assert read(NEWS.replace("Q &amp; A", "Caf&eacute; &nosuch;")).items[0].title == "Café &nosuch;"


@pytest.mark.parametrize(
    "junk", ["<a>", "<loc>", "<url>", "<!--", "<![CDATA[", "&a;", "<news:news>", "<url><loc>/b</loc>"]
)
def test_endless_junk_takes_linear_time(junk):
    assert "/a" in urls(urlset("/a")[:-9] + junk * 10_000)


DAMAGE = [b"<", b">", b"]]>", b"<![CDATA[", b"<item>", b"</item>", b"<url>", b"</url>", b"&", b"<!--"]


@given(st.sampled_from([URLSET, NEWS, INDEX, RSS, ATOM, RDF]), st.data())
@settings(max_examples=80)
def test_damage_never_raises_or_invents_addresses(feed, data):
    body = bytearray(feed.encode())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at : at + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=5) | st.sampled_from(DAMAGE))
    content = read(bytes(body))
    found = [*content.further, *(item.url for item in content.items)]
    assert all(url.startswith(("https://", "http://")) for url in found)
