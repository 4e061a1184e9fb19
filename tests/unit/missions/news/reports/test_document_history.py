"""The history of a news page: announcements, matching rule, document and polls."""

import pytest
from sqlalchemy import select

from crawlers.items import State
from crawlers.missions.news.reports.document_history import document_history
from crawlers.missions.news.stored.news_tables import FeedItemRow
from crawlers.missions.news.urls import stored_rules
from crawlers.reasons import Reason
from crawlers.store.schema.tables import page
from crawlers.urls.keys import url_key
from tests.support import histories
from tests.support.missions.news.news_store import SITE, NewsStore


@pytest.fixture
def crawl(sqlite):
    return NewsStore(sqlite)


def history(crawl, number):
    with crawl.database.read() as connection:
        row = connection.execute(select(page).where(page.c.id == number)).one()
        return histories.lines(document_history(connection, crawl.id, row))


@pytest.mark.both_stores
def test_document_has_its_announcement_rule_and_versions(database):
    crawl = NewsStore(database)
    feed = crawl.poll("/rss", "feed", 5.0)
    about = {"authors": '["Ada", "Bob"]', "section": "sport", "canonical": f"{SITE}/1"}
    number = crawl.document("/news/1", 60.0, title="First", text="x" * 1500, published="1970-01-01", **about)
    crawl.write(FeedItemRow(feed, url_key(f"{SITE}/news/1"), 30.0, 40.0, "A title"))
    rule = stored_rules.add_rule(crawl.database, "one.example", "/news/.+", 0.5)
    announced = [
        f"  1970-01-01 00:00:40+00:00 announced by {SITE}/rss",
        "    as published 1970-01-01 00:00:30+00:00",
        "    titled A title",
    ]
    assert history(crawl, number) == [
        f"  matches rule {rule.number}: /news/.+ (hand, weight 0.5)",
        "  document: First",
        "    1,500 characters, found by rule",
        "    published 1970-01-01",
        "    by Ada, Bob",
        "    in the section sport",
        "    language: en",
        f"    canonical URL {SITE}/1",
        *announced,
        "  1970-01-01 00:01:00+00:00 version 1 of the document stored, 1,500 characters: First",
    ]
    crawl.document("/news/1", 120.0, again=number, title="Second", text="y")
    crawl.document("/news/1", 180.0, again=number, title="Third", text="z")
    assert history(crawl, number)[1:] == [
        "  document: Third",
        "    1 character, found by rule",
        "    language: en",
        *announced,
        "  1970-01-01 00:01:00+00:00 version 1 of the document stored, 1,500 characters: First",
        "  1970-01-01 00:02:00+00:00 version 2 of the document stored, 1 character: Second",
        "  1970-01-01 00:03:00+00:00 version 3 of the document stored, 1 character: Third",
    ]


def test_copy_names_the_stored_document(crawl):
    number = crawl.document("/a", 60.0)
    copy = crawl.page("/b", 70.0, reason=Reason.NEARLY_SAME_TEXT.of(number))
    assert history(crawl, copy) == [
        "  matches no rule",
        f"  no document: nearly the same text as document {number}, {SITE}/a",
    ]


def test_excluding_rules_take_precedence_and_those_of_domains_above_apply(crawl):
    number = crawl.page("/video/1", 70.0, state=State.WAITING)
    stored_rules.add_rule(crawl.database, "example", "/.*", 1.0)
    stored_rules.add_rule(crawl.database, "one.example", "/.+/1", 1.0)
    forbids = stored_rules.add_rule(crawl.database, "one.example", "/video/.*", 0.0)
    assert history(crawl, number) == [f"  rule {forbids.number} excludes it from articles: /video/.* (hand)"]
    cross_site_links = crawl.page("/other", 70.0, state=State.WAITING)
    assert history(crawl, cross_site_links) == ["  matches rule 1: /.* (hand, weight 1)"]


def test_feed_has_only_its_polls(crawl):
    feed = crawl.poll("/rss", "feed", 60.0, failures=2, problem="status 500")
    assert history(crawl, feed) == [
        "  scheduled feed: polled 7 times, 3 new items, next 1970-01-01 00:02:00+00:00",
        "    failed 2 times in a row: status 500",
    ]
    hub = crawl.poll("/", "page", 60.0)
    assert history(crawl, hub)[:2] == [
        "  matches no rule",
        "  scheduled page: polled 7 times, 3 new items, next 1970-01-01 00:02:00+00:00",
    ]
