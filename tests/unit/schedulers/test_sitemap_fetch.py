"""Sitemaps are requested in the turn of a page of their site, with redirects, retries and limits."""

import asyncio

import pytest
from scrapy import exceptions as scrapy_errors
from scrapy.http import Response
from twisted.python.failure import Failure

from crawlers.crawl.site_files import SitemapNeeded
from crawlers.items import REDIRECT, SiteLimits
from crawlers.schedulers.site_fetches import SitemapFiles
from crawlers.sites import MAX_INFLATED
from crawlers.sites.robots_rules import MAX_REDIRECTS
from crawlers.urls.resolution import Redirect
from tests.support.opened_crawl import NOW, SITE, OpenedCrawl, target

URLSET = b"<urlset><url><loc>/x</loc></url></urlset>"


class Fetch:
    """The fetch of the sitemap of one site."""

    def __init__(self, url, delay_s=0.0, **settings):
        mission = {"reads_sitemaps": True, "sites": [SiteLimits(SITE, delay_s=delay_s)]}
        self.opened = OpenedCrawl(url, None, mission, **{"RETRY_TIMES": 1, **settings})
        self.crawl = self.opened.crawl
        self.fetch = SitemapFiles(self.crawl)
        needed = self.crawl.leasing.next(NOW)
        assert isinstance(needed, SitemapNeeded)
        self.fetch.enqueue(*needed)

    def next_request(self):
        request = self.fetch.next_request(self.opened.now)
        assert request is not None
        self.fetch.record_sending(request)
        return request

    def respond(self, status=200, body=URLSET, redirect=None, **headers):
        request = self.next_request()
        request.meta[REDIRECT] = redirect
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        assert request.callback is not None
        asyncio.run(request.callback(Response(request.url, status, named, body, request=request)))

    def fail(self, error):
        failure = Failure(error)
        failure.request = self.next_request()
        assert failure.request.errback is not None
        failure.request.errback(failure)

    def stored(self):
        """Return URL, status and reason of the sitemap; nothing more is requested."""
        assert self.fetch.next_request(float("inf")) is None
        self.crawl.session.commit()
        ((url, *more),) = self.opened.rows("SELECT url, status, reason FROM sitemap")
        return (url.removeprefix(SITE), *more)


@pytest.fixture
def fetch(sqlite_url):
    made = []

    def make(**settings):
        made.append(Fetch(sqlite_url, **settings))
        return made[-1]

    yield make
    for one in made:
        one.opened.kill()


def to(url):
    return Redirect(target("/")._replace(url=url), "")


def test_sitemap_is_read_within_limits_and_the_page_follows(fetch):
    one = fetch()
    assert one.fetch.next_due(NOW) == 0.0
    request = one.next_request()
    assert request.meta["download_maxsize"] == MAX_INFLATED
    one.fetch.enqueue(1, request.url)
    one.respond()
    assert one.stored() == ("/sitemap.xml", 200, None)
    assert one.opened.lease().url == f"{SITE}/"


@pytest.mark.parametrize(
    ("redirects", "reason"),
    [
        ([to("http://b.test/")], "redirect_to_refused http://b.test/"),
        ([Redirect(None, "redirect_without_location 301")], "redirect_without_location 301"),
        ([to(f"{SITE}/{number}.xml") for number in range(MAX_REDIRECTS + 1)], f"many_redirects {MAX_REDIRECTS}"),
    ],
)
def test_redirects_elsewhere_are_not_followed_and_others_end(fetch, redirects, reason):
    one = fetch()
    for redirect in redirects:
        one.respond(301, redirect=redirect)
    assert one.stored() == ("/sitemap.xml", 301, reason)


def test_errors_are_retried_after_a_while(fetch):
    one = fetch(RETRY_BACKOFF_SECONDS=2.0)
    one.respond(500)
    assert one.fetch.next_request(NOW) is None
    assert one.fetch.next_due(NOW) == 2.0
    one.opened.now += 2.0
    one.fail(scrapy_errors.DownloadTimeoutError())
    assert one.stored() == ("/sitemap.xml", None, "timeout")


def test_other_failures_are_not_retried(fetch):
    one = fetch()
    one.fail(scrapy_errors.DownloadCancelledError())
    assert one.stored() == ("/sitemap.xml", None, "too_large")


def test_host_that_asks_for_a_rest_gets_it(fetch):
    one = fetch()
    one.respond(503, Retry_After="30")
    assert one.fetch.next_due(NOW) == 30.0
    one.opened.now += 30.0
    one.respond()
    assert one.stored() == ("/sitemap.xml", 200, None)


def test_delay_of_the_site_is_kept(fetch):
    one = fetch(delay_s=5.0)
    one.respond(301, redirect=to(f"{SITE}/map.xml"))
    assert one.fetch.next_due(NOW) == 5.0
    one.opened.now += 5.0
    one.respond()
    assert one.stored() == ("/sitemap.xml", 200, None)
    assert one.crawl.leasing.next(one.opened.now) is None
    one.opened.now += 5.0
    assert one.opened.lease().url == f"{SITE}/"


def test_internal_error_of_the_reader_ends_the_attempt(fetch, monkeypatch):
    one = fetch()
    monkeypatch.setattr(one.crawl.sitemaps, "content", lambda site_id, found: 1 / 0)
    one.respond()
    assert one.stored() == ("/sitemap.xml", 200, "spider_failed error ZeroDivisionError division by zero")
