"""Sources are read back unchanged, and changes by command take precedence over the file."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from crawlers.items import SiteLimits
from crawlers.missions.news.feeds.sources import Source
from crawlers.missions.news.stored.news_tables import DiscoveredFeed, feed
from crawlers.missions.news.stored.stored_sources import list_feeds, save_sources, stored_sources, switch_feed
from crawlers.missions.news.urls.rule_learner import HAND, UrlRule
from crawlers.missions.news.urls.stored_rules import pin_rule, stored_rules_of
from crawlers.store.sites.seeds import list_seeds, remove_seeds, save_seeds
from crawlers.urls.keys import url_key
from tests.support.stored_rows import read, write_rows

pytestmark = pytest.mark.both_stores

A = "http://a.example"
FULL = Source(
    SiteLimits(A, 2, 5, 0.5, f"{A}/en/"),
    "The A",
    (f"{A}/rss", "http://feeds.example/a"),
    (f"{A}/news.xml",),
    (UrlRule("/story/.*", 1.0, "hand"), UrlRule("/video/.*", 0.0, "hand")),
    {"title": "h1"},
    "en",
    "GB",
    ("sport.example", "cdn.example"),
)
BARE = Source(SiteLimits("http://b.example", start_url="http://b.example/"))


def feeds(database):
    rows = list_feeds(database, url_key)
    return {url: (number, kind, origin == "given", enabled) for number, _, url, kind, origin, enabled, *_ in rows}


def test_sources_that_are_saved_repeatedly_are_read_back_unchanged(database):
    assert save_sources(database, [FULL, BARE]) == [1, 2]
    assert stored_sources(database) == [FULL, BARE]
    assert save_sources(database, [BARE, FULL]) == [2, 1]
    assert stored_sources(database) == [FULL, BARE]
    assert save_sources(database, []) == []


def test_crawl_with_a_sources_file_does_not_change_harvests(sqlite):
    save_seeds(sqlite, [{"site": A}])
    save_sources(sqlite, [FULL, BARE], enable=False)
    assert [seed.enabled for seed in list_seeds(sqlite)] == [True, False]
    assert stored_sources(sqlite) == [FULL]
    assert stored_sources(sqlite, ["http://b.example", "http://c.example"]) == [BARE]
    save_sources(sqlite, [BARE])
    assert stored_sources(sqlite) == [FULL, BARE]


def test_changes_by_command_are_kept(sqlite):
    save_sources(sqlite, [FULL])
    owner = list_seeds(sqlite)[0]
    number = next(one.number for one in read(stored_rules_of, sqlite, None) if one.rule.weight)
    pin_rule(sqlite, number, weight=0.0, origin=HAND)
    switch_feed(sqlite, owner, f"{A}/rss", enabled=False)
    save_sources(sqlite, [FULL])
    (found,) = stored_sources(sqlite)
    assert found.feeds == ("http://feeds.example/a",)
    assert {rule.weight for rule in found.rules} == {0.0}


def test_discovered_feeds_are_listed_after_given_ones(database):
    save_sources(database, [FULL, BARE])
    for _ in range(2):
        found = ((f"{A}/atom", "feed"), (f"{A}/rss", "feed"), (f"{A}/map.xml", "sitemap"))
        write_rows(database, *(DiscoveredFeed(A, *one) for one in found))
    write_rows(database, DiscoveredFeed("http://nobodys.example", "http://nobodys.example/rss", "feed"))
    (source, _) = stored_sources(database)
    assert source.feeds == (*FULL.feeds, f"{A}/atom")
    assert source.sitemaps == (f"{A}/news.xml", f"{A}/map.xml")
    save_sources(database, [replace(FULL, sitemaps=(f"{A}/atom",))])
    assert feeds(database)[f"{A}/atom"] == (1, "sitemap", True, True)
    assert feeds(database)[f"{A}/map.xml"] == (1, "sitemap", False, True)


def test_feed_moves_to_another_source_with_the_file_and_is_deleted_with_its_seed(sqlite):
    save_sources(sqlite, [FULL])
    save_sources(sqlite, [replace(BARE, feeds=FULL.feeds[:1])])
    assert feeds(sqlite)[f"{A}/rss"][0] == 2
    remove_seeds(sqlite, [1])
    assert sqlite.scalars(select(feed.c.url)) == [f"{A}/rss"]
