"""Feeds of workers: each has files of its own, and a crawl that could not begin writes none."""

import asyncio

import pytest
from scrapy import Spider

from crawlers.errors import ConfigError
from crawlers.extensions.crawl_owner import CrawlOwner, owner_of
from crawlers.extensions.pending_callbacks import PendingCallbacks
from crawlers.extensions.worker_feeds import WorkerFeeds
from crawlers.inputs.program import CRAWL
from tests.support.opened_crawl import crawler_of


@pytest.fixture
def crawler(sqlite_url, tmp_path):
    """A crawler with a feed that overwrites pages.csv, which exists."""
    feed = tmp_path / "pages.csv"
    feed.write_text("earlier\r\n", "utf-8")
    extensions = {CrawlOwner: 0, PendingCallbacks: 0, WorkerFeeds: 0}
    feeds = {str(feed): {"format": "csv", "overwrite": True, "fields": ["url"]}}
    return crawler_of(sqlite_url, EXTENSIONS=extensions, FEEDS=feeds)


def write(crawler, *urls):
    """Export items with *urls*, from the opening of the spider to its end."""
    feeds, spider = crawler.get_extension(WorkerFeeds), Spider("any")
    feeds.open_spider(spider)
    for url in urls:
        feeds.item_scraped({"url": url}, spider)
    asyncio.run(feeds.close_spider(spider))


def begin(crawler):
    crawl = owner_of(crawler).open(Spider.from_crawler(crawler, "any"), lambda: None)
    crawl.session.close_all()
    return crawl.session.row.worker_id


def files(folder):
    return {path.name: path.read_text("utf-8") for path in folder.glob("*.csv")}


def test_lone_worker_writes_the_file_itself(crawler, tmp_path):
    begin(crawler)
    write(crawler, "http://a.test/")
    assert files(tmp_path) == {"pages.csv": "url\nhttp://a.test/\n"}


def test_worker_that_begins_again_writes_a_file_of_its_own(crawler, tmp_path, monkeypatch):
    begin(crawler)
    again = crawler_of(
        crawler.settings["DATABASE_URL"], **{name: crawler.settings[name] for name in ("EXTENSIONS", "FEEDS")}
    )
    monkeypatch.setenv(CRAWL, "1")
    number = begin(again)
    write(again, "http://a.test/")
    assert files(tmp_path) == {"pages.csv": "earlier\n", f"pages.{number}.csv": "url\nhttp://a.test/\n"}


def test_crawl_that_could_not_begin_leaves_the_file_of_an_earlier_one_alone(crawler, tmp_path):
    owner_of(crawler)._failure = ConfigError("another list of sites")
    write(crawler)
    assert files(tmp_path) == {"pages.csv": "earlier\n"}
