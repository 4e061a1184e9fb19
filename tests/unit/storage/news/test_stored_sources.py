"""Sources are read back unchanged, and changes by command take precedence over the file."""

from dataclasses import replace

import pytest
from sqlalchemy import insert, select

from crawlers.algorithms.news.sources import Source
from crawlers.algorithms.url_rules.rule_learner import UrlRule
from crawlers.algorithms.urls.resolution import resolve
from crawlers.errors import ConfigError
from crawlers.items import SiteLimits
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.news.stored_rules import forbid_rule, list_rules
from crawlers.storage.news.stored_sources import (
    FeedRow,
    add_feed,
    delete_orphaned_feeds,
    list_feeds,
    save_sources,
    stored_sources,
    switch_feed,
)
from crawlers.storage.schema.news_tables import FoundFeed, feed, poll
from crawlers.storage.schema.tables import page
from crawlers.storage.seeds import list_seeds, remove_seeds, save_seeds

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


def key(url):
    return resolve(url, "").key


def find(database, *found):
    """Store discovered feeds: the sites of their sources, URLs, kinds."""
    with database.write() as connection:
        write_changes(connection, ChangeSet(*(FoundFeed(*one) for one in found)))


def feeds(database):
    return {row.url: (row.seed_number, row.kind, row.is_given, row.enabled) for row in list_feeds(database, key)}


def test_sources_that_are_saved_repeatedly_are_read_back_unchanged(database):
    assert save_sources(database, [FULL, BARE]) == [(1, FULL, True), (2, BARE, True)]
    assert stored_sources(database) == [FULL, BARE]
    assert save_sources(database, [BARE, FULL]) == [(2, BARE, False), (1, FULL, False)]
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
    forbid_rule(sqlite, next(one.number for one in list_rules(sqlite) if one.rule.weight))
    switch_feed(sqlite, owner, f"{A}/rss", enabled=False)
    save_sources(sqlite, [FULL])
    (found,) = stored_sources(sqlite)
    assert found.feeds == ("http://feeds.example/a",)
    assert {rule.weight for rule in found.rules} == {0.0}


def test_discovered_feeds_are_listed_after_given_ones(database):
    sqlite = database
    save_sources(sqlite, [FULL, BARE])
    for _ in range(2):
        find(sqlite, (A, f"{A}/atom", "feed"), (A, f"{A}/rss", "feed"), (A, f"{A}/map.xml", "sitemap"))
    find(sqlite, ("http://nobodys.example", "http://nobodys.example/rss", "feed"))
    (source, _) = stored_sources(sqlite)
    assert source.feeds == (*FULL.feeds, f"{A}/atom")
    assert source.sitemaps == (f"{A}/news.xml", f"{A}/map.xml")
    save_sources(sqlite, [replace(FULL, sitemaps=(f"{A}/atom",))])
    assert feeds(sqlite)[f"{A}/atom"] == (1, "sitemap", True, True)
    assert feeds(sqlite)[f"{A}/map.xml"] == (1, "sitemap", False, True)


def test_feed_can_be_added_removed_and_restored(sqlite):
    save_sources(sqlite, [BARE, FULL])
    owner = list_seeds(sqlite)[0]
    url = "http://b.example/feed"
    assert add_feed(sqlite, owner, url, "feed")
    switch_feed(sqlite, owner, url, enabled=False)
    assert feeds(sqlite)[url] == (1, "feed", True, False)
    find(sqlite, ("http://b.example", url, "feed"))
    assert feeds(sqlite)[url] == (1, "feed", True, False), "a removed feed is not discovered again"
    assert not add_feed(sqlite, owner, url, "feed")
    assert feeds(sqlite)[url] == (1, "feed", True, True)
    with pytest.raises(ConfigError, match=f"{A}/rss is already a feed of seed 2"):
        add_feed(sqlite, owner, f"{A}/rss", "feed")
    with pytest.raises(ConfigError, match=f"{A}/rss is not a feed of http://b.example; `scrapy sites feeds 1 --all`"):
        switch_feed(sqlite, owner, f"{A}/rss", enabled=False)


def test_feed_moves_to_another_source_with_the_file(sqlite):
    save_sources(sqlite, [FULL])
    save_sources(sqlite, [replace(BARE, feeds=FULL.feeds[:1])])
    assert feeds(sqlite)[f"{A}/rss"][0] == 2


def test_feeds_are_deleted_with_their_seed(sqlite):
    save_sources(sqlite, [FULL])
    remove_seeds(sqlite, [1])
    delete_orphaned_feeds(sqlite)
    with sqlite.read() as connection:
        assert connection.execute(select(feed.c.id)).all() == []


def test_feeds_are_listed_with_their_latest_poll(database):
    save_sources(database, [replace(FULL, sitemaps=()), BARE])
    unsaid = {"variant": 0, "level": 0, "hops": 0, "priority": 0.0, "found_at": 0.0, "state_at": 0.0, "state": 1}
    polled = {"kind": "feed", "due_at": 0.0, "polls": 3, "failures": 0, "rate": "{}", "site_id": 1}
    variant = f"{A}/rss?"  # of the feed's URL
    with database.write() as connection:
        for number, at, items in ((1, 20.0, 7), (2, 10.0, 5)):
            connection.execute(
                insert(page).values(id=number, site_id=number, key=key(f"{A}/rss"), url=variant, **unsaid)
            )
            connection.execute(
                insert(poll).values(page_id=number, polled_at=at, new_items=items, problem="status 500", **polled)
            )
    rows = list_feeds(database, key, 1)
    assert rows[0] == FeedRow(1, 1, A, f"{A}/rss", "feed", True, True, 20.0, 7, "status 500")
    assert rows[1] == FeedRow(2, 1, A, "http://feeds.example/a", "feed", True, True)
    assert list_feeds(database, key, 2) == []
