"""Alarms of a crawl are computed from the store, raised once, and ended when the problem is over."""

import pytest
from sqlalchemy import select

from crawlers.items import State
from crawlers.missions.news.plan.alarm_rules import DEAD_FEED, DISCOVERY, EXTRACTION, SILENT, UNREACHABLE, Limits, Pause
from crawlers.missions.news.stored.alarms import check, store_changes
from crawlers.missions.news.stored.news_tables import DiscoveredFeed, NewsScoreRow, PollRow, alarm
from tests.support.missions.news.news_store import DAY, OTHER, SITE
from tests.support.stored_rows import begin

NOW = 1000 * DAY


def seen(crawl, now=NOW):
    found = check(crawl.database, crawl.id, Limits(), now, Pause())
    with crawl.database.write() as connection:
        store_changes(connection, crawl.id, found, now)
    return found


def open_now(crawl, now=NOW):
    return [(one.kind, one.subject) for one in seen(crawl, now).open]


def articles(crawl, *ages, **more):
    for number, age in enumerate(ages):
        crawl.document(f"/{number}-{age}", NOW - age, **more)


@pytest.mark.both_stores
def test_alarm_is_raised_once_and_ended_when_the_problem_is_over(crawl):
    crawl.poll("/", "home", NOW)
    feed = crawl.poll("/rss", "feed", NOW, fetched_at=NOW - 2 * DAY, failures=9, problem="status 500")
    first = seen(crawl)
    assert [(one.kind, one.subject) for one in first.raised] == [(DEAD_FEED, f"{SITE}/rss")]
    assert first.raised[0].message.startswith("status 500")
    again = seen(crawl, NOW + 60)
    assert (again.raised, again.ended, again.open) == ([], {}, first.open)
    crawl.write(PollRow(feed, crawl.sites[SITE], "feed", NOW, NOW, 9, 0, 3, NOW, "[]", None))
    over = seen(crawl, NOW + 120)
    assert (over.raised, [*over.ended.values()], over.open) == ([], first.raised, [])
    crawl.write(PollRow(feed, crawl.sites[SITE], "feed", NOW, NOW, 9, 1, 3, NOW, "[]", None))
    assert open_now(crawl, NOW + 5 * DAY) == [(DEAD_FEED, f"{SITE}/rss")]
    rows = crawl.database.rows(select(alarm.c.raised_at, alarm.c.ended_at).order_by(alarm.c.id))
    assert rows == [(NOW, NOW + 120), (NOW + 5 * DAY, None)]


def test_feed_is_dead_since_its_last_success(crawl):
    old, new = NOW - 2 * DAY, NOW - DAY / 2
    crawl.poll("/", "home", NOW)
    crawl.poll("/known", "feed", NOW, fetched_at=old, failures=3)
    crawl.poll("/lately", "feed", NOW, fetched_at=new, failures=3)
    crawl.poll("/gone", "sitemap", NOW, failures=3, state=State.REFUSED, state_at=old)
    crawl.poll("/gone-lately", "feed", NOW, failures=3, state=State.REFUSED, state_at=new)
    crawl.poll("/broken", "feed", NOW, problem="not_a_feed", newest_at=old)
    crawl.poll("/odd", "feed", NOW, problem="feed_empty", newest_at=new)
    crawl.poll("/page", "page", NOW, fetched_at=old, failures=3)
    moved = crawl.poll("/moved", "feed", NOW, fetched_at=old, failures=3)
    crawl.write(NewsScoreRow(moved, crawl.sites[SITE], -1, 0.0, 0.0))
    assert open_now(crawl) == [(DEAD_FEED, f"{SITE}/{path}") for path in ("broken", "gone", "known")]


def test_date_in_the_future_is_ignored(crawl):
    articles(crawl, *(n * DAY for n in range(5, 12)), published_at=NOW + 900 * DAY)
    assert open_now(crawl, NOW + 60 * DAY) == [(SILENT, SITE)]


def test_extraction_fails_if_few_pages_of_the_last_day_became_documents(crawl):
    for number in range(20):
        crawl.page(f"/a{number}", NOW - 60, reason="no_text")
        crawl.page(f"/copy{number}", NOW - 60, reason="same_text 7", site=OTHER)
        crawl.page(f"/old{number}", NOW - 2 * DAY, reason="no_text", site=OTHER)
        crawl.page(f"/lost{number}", NOW - 60, reason="status 404", state=State.REFUSED, site=OTHER)
        crawl.poll(f"/hub{number}", "page", NOW - 60, problem="timeout", site=OTHER)
    crawl.document("/good", NOW - 60)
    (one,) = seen(crawl).open
    assert (one.kind, one.subject) == (EXTRACTION, SITE)
    assert one.message.startswith("1 of the 21 pages of the last day that look like articles became documents")
    assert "(for example: no text)" in one.message


def test_discovery_has_stopped_if_polls_succeed_without_new_articles(crawl):
    articles(crawl, *(n * 3600.0 for n in range(48)))
    articles(crawl, *(n * 3600.0 for n in range(48)), site=OTHER)
    crawl.poll("/rss", "feed", NOW - 60, newest_at=NOW - 3 * DAY)
    crawl.poll("/", "page", NOW - 60, newest_at=NOW - 2.5 * DAY)
    crawl.poll("/rss", "feed", NOW - 60, newest_at=NOW - 3 * DAY, site=OTHER)
    crawl.poll("/", "page", NOW - 60, newest_at=NOW - DAY, site=OTHER)
    assert open_now(crawl) == [(DISCOVERY, SITE)]


@pytest.mark.both_stores
def test_source_is_unreachable_if_its_start_page_and_all_its_feeds_fail(crawl):
    lost = {"failures": 9, "problem": "timeout", "state": State.FAILED}
    crawl.poll("/", "home", NOW, state_at=NOW - 2 * DAY, **lost)
    crawl.poll("/rss", "feed", NOW, state_at=NOW - DAY / 2, **lost)
    crawl.poll("/hub", "page", NOW)
    crawl.poll("/", "home", NOW, site=OTHER, state_at=NOW - 2 * DAY, **lost)
    assert open_now(crawl) == [(UNREACHABLE, OTHER)], "a feed of the first source succeeded today"
    crawl.poll("/far", "feed", NOW, site=SITE)
    crawl.write(DiscoveredFeed(OTHER, f"{SITE}/far", "feed"))
    assert open_now(crawl) == [], "a feed on the host of another source"
    crawl.poll("/robots", "home", NOW, site=SITE, state_at=NOW, failures=1, problem="robots.txt", state=State.REJECTED)
    found = seen(crawl, NOW + 2 * DAY).open
    assert [(one.kind, one.subject) for one in found] == [(DEAD_FEED, f"{SITE}/rss"), (UNREACHABLE, SITE)]
    assert "timeout; neither the start URL nor any feed can be fetched" in found[1].message


def test_excluded_sources_have_no_alarms(crawl):
    crawl.poll("/rss", "feed", NOW, fetched_at=NOW - 2 * DAY, failures=9)
    articles(crawl, *(4 * DAY + n * 3600.0 for n in range(9)))
    assert len(open_now(crawl)) == 3
    begin(crawl.database, OTHER, name="news", mission="news", now=NOW)
    assert open_now(crawl) == []
