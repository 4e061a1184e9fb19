"""Pages are logged only on request, errors always."""

import io
import logging

import pytest
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.spiders import Spider
from twisted.python.failure import Failure

from crawlers.extensions.quiet_scrapy import PageLogFormatter, mark_lines
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


def test_lines_of_a_worker_begin_with_its_number_unless_they_are_json(monkeypatch):
    written = [io.StringIO(), io.StringIO()]
    handlers = [logging.StreamHandler(stream) for stream in written]
    handlers[0].setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    handlers[1].setFormatter(type("Json", (logging.Formatter,), {})("{%(name)s}"))
    monkeypatch.setattr(logging.root, "handlers", handlers)
    mark_lines(17)
    logging.getLogger("a").warning("one\n\ntwo")
    assert [stream.getvalue() for stream in written] == ["[17] WARNING: one\n[17] \n[17] two\n", "{a}\n"]
