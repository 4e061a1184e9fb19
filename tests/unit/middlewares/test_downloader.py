"""Pages of missions take the short way unless something of a user has to see them."""

import pytest
from scrapy.crawler import Crawler
from scrapy.pipelines import ItemPipelineManager
from scrapy.settings import Settings

from crawlers import settings as defaults
from crawlers.extensions.quiet_scrapy import PageLogFormatter
from crawlers.middlewares.direct_pages import needs_no_scrapy
from crawlers.middlewares.downloader import Downloader
from tests.support.plain_mission import PlainSpider


class Mine:
    def process_request(self, request):
        return None

    def process_item(self, item):
        return item


class MyFormatter(PageLogFormatter):
    pass


class MyProcessor(ItemPipelineManager):
    pass


OF_USERS = {
    "middleware": {"DOWNLOADER_MIDDLEWARES": {Mine: 100}},
    "cookies": {"COOKIES_ENABLED": True},
    "credentials": {"HTTPAUTH_USER": "me", "HTTPAUTH_DOMAIN": None},
    "cache": {"HTTPCACHE_ENABLED": True},
    "client": {"HTTP_CLIENT": "twisted"},
    "delay": {"DOWNLOAD_DELAY": 0.5},
    "throttle": {"AUTOTHROTTLE_ENABLED": True},
    "limit": {"CONCURRENT_REQUESTS_PER_DOMAIN": 1},
    "slots": {"DOWNLOAD_SLOTS": {"a.test": {"delay": 1}}},
}


def crawler_with(settings):
    """Return the crawler of a site graph with our own settings and these."""
    both = Settings()
    both.setmodule(defaults)
    both.setdict({"TWISTED_REACTOR_ENABLED": False, **settings}, "cmdline")
    crawler = Crawler(PlainSpider, both)
    crawler.spider = crawler._create_spider(hosts="http://a.test")
    crawler._apply_settings()
    return crawler


def short_way(settings):
    return Downloader(crawler_with(settings)).short_way


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for variable in ("http_proxy", "https_proxy"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("name", [None, *OF_USERS])
def test_short_way_is_taken_unless_something_of_a_user_is_on_the_long_one(name):
    assert (short_way(OF_USERS.get(name, {})) is not None) is (name is None)


def test_proxy_of_the_environment_is_on_the_long_way(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:3128")
    assert short_way({}) is None


BEHIND_THE_DOWNLOADER = {
    "spider middleware": {"SPIDER_MIDDLEWARES": {Mine: 100}},
    "pipeline": {"ITEM_PIPELINES": {Mine: 100}},
    "base": {"ITEM_PIPELINES_BASE": {Mine: 100}},
    "log": {"LOG_LEVEL": "DEBUG"},
    "formatter": {"LOG_FORMATTER": MyFormatter},
    "processor": {"ITEM_PROCESSOR": MyProcessor},
}


@pytest.mark.parametrize("name", [None, *BEHIND_THE_DOWNLOADER])
def test_pages_go_straight_to_the_crawl_unless_something_of_a_user_works_on_them(name):
    crawler = crawler_with({"LOG_LEVEL": "INFO"} | BEHIND_THE_DOWNLOADER.get(name, {}))
    crawler.engine = crawler._create_engine()
    assert needs_no_scrapy(crawler) is (name is None)
