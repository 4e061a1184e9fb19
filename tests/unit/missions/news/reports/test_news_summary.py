"""The summary of a news crawl."""

import pytest

from crawlers.items import State
from crawlers.missions.news.news_items import ARTICLE, FEED
from crawlers.missions.news.stored.news_tables import DiscoveredFeed
from tests.support.missions.news.news_store import NewsStore
from tests.support.stored_rows import write_rows
from tests.support.summaries import Stored, ended


@pytest.mark.both_stores
def test_news_have_articles_feeds_and_alarms(database):
    news = NewsStore(database, "mine")
    news.document("/old", 50.0)
    news.document("/new", 150.0)
    news.poll("/feed", FEED, 150.0)
    news.poll("/bad", FEED, 150.0, failures=3, problem="status 500")
    news.poll("/cut", FEED, 150.0, problem="feed_broken no element found")
    news.poll("/page", ARTICLE, 150.0)
    news.alarm("dead feed", "http://one.example/bad", 160.0)
    lines = ended(database, news.id, "timeout")
    assert lines[0] == "Crawl mine stopped (timeout): 2 articles, 1 of them new in this run, in 83 s"
    assert lines[3].split()[:2] == ["one.example", "2"]
    assert "Feeds: 3, 2 of them failing" in lines
    assert "Failing: http://one.example/bad: status 500" in lines
    assert "Failing: http://one.example/cut: broken XML: no element found" in lines
    assert "Alarm: dead feed: http://one.example/bad: see to it" in lines
    assert "Open alarms: 1, listed by scrapy sites alarms" in lines


def test_usual_address_without_a_feed_is_no_error_of_a_site_but_a_named_one_is(database):
    crawl = Stored(database, "a.test", mission="news")
    for path in ("feed", "rss.xml", "blog/feed"):
        crawl.page(f"a.test/{path}", State.REFUSED, 404, "status 404")
    write_rows(database, DiscoveredFeed("http://a.test", "http://a.test/rss.xml", FEED))
    lines = crawl.summary()
    assert lines[3].split() == ["a.test", "0", "0", "2"]
    assert "Errors: status 404 (2)" in lines
    assert "To see why a URL is missing: scrapy explain http://a.test/blog/feed" in lines
