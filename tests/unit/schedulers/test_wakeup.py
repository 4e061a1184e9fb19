"""The engine asks again when something becomes due: not five seconds later, and not in between."""

import asyncio
import time

import pytest
from scrapy import Request, Spider
from scrapy.core.engine import ExecutionEngine
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import AsyncCrawlerRunner

from crawlers.schedulers.request_flow import Wakeup

DUE_S = 0.2
HEARTBEAT_S = 3600  # after which the engine would ask by itself; 5 in Scrapy


class OneLater(BaseScheduler):
    """Has one request, which is due DUE_S after it was first asked for; *moments* has when it was asked."""

    def __init__(self, crawler):
        self.wakeup = Wakeup(crawler)
        self.moments = []
        self.is_open = True
        crawler.scheduler_of_test = self

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def has_pending_requests(self):
        return self.is_open

    def enqueue_request(self, request):
        return False

    def next_request(self):
        now = time.monotonic()
        self.moments.append(now)
        if not self.is_open:
            return None
        due = self.moments[0] + DUE_S
        if now >= due:
            self.is_open = False
            return Request("data:,due")
        self.wakeup.at(due + 60, now)  # the earliest wins, whatever came before
        self.wakeup.at(due, now)
        self.wakeup.at(due + 30, now)
        return None


class Waiting(Spider):
    name = "waiting"

    async def start(self):
        return
        yield

    def parse(self, response):
        self.responded_at = time.monotonic()


@pytest.fixture(scope="module")
def crawler():
    """A real engine, without Twisted's reactor, that ran on `OneLater`."""

    async def crawl():
        settings = {
            "SCHEDULER": OneLater,
            "TWISTED_REACTOR_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "LOG_ENABLED": False,
        }
        crawler = AsyncCrawlerRunner(settings).create_crawler(Waiting)
        await asyncio.wait_for(crawler.crawl_async(), 60)
        return crawler

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", HEARTBEAT_S)
        return asyncio.run(crawl())


def test_scrapy_still_has_the_private_attribute_that_wakes_it(crawler):
    scheduler = crawler.scheduler_of_test
    waited_s = crawler.spider.responded_at - scheduler.moments[0]
    assert DUE_S <= waited_s < HEARTBEAT_S


def test_engine_is_woken_once_not_all_the_time(crawler):
    # At the start, when start() is exhausted, when it is due, and when the download is over.
    assert len(crawler.scheduler_of_test.moments) <= 6


def test_waking_an_engine_that_is_closed_does_nothing(crawler):
    wakeup = Wakeup(crawler)
    wakeup._ring()
    wakeup.cancel()
