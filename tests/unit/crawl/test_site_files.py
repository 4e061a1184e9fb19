"""The sitemaps of a site are read before its pages, once, wherever the crawl was interrupted."""

from __future__ import annotations

import asyncio

import pytest
from scrapy.settings import Settings

from crawlers.crawl.site_files import MAX_SILENT, RobotsNeeded, RobotsPolicy, SitemapContent, SitemapNeeded
from crawlers.items import SiteLimits, State
from crawlers.pages.response import WebResponse
from crawlers.store.sites.site_opening import SiteRow
from tests.support.opened_crawl import NOW, SITE, target
from tests.unit.conftest import open_sites

READS = {"reads_sitemaps": True}
NONE = "User-agent: *\nDisallow: /no/\n"


def urlset(*paths):
    return f"<urlset>{''.join(f'<url><loc>{path}</loc></url>' for path in paths)}</urlset>"


def index(*paths):
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{path}</loc></sitemap>' for path in paths)}</sitemapindex>"


class Reads:
    """A crawl that reads sitemaps."""

    def __init__(self, opened, mission=None, **settings):
        self.opened = opened({**READS, **(mission or {})}, **settings)
        self.crawl = self.opened.crawl

    def needs(self, path):
        """Return the next thing to be requested, which is the sitemap at *path*."""
        needed = self.crawl.leasing.next(self.opened.now)
        assert isinstance(needed, SitemapNeeded)
        assert needed.url.removeprefix(SITE) == path
        return needed

    def reads(self, path, body):
        """Respond to the request for the sitemap at *path*."""
        needed = self.needs(path)
        response = WebResponse(needed.url, 200, body.encode(), "application/xml")
        content = asyncio.run(self.crawl.sitemaps.content(needed.site_id, response))
        self.crawl.sitemaps.record_response(needed.site_id, 200, content)

    def fails(self, path, status=404, reason="status 404"):
        self.crawl.sitemaps.record_response(self.needs(path).site_id, status, SitemapContent(problem=reason))

    def robots(self, text=NONE, status=200):
        self.crawl.answers.record_robots(self.opened.robots().site_id, status, text)

    def stored(self):
        """Return path, state, reason and number of URLs of the sitemaps, in order."""
        self.crawl.session.commit()
        rows = self.opened.rows("SELECT url, state, reason, urls, outside, cut FROM sitemap ORDER BY number, url")
        return [(row[0].removeprefix(SITE), *row[1:]) for row in rows]

    def listed(self):
        self.crawl.session.commit()
        rows = self.opened.rows("SELECT url FROM sitemap_url ORDER BY url")
        return [url.removeprefix(SITE) for (url,) in rows]


@pytest.fixture
def reads(opened):
    return lambda *args, **settings: Reads(opened, *args, **settings)


def test_sitemap_in_the_usual_place_is_read_before_the_first_page_and_is_no_page(reads):
    crawl = reads()
    crawl.reads("/sitemap.xml", urlset("/", "/orphan", "http://other.test/", "mailto:x"))
    assert crawl.opened.lease().url == f"{SITE}/"
    assert crawl.listed() == ["/", "/orphan"]
    assert crawl.stored() == [("/sitemap.xml", 1, None, 2, 1, 0)]
    assert crawl.opened.rows("SELECT url FROM page") == [(f"{SITE}/",)]


def test_nothing_else_of_the_site_is_requested_meanwhile(reads):
    crawl = reads({"sites": [SiteLimits(SITE, parallel=4)]})
    needed = crawl.needs("/sitemap.xml")
    assert crawl.crawl.leasing.next(NOW) is None
    assert crawl.crawl.leasing.has_pending
    assert not crawl.crawl.leasing.waits_for_robots(NOW)
    crawl.crawl.sitemaps.record_response(needed.site_id, 404, SitemapContent(problem="status 404"))
    crawl.crawl.sitemaps.record_response(needed.site_id, 404, SitemapContent(problem="a second time"))  # is ignored
    assert crawl.opened.lease().url == f"{SITE}/"
    assert crawl.stored() == [("/sitemap.xml", 2, "status 404", 0, 0, 0)]


def test_robots_txt_names_sitemaps_and_forbids_some(reads):
    crawl = reads(ROBOTSTXT_OBEY=True)
    names = ["a.xml", "/no/b.xml", "https://www.a.test/c.xml?x=1", "http://cdn.test/d.xml"]
    full = [name if "://" in name else f"{SITE}/{name.lstrip('/')}" for name in names]
    crawl.robots(NONE + "".join(f"Sitemap: {name}\n" for name in full))
    crawl.reads("/a.xml", urlset("/x"))
    crawl.reads("/c.xml?x=1", urlset("/x", "/y"))  # at the address of the site
    assert crawl.opened.lease().url == f"{SITE}/"
    assert crawl.listed() == ["/x", "/y"]
    assert crawl.stored() == [
        ("/a.xml", 1, None, 1, 0, 0),
        ("/no/b.xml", 2, "robots_disallows", 0, 0, 0),
        ("/c.xml?x=1", 1, None, 2, 0, 0),
        ("http://cdn.test/d.xml", 2, "sitemap_of_other_site", 0, 0, 0),
    ]


def test_site_whose_robots_txt_can_not_be_read_gets_no_request_for_sitemaps(reads):
    crawl = reads(ROBOTSTXT_OBEY=True)
    crawl.robots("timeout", status=0)
    assert crawl.crawl.leasing.next(NOW) is None
    assert crawl.stored() == []


def test_indexes_are_followed_once(reads):
    crawl = reads()
    crawl.reads("/sitemap.xml", index("/1.xml", "/2.xml", "/sitemap.xml"))
    crawl.reads("/1.xml", index("/3.xml", "/2.xml", "/sitemap.xml"))
    crawl.reads("/2.xml", urlset("/x"))
    crawl.reads("/3.xml", urlset("/x", "/y"))
    assert crawl.opened.lease().url == f"{SITE}/"
    assert crawl.listed() == ["/x", "/y"]
    first = crawl.opened.rows("SELECT m.url FROM sitemap_url u JOIN sitemap m ON m.key = u.sitemap_key ORDER BY u.url")
    assert first == [(f"{SITE}/2.xml",), (f"{SITE}/3.xml",)]


def test_limits_cut_sitemaps_and_urls_and_say_so(reads, caplog, monkeypatch):
    for limit in ("MOST_FILES", "MOST_URLS"):
        monkeypatch.setattr(f"crawlers.crawl.site_files.{limit}", 3)
    crawl = reads()
    crawl.reads("/sitemap.xml", index("/1.xml", "/2.xml", "/3.xml", "/4.xml"))
    crawl.reads("/1.xml", urlset("/a", "/b", "/c", "/d"))
    assert crawl.opened.lease().url == f"{SITE}/"
    assert crawl.listed() == ["/a", "/b", "/c"]
    assert crawl.stored() == [
        ("/sitemap.xml", 1, "beyond_limits 2 0", 0, 0, 2),
        ("/1.xml", 1, "beyond_limits 0 1", 3, 0, 1),
        ("/2.xml", 2, "sitemaps_full 3", 0, 0, 0),
    ]
    assert "names more than 3 sitemaps" in caplog.text


def test_sitemaps_that_never_respond_are_given_up(reads):
    crawl = reads()
    crawl.reads("/sitemap.xml", index(*(f"/{number}.xml" for number in range(1, 6))))
    for number in range(1, MAX_SILENT + 1):
        crawl.fails(f"/{number}.xml", 0, "timeout")
    assert crawl.opened.lease().url == f"{SITE}/"
    assert [row[2] for row in crawl.stored()[MAX_SILENT + 1 :]] == ["sitemaps_silent"] * 3


@pytest.mark.parametrize(
    ("body", "reason"),
    [("<html>soft 404", "not_a_sitemap"), ("", "not_a_sitemap"), ("<urlset><url><loc>/x</loc></url>", "feed_broken ")],
)
def test_what_is_no_sitemap_is_said(reads, body, reason):
    crawl = reads()
    crawl.reads("/sitemap.xml", body)
    assert crawl.stored()[0][2].startswith(reason)


def test_urls_that_the_crawl_leaves_out_are_counted(reads):
    crawl = reads({"sites": [SiteLimits(SITE, start_url=f"{SITE}/docs/", folder="/docs/")]}, URL_EXCLUDE="print")
    crawl.reads("/sitemap.xml", urlset("/docs/a", "/docs/print/a", "/blog", "/docs"))
    assert crawl.listed() == ["/docs", "/docs/a"]
    assert crawl.stored()[0][3:] == (2, 2, 0)


# Interruptions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("killed_after", range(4))
def test_a_crawl_that_goes_on_reads_what_was_not_read(reads, killed_after):
    steps = [("/sitemap.xml", index("/1.xml", "/2.xml")), ("/1.xml", urlset("/x")), ("/2.xml", urlset("/y"))]
    crawl = reads()
    for step in steps[:killed_after]:
        crawl.reads(*step)
    crawl.opened.kill()
    crawl = reads()
    for step in steps[killed_after:]:
        crawl.reads(*step)
    assert crawl.opened.lease().url == f"{SITE}/"
    assert crawl.listed() == ["/x", "/y"]
    assert [row[:2] for row in crawl.stored()] == [("/sitemap.xml", 1), ("/1.xml", 1), ("/2.xml", 1)]


def test_names_in_a_stored_robots_txt_are_those_that_are_read(reads):
    crawl = reads(ROBOTSTXT_OBEY=True)
    crawl.robots(f"Sitemap: {SITE}/a.xml")
    crawl.needs("/a.xml")
    crawl.opened.kill()
    later = reads(ROBOTSTXT_OBEY=True)
    later.reads("/a.xml", urlset("/x"))
    assert later.opened.lease().url == f"{SITE}/"


# Addresses -----------------------------------------------------------------------------------------------


def test_site_that_moves_has_the_sitemaps_of_its_new_address(reads):
    crawl = reads(ROBOTSTXT_OBEY=True)
    new = "https://www.a.test"
    crawl.robots()
    crawl.fails("/sitemap.xml", 301, "redirects")
    home = crawl.opened.lease()
    moved = target("/")._replace(url=f"{new}/", normalized=f"{new}/", site=new)
    crawl.opened.end(home, state=State.MOVED, status=301, moved_to=moved._replace(site=SITE))
    needed = crawl.crawl.leasing.next(NOW)
    assert isinstance(needed, RobotsNeeded)
    assert needed.address == new
    crawl.crawl.answers.record_robots(needed.site_id, 404, None)
    crawl.reads(f"{new}/sitemap.xml", urlset("/x", f"{SITE}/y", "http://other.test/"))
    assert crawl.opened.lease().url == f"{new}/"
    assert crawl.stored() == [("/sitemap.xml", 2, "redirects", 0, 0, 0), (f"{new}/sitemap.xml", 1, None, 2, 1, 0)]


def test_redirects_are_followed_at_the_same_address_only(reads):
    crawl = reads(ROBOTSTXT_OBEY=True)
    crawl.robots()
    site_id = crawl.needs("/sitemap.xml").site_id
    follows = [f"{SITE}/map.xml", f"{SITE}/no/map.xml", "https://a.test/map.xml", "http://other.test/map.xml"]
    assert [crawl.crawl.sitemaps.may_follow(site_id, url) for url in follows] == [True, False, False, False]


def test_size_of_the_rules_in_memory_is_limited(monkeypatch):
    monkeypatch.setattr("crawlers.sites.robots_rules.MAX_LINES", 8)
    loaded = []
    text = "User-agent: *\nDisallow: /a\nDisallow: /b\nCrawl-delay: 0"  # with the file itself, four lines
    read = lambda database, number: loaded.append(number) or (200, text)  # noqa: E731
    monkeypatch.setattr("crawlers.crawl.site_files.robots_of", read)
    session, sites = open_sites()
    robots = RobotsPolicy(session, sites, Settings({"ROBOTSTXT_OBEY": True}), "us")
    for number in (1, 2, 3):
        sites.open(SiteRow(number, f"http://{number}.example", 1, None, 0.0, is_new=True), 0.0)
    for number in (1, 2, 3, 3):
        robots.record(number, 200, text)
    for number in (3, 2, 1, 3):
        while callable(verdict := robots.verdict(f"http://{number}.example", "http://a.example/a")):
            verdict()()
        assert verdict == "robots_disallows"
    assert loaded == [1, 3]
