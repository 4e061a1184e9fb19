"""Rules of robots.txt are dropped from memory when they are many, and read again."""

from types import SimpleNamespace

from scrapy.settings import Settings

from crawlers.crawl.robots_policy import RobotsPolicy
from crawlers.store.sites.site_opening import SiteRow
from tests.unit.conftest import open_sites


def test_size_of_the_rules_in_memory_is_limited(monkeypatch):
    monkeypatch.setattr("crawlers.crawl.robots_policy.MAX_LINES", 8)
    loaded = []
    text = "User-agent: *\nDisallow: /a\nDisallow: /b\nCrawl-delay: 0"  # with the file itself, four lines
    read = lambda database, number: loaded.append(number) or (200, text)  # noqa: E731
    monkeypatch.setattr("crawlers.crawl.robots_policy.robots_of", read)
    session, sites = open_sites()
    robots = RobotsPolicy(session, sites, Settings({"ROBOTSTXT_OBEY": True}), "us")
    for number in (1, 2, 3):
        sites.open(SiteRow(number, f"http://{number}.example", 1, None, 0.0, is_new=True), 0.0)
    for number in (1, 2, 3, 3):
        robots.record(number, 200, text)
    for number in (3, 2, 1, 3):
        lease = SimpleNamespace(site_id=number, url="http://a.example/a")
        while callable(verdict := robots.verdict(lease)):
            verdict()()
        assert verdict == "robots_disallows"
    assert loaded == [1, 3]
