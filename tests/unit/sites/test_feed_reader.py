"""Feeds of every format, intact and broken: their items, and never an exception."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.sites import feed_reader
from crawlers.sites.feed_items import FeedContent
from crawlers.sites.feed_reader import looks_like_feed, read_feed

NOW = 1795305600.0  # Sun, 22 Nov 2026 00:00:00 UTC
URL = "https://example.com/news/feed"
NOON = 1795262400.0  # Sat, 21 Nov 2026 12:00:00 UTC

RSS = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0">
<channel><title>The &amp; News</title><link>https://example.com/</link><language>en_US</language>
<atom:link href="https://example.com/news/feed" rel="self"/>
<atom:link href="https://example.com/news/feed?paged=2" rel="next"/>
<image><url>https://example.com/logo.png</url><title>Logo</title><link>https://example.com/logo</link></image>
<item><title>Older</title><link>https://example.com/a?utm_source=rss&amp;b=2#top</link>
<pubDate>Sat, 21 Nov 2026 11:00:00 +0000</pubDate><guid isPermaLink="false">1</guid>
<enclosure url="https://example.com/a.mp3" type="audio/mpeg"/></item>
<item><title><![CDATA[<b>Newer</b> & better]]></title><link>http://proxy.example.net/b</link>
<pubDate>Sat, 21 Nov 2026 14:00:00 +0200</pubDate>
<feedburner:origLink>https://example.com/b</feedburner:origLink></item>
<item><title>Undated</title><link>/c</link></item>
</channel></rss>"""

ATOM = """<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de" xml:base="https://example.com/blog/">
<title type="html">Blog &amp;amp; more</title><link rel="self" href="feed.atom"/>
<link rel="prev-archive" href="2025.atom"/>
<entry><id>tag:example.com,2026:1</id><title>One</title><link rel="edit" href="edit/1"/>
<link rel="enclosure" href="1.mp3"/><link rel="alternate" href="one" type="text/html"/>
<published>2026-11-21T12:00:00Z</published><updated>2026-11-21T20:00:00Z</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><title>No</title><link href="no"/>text</div></content>
<source><id>tag:elsewhere</id><title>Elsewhere</title><link href="https://elsewhere.example/"/></source></entry>
<entry xml:base="deep/"><id>tag:2</id><title>Two</title><link href="two"/>
<updated>2026-11-20T12:00:00+01:00</updated></entry>
</feed>"""

RDF = """<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="https://example.com/"><title>RDF</title><link>https://example.com/</link><dc:language>fr</dc:language>
</channel><item rdf:about="https://example.com/a"><title>A</title><link>https://example.com/a</link>
<dc:date>2026-11-21T12:00:00Z</dc:date></item></rdf:RDF>"""

RSS_090 = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/">
<channel><title>Old</title></channel><item><title>A</title><link>https://example.com/a</link></item></rdf:RDF>"""

RSS_091 = """<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN"
 "http://my.netscape.com/publish/formats/rss-0.91.dtd"><rss version="0.91"><channel><title>Caf&eacute;</title>
<item><title>A&nbsp;b</title><link>https://example.com/a</link></item></channel></rss>"""


def read(body, content_type=None):
    return read_feed(body if isinstance(body, bytes) else body.encode(), URL, content_type, NOW)


def urls(body):
    """The addresses of the items, without the site of the feed."""
    return [item.url.removeprefix("https://example.com") for item in read(body).items]


def rss(*items):
    return f'<rss version="2.0"><channel>{"".join(f"<item>{item}</item>" for item in items)}</channel></rss>'


A_URL = "https://example.com/a"
OF_RSS = [  # newest first, undated ones last
    ("https://example.com/b", NOON, "Newer & better"),
    (f"{A_URL}?utm_source=rss&b=2", NOON - 3600, "Older"),
    ("https://example.com/c", None, "Undated"),
]
OF_ATOM = [  # alternate links, resolved by the bases that it declares
    ("https://example.com/blog/one", NOON, "One"),
    ("https://example.com/blog/deep/two", NOON - 25 * 3600, "Two"),
]


@pytest.mark.parametrize(
    ("body", "feed", "further", "items"),
    [
        (RSS, ("rss", "The & News", "en-US"), ["https://example.com/news/feed?paged=2"], OF_RSS),
        (ATOM, ("atom", "Blog & more", "de"), ["https://example.com/blog/2025.atom"], OF_ATOM),
        (RDF, ("rss", "RDF", "fr"), [], [(A_URL, NOON, "A")]),
        (RSS_090, ("rss", "Old", ""), [], [(A_URL, None, "A")]),
        (RSS_091, ("rss", "Café", ""), [], [(A_URL, None, "A b")]),
    ],
    ids=["RSS", "Atom", "RDF", "RSS 0.90", "RSS 0.91"],
)
def test_every_format_is_read(body, feed, further, items):
    content = read(body)
    assert (content.kind, content.title, content.language) == feed
    assert (content.further, content.problem) == (further, "")
    assert [(item.url, item.published_at, item.title) for item in content.items] == items


@pytest.mark.parametrize("doctype", ["<!DOCTYPE html>", '<!doctype HTML PUBLIC "-//W3C//DTD XHTML 1.0//EN" "x.dtd">'])
@pytest.mark.parametrize("between", ["", "\n\n", "<!-- a page --> <!-- -->\n", '<?xml version="1.0"?>'])
def test_feed_behind_the_doctype_of_html_is_read(doctype, between):
    for feed in (rss("<link>/x</link>"), ATOM, f"<urlset><url><loc>{URL}</loc></url></urlset>"):
        feed = feed[feed.index("<", feed.startswith("<?") and feed.index("?>")) :]
        assert read(doctype + between + feed).items == read(feed).items != ()
        assert looks_like_feed((doctype + between + feed).encode(), "text/html")


def test_many_comments_behind_the_doctype_take_no_time():
    assert read("<!DOCTYPE html>" + "<!-- -->" * 100_000 + "<p>").problem == "html_page"


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ("<guid>https://example.com/g</guid>", ["/g"]),
        ("<guid>4711</guid>", []),
        ('<guid isPermaLink="false">https://example.com/g</guid>', []),
        ("<link/><guid>https://example.com/g</guid>", ["/g"]),
        ("<link>mailto:editor@example.com</link>", []),
        ("<link>http://[::1</link>", []),
        ("<link> \n https://example.com/x \n </link>", ["/x"]),
        ('<enclosure url="https://example.com/a.mp3"/>', []),
    ],
)
def test_preferred_link_of_an_item(item, found):
    assert urls(rss(item)) == found


FEEDBURNER = "http://rssnamespace.org/feedburner/ext/1.0"
OWN, PROXY = "https://example.com/own", "http://proxy.example.net/x"


@pytest.mark.parametrize("is_atom", [False, True])
@pytest.mark.parametrize(
    ("declared", "element", "found"),
    [
        (f'xmlns:feedburner="{FEEDBURNER}"', f"<feedburner:origLink>{OWN}</feedburner:origLink>", OWN),
        (f'xmlns:fb="{FEEDBURNER}"', f"<fb:origLink><![CDATA[\n{OWN} ]]></fb:origLink>", OWN),
        (f'xmlns:feedburner="{FEEDBURNER}/"', f"<feedburner:OrigLink>{OWN}</feedburner:OrigLink>", OWN),
        ("", f'<origLink xmlns="{FEEDBURNER}">{OWN}</origLink>', OWN),
        ("", f"<feedburner:origLink>{OWN}</feedburner:origLink>", OWN),
        (f'xmlns:feedburner="{FEEDBURNER}"', "<feedburner:origLink></feedburner:origLink>", PROXY),
        (f'xmlns:feedburner="{FEEDBURNER}"', "<feedburner:origLink>urn:uuid:1</feedburner:origLink>", PROXY),
    ],
)
def test_own_url_of_an_article_stands_in_for_the_link_of_a_proxy(declared, element, found, is_atom):
    item = f'<link href="{PROXY}"/>' if is_atom else f"<link>{PROXY}</link>"
    atom = f'<feed xmlns="http://www.w3.org/2005/Atom" {declared}><entry>{item}{element}</entry></feed>'
    feed = f'<rss version="2.0" {declared}><channel><item>{item}{element}</item></channel></rss>'
    assert [item.url for item in read(atom if is_atom else feed).items] == [found]


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ('<link uri="/wrong">/a</link>', "/a"),
        ('<link href="/wrong"><![CDATA[ /a ]]></link>', "/a"),
        ("<link uri='/a' > </link>", "/a"),
    ],
)
def test_link_of_rss_is_its_text_whatever_its_attributes_are(link, found):
    assert urls(rss(f"<title>t</title>{link}")) == [found]


def test_credentials_in_addresses_are_left_out():
    sitemap = "<sitemapindex><sitemap><loc>http://me:secret@example.com/b</loc></sitemap></sitemapindex>"
    assert urls(rss("<link>http://me:secret@example.com/a</link>")) == ["http://example.com/a"]
    assert read(sitemap).further == ["http://example.com/b"]


BROKEN = {
    "cut within an address": (RSS[: RSS.index("/b</link>")], ["/a?utm_source=rss&b=2"]),
    "cut within an end tag": (RSS[: RSS.index("k>/c") + 6], ["/b", "/a?utm_source=rss&b=2"]),
    "bare ampersand": (rss("<title>Q & A</title><link>/x?a=1&b=2&copy=3</link>"), ["/x?a=1&b=2&copy=3"]),
    "unknown entity": (rss("<title>&hearts;&unknown;</title><link>/x</link>"), ["/x"]),
    "unbound namespace": (rss("<link>/x</link><dc:date>2026-11-21</dc:date><x:y/>"), ["/x"]),
    "tags not closed": (rss("<description>a<br>b<p>c</description><link>/x</link>"), ["/x"]),
    "control characters": (rss("<title>\x00a\x0bb\x1f\ufffe&#1;</title><link>/x</link>"), ["/x"]),
    "invalid references": (rss("<title>&#xD800;&#99999999999;&#x110000;&#0;</title><link>/x&#47;</link>"), ["/x/"]),
    "image not closed": ("<rss><channel><image><url>/i</url><item><link>/x</link></item></channel></rss>", ["/x"]),
    "leading blanks": (" \n\t" + RSS, None),
    "byte order mark": ("\ufeff" + RSS, None),
    "notices of a script": ("<br />\n<b>Notice</b>: Undefined index in line 3<br />\n" + RSS, None),
    "junk after the end": (RSS + "<script>alert(1)</script><!-- 0.3 s -->", None),
    "comment first": ("<!-- generated -->" + RSS.partition("?>")[2], None),
    "channel without a root": ("<channel><item><link>/x</link></item></channel>", ["/x"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_feed_gives_its_readable_items(name):
    body, found = BROKEN[name]
    assert urls(body) == (found or urls(RSS))


@pytest.mark.parametrize(
    ("charset", "declared", "content_type"),
    [
        ("cp1251", "windows-1251", None),
        ("cp1251", "utf-8", "application/rss+xml; charset=windows-1251"),
        ("utf-8", "iso-8859-1", "text/xml; charset=iso-8859-1"),
        ("utf-8", "no-such-charset", "text/xml"),
        ("utf-16", "utf-16", None),
        ("koi8-r", "utf-8", "application/xml"),
    ],
)
def test_charset_is_detected_whatever_is_declared(charset, declared, content_type):
    title = "Сегодня в городе открыли новую станцию метро, первую за десять лет"
    body = f'<?xml version="1.0" encoding="{declared}"?>' + rss(f"<title>{title}</title><link>/x</link>")
    content = read(body.encode(charset), content_type)
    assert [(item.url, item.title) for item in content.items] == [("https://example.com/x", title)]


def test_invalid_address_is_a_problem_and_not_an_exception():
    assert read_feed(RSS.encode(), "no address", None, NOW).problem.startswith("feed_address ")


@pytest.mark.parametrize(
    "item",
    [
        "".join(f"<category>{i}</category>" for i in range(5000)),
        f"<author>{'a' * 50_000}</author>",
        "<gml:pos>1</gml:pos>",
        "<a>" * 5_000,
        "<![CDATA[" * 5_000,
        "<!--" * 5_000,
        "<a b='" * 5_000,
        "&" * 20_000,
        "<image>" * 20_000,
    ],
    ids=["categories", "author", "position", "nesting", "cdata", "comments", "attributes", "ampersands", "images"],
)
def test_elements_that_are_slow_in_feedparser_are_removed(item):
    body = rss(f"<link>/x</link>{item}").replace("<rss", '<rss xmlns:gml="http://www.opengis.net/gml"')
    started = time.process_time()
    assert urls(body) == ["/x"]
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("start", "content_type", "expected"),
    [
        (RSS, "text/html", True),
        (ATOM, None, True),
        ("\ufeff  <!-- long prolog --> <?xml?><rdf:RDF ", "text/plain", True),
        ("<urlset xmlns='x'>", "text/xml", True),
        ('{"version": "https://jsonfeed.org/version/1.1",', "application/json", True),
        ('{"title": "X", "items": [', "application/feed+json; charset=utf-8", True),
        ('{"posts": []}', "application/json", False),
        ("<html xmlns='http://www.w3.org/1999/xhtml'>", "application/xhtml+xml", False),
        ("<?xml version='1.0'?><!-- a long comment", "application/xml", True),
        ("<?xml version='1.0'?><svg>", "application/xml", False),
        ("", "application/atom+xml", True),
        ("", None, False),
        ("https://example.com/a\n", "text/plain", False),
    ],
)
def test_feed_is_recognised_by_its_beginning(start, content_type, expected):
    assert looks_like_feed(start.encode(), content_type) is expected


@given(st.binary(max_size=300), st.none() | st.text(max_size=20))
@settings(max_examples=40)
def test_bytes_never_raise(body, content_type):
    for prefix in (b"", b"<rss><channel><item>", b'{"items":[', b"\x1f\x8b\x08\0", b"http://", b"<urlset><url><loc>"):
        assert isinstance(read(prefix + body, content_type), FeedContent)
        assert looks_like_feed(prefix + body, content_type) in (True, False)


@pytest.mark.parametrize("is_atom", [False, True])
def test_long_feed_is_read_in_slices_that_begin_with_the_newest_entries(monkeypatch, is_atom):
    monkeypatch.setattr(feed_reader, "ITEMS_OF_SLICE", 4)
    monkeypatch.setattr(feed_reader, "NEWEST", 1)
    atom = "".join(f"<entry><link href='/{number}'/></entry>" for number in range(9))
    body = f"<feed>{atom}</feed>" if is_atom else rss(*(f"<link>/{number}</link>" for number in range(9)))
    first, found = 0, []
    while True:
        content = read_feed(body.encode(), URL, None, NOW, first)
        found.append("".join(item.url[-1] for item in content.items))
        assert bool(content.rest) == (content.problem == "feed_cut")
        if not (first := content.rest):
            break
    assert found[0].startswith("0123")
    assert all(some[0] == "0" for some in found)
    assert set("".join(found)) == set("012345678")
    assert len(read_feed(body.encode(), URL, None, NOW).items) == 9, "of others"
    assert len(found) <= 4


def test_slices_of_large_entries_that_are_cut_by_their_bytes_go_on(monkeypatch):
    monkeypatch.setattr(feed_reader, "_READ_BYTES", 1_000)
    body = rss(*(f"<link>/{number}</link><description>{'x' * 300}</description>" for number in range(9)))
    first, found = 0, set()
    for _ in range(9):
        content = read_feed(body.encode(), URL, None, NOW, first)
        found |= {item.url[-1] for item in content.items}
        if not (first := content.rest):
            break
    assert (first, found) == (0, set("012345678"))
