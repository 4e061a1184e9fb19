"""The engine asks again when something becomes due: not five seconds later, and not in between."""

import asyncio
import time

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


async def crawled():
    """Return a crawler with a real engine, without Twisted's reactor, that ran on `OneLater`."""
    switched_off = ("TWISTED_REACTOR_ENABLED", "TELNETCONSOLE_ENABLED", "REMOTE_CONTROL_ENABLED", "LOG_ENABLED")
    settings = {"SCHEDULER": OneLater, **dict.fromkeys(switched_off, False)}
    crawler = AsyncCrawlerRunner(settings).create_crawler(Waiting)
    await asyncio.wait_for(crawler.crawl_async(), 60)
    return crawler


def test_engine_is_woken_when_a_request_is_due_once_and_not_when_it_is_closed(monkeypatch):
    """By a private attribute of Scrapy."""
    monkeypatch.setattr(ExecutionEngine, "_SLOT_HEARTBEAT_INTERVAL", HEARTBEAT_S)
    crawler = asyncio.run(crawled())
    moments = crawler.scheduler_of_test.moments
    assert DUE_S <= crawler.spider.responded_at - moments[0] < HEARTBEAT_S
    # At the start, when start() is exhausted, when it is due, and when the download is over.
    assert len(moments) <= 6
    wakeup = Wakeup(crawler)
    wakeup._ring()
    wakeup.cancel()
