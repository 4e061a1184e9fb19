"""Queries for scheduled pages, announced items, and the sites of a news crawl."""

import pytest
from sqlalchemy import insert, update

from crawlers.items import State
from crawlers.missions.news.feeds.announcements import UnreadArticle, known_items, pages_without_document
from crawlers.missions.news.news_sites import gone_pages, polls_of, sites_that_link
from crawlers.missions.news.stored.news_tables import FeedItemRow, NewsScoreRow, PageLabelRow, feed
from crawlers.missions.news.stored.stored_sources import removed_feeds
from crawlers.missions.news.urls.requeue import QueuedSite, queued_sites
from crawlers.missions.news.urls.stored_rules import labels_of
from crawlers.store.schema.tables import LinkRow, SiteRules, page
from crawlers.store.sites.site_opening import count_excluded
from crawlers.urls.keys import url_key
from tests.support.missions.news.news_store import OTHER, SITE, NewsStore
from tests.support.stored_rows import begin, execute, read

NOW = 1e9


def move(crawl, source, target):
    execute(crawl.database, update(page).where(page.c.id == source).values(moved_to=target))


def test_polls_are_the_scheduled_pages_of_the_crawl(crawl):
    first = crawl.poll("/rss", "feed", NOW, failures=2, problem="timeout")
    gone = crawl.poll("/gone", "page", NOW)
    crawl.write(NewsScoreRow(gone, crawl.sites[SITE], -1, 0.0, 0.0))
    NewsStore(crawl.database, "other").poll("/rss", "feed", NOW)
    (row,) = polls_of(crawl.database, crawl.sites.values())
    assert (row.page_id, row.kind, row.failures, row.problem) == (first, "feed", 2, "timeout")


def test_items_that_a_feed_announced_before_are_returned(crawl):
    crawl.write(*(FeedItemRow(7, key, None, NOW, "") for key in range(5)), FeedItemRow(8, 9, None, NOW, ""))
    assert known_items(crawl.database, 7, range(2, 10)) == {2, 3, 4}
    assert known_items(crawl.database, 7, []) == set()


def test_pages_without_document_were_read_and_are_not_copies(crawl):
    plain = crawl.page("/plain", NOW, reason="no_text")
    crawl.document("/good", NOW)
    crawl.page("/copy", NOW, reason="same_text 7")
    lost = crawl.page("/lost", NOW, state=State.REFUSED)
    crawl.page("/elsewhere", NOW, site=OTHER)
    keys = [url_key(SITE + path) for path in ("/plain", "/good", "/copy", "/lost", "/unknown")]
    keys.append(url_key(f"{OTHER}/elsewhere"))
    assert pages_without_document(crawl.database, crawl.id, SITE, keys) == [
        UnreadArticle(SITE, url_key(f"{SITE}/plain"), plain, "no_text", NOW, waits=False),
        UnreadArticle(SITE, url_key(f"{SITE}/lost"), lost, None, NOW, waits=False),
    ]


@pytest.mark.both_stores
def test_page_that_redirects_stands_for_the_end_of_its_redirects(crawl):
    pages = {path: crawl.page(path, NOW, state=State.MOVED) for path in ("/r1", "/r2", "/loop", "/copied", "/later")}
    ends = {path: crawl.page(path, NOW, reason=reason) for path, reason in (("/end", None), ("/copy", "same_text 1"))}
    ends["/new"] = crawl.page("/new", NOW, state=State.WAITING)
    moves = [("/r1", "/r2"), ("/r2", "/end"), ("/loop", "/loop"), ("/copied", "/copy"), ("/later", "/new")]
    for source, end in moves:
        move(crawl, pages[source], ends.get(end) or pages[end])
    found = pages_without_document(crawl.database, crawl.id, SITE, [url_key(SITE + path) for path in (*pages, "/new")])
    assert [(one.page_id, one.waits) for one in found] == [(ends["/end"], False), (ends["/new"], True)]


@pytest.mark.both_stores
def test_labels_are_sorted_oldest_first(crawl):
    pages = [crawl.page(f"/{n}", NOW) for n in range(5)]
    times = (None, None, NOW + 2, NOW + 1, NOW + 1)
    for page_id, at in zip(pages, times, strict=True):
        crawl.write(PageLabelRow(page_id, crawl.sites[SITE], 3.0, at))
    crawl.write(PageLabelRow(crawl.page("/uncertain", NOW), crawl.sites[SITE], 2.0, None))
    other = NewsStore(crawl.database, "other")
    other.write(PageLabelRow(other.page("/0", NOW), other.sites[SITE], 3.0, NOW))
    expected = [(SITE, f"{SITE}/{n}", 3.0, times[n] or 0.0) for n in (0, 1, 3, 4, 2)]
    assert read(labels_of, crawl.database, crawl.sites.values()) == expected
    assert read(labels_of, crawl.database, crawl.sites.values(), 2) == expected[:2]


def test_included_site_has_its_rules_and_whether_a_page_waits(crawl):
    one, other = crawl.sites[SITE], crawl.sites[OTHER]
    crawl.write(SiteRules(one, "old"), SiteRules(other, "old"))
    crawl.write(SiteRules(one, None), SiteRules(one, "new"), SiteRules(other, None))
    crawl.page("/waits", NOW, site=OTHER, state=State.WAITING)
    found = [QueuedSite(one, SITE, "new", False), QueuedSite(other, OTHER, None, True)]
    assert queued_sites(crawl.database, crawl.sites.values()) == found


def test_removed_feeds_are_disabled_or_belong_to_excluded_sources(crawl):
    rows = [
        {"seed_id": 1, "url": f"{SITE}/{name}", "kind": "feed", "is_given": name == "given", "enabled": name == "kept"}
        for name in ("given", "found", "kept")
    ]
    execute(crawl.database, insert(feed), rows)
    assert removed_feeds(crawl.database, {SITE}.__contains__) == [f"{SITE}/given", f"{SITE}/found"]
    assert len(removed_feeds(crawl.database, {OTHER}.__contains__)) == 3


@pytest.mark.both_stores
def test_pages_that_are_gone_have_their_reason_and_download_time(crawl):
    gone = crawl.page("/gone", NOW, reason="feed_removed")
    crawl.page("/moved", NOW, state=State.MOVED)
    crawl.poll("/polled", "feed", NOW)
    keys = [url_key(SITE + path) for path in ("/gone", "/moved", "/polled", "/unknown")]
    assert gone_pages(crawl.database, crawl.sites.values(), keys) == [(SITE, gone, "feed_removed", NOW)]
    assert gone_pages(crawl.database, [crawl.sites[OTHER]], keys) == []


@pytest.mark.both_stores
def test_sites_that_link_to_a_page_are_known_in_the_order_of_their_links(crawl):
    feed_page, elsewhere, *here = (crawl.page(f"/{n}", NOW, site=OTHER if n == 1 else SITE) for n in range(4))
    crawl.write(*(LinkRow(source, feed_page, 1) for source in (here[1], elsewhere, here[0])))
    assert sites_that_link(crawl.database, feed_page) == [OTHER, SITE]
    assert sites_that_link(crawl.database, elsewhere) == []


@pytest.mark.both_stores
def test_polls_of_sites_that_are_not_listed_any_more_are_counted(crawl):
    crawl.poll("/rss", "feed", NOW, site=OTHER)
    begin(crawl.database, SITE, name="news", mission="news")
    assert count_excluded(crawl.database, crawl.id) == (1, 1)
