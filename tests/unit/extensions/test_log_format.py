"""Pages are logged only on request, errors always."""

import logging

import pytest
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.spiders import Spider
from twisted.python.failure import Failure

from crawlers.extensions.log_format import PageLogFormatter
from crawlers.spiders.base import SiteSpider


def crawler(**settings):
    made = Crawler(Spider, settings)
    made.spider = SiteSpider(name="x")
    return made


@pytest.mark.parametrize(
    ("level", "is_verbose"), [("DEBUG", True), (10, True), ("debug", True), ("INFO", False), (30, False)]
)
def test_pages_are_logged_only_at_the_debug_level(level, is_verbose):
    formatter = PageLogFormatter.from_crawler(crawler(LOG_LEVEL=level))
    request = Request("http://a.example/")
    response = Response("http://a.example/", request=request)
    crawled = formatter.crawled(request, response, Spider(name="x"))
    scraped = formatter.scraped({}, response, Spider(name="x"))
    assert (crawled is not None) == (scraped is not None) == is_verbose
    if crawled is not None:
        assert crawled["level"] == logging.DEBUG


def test_errors_are_always_logged():
    formatter = PageLogFormatter.from_crawler(crawler(LOG_LEVEL="ERROR"))
    response = Response("http://a.example/", request=Request("http://a.example/"))
    for line in (
        formatter.item_error({}, ValueError("x"), response, Spider(name="x")),
        formatter.download_error(Failure(ValueError("x")), response.request, Spider(name="x")),
    ):
        assert line["level"] == logging.ERROR
