"""Rounds of a crawl begin when they are due, until the crawl is closed."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from scrapy import signals

from crawlers.extensions import crawl_owner
from crawlers.extensions.crawl_owner import CRAWL_OPENED, Rounds
from tests.support.opened_crawl import crawler_of
from tests.support.processes import PATIENCE_S


class Crawl:
    """What rounds need of a crawl, which *has_joined* others or is alone, and of its engine."""

    def __init__(self, *, has_joined=True):
        self.has_joined = has_joined
        self.rounds = SimpleNamespace(is_due=True)
        self.begun: list[bool] = []  # whether the crawl was stopping, of each round
        self.engine = SimpleNamespace(running=False)
        self._changed = asyncio.Condition()
        self._crawler = crawler_of("sqlite://")
        self._crawler.engine = self.engine
        self.extension = Rounds.from_crawler(self._crawler)

    async def round(self, *, is_stopping):
        self.begun.append(is_stopping)
        async with self._changed:
            self._changed.notify_all()

    async def has_had(self, number):
        """Wait until this *number* of rounds have begun."""
        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: len(self.begun) >= number)

    def send(self, signal):
        self._crawler.signals.send_catch_log(signal, spider=None, reason="finished", crawl=self)


def run(test, monkeypatch):
    monkeypatch.setattr(crawl_owner, "TICK_S", 0.001)
    asyncio.run(test())


def test_rounds_begin_while_the_crawl_is_open(monkeypatch):
    async def test():
        crawl = Crawl(has_joined=False)
        crawl.send(CRAWL_OPENED)
        assert crawl.begun == [], "a lone worker had its first round when it began"
        await crawl.has_had(3)
        crawl.send(signals.spider_closed)
        begun = len(crawl.begun)
        await asyncio.sleep(0.01)
        assert len(crawl.begun) == begun

    run(test, monkeypatch)


def test_round_begins_only_when_it_is_due(monkeypatch):
    async def test():
        crawl = Crawl()
        crawl.rounds.is_due = False
        crawl.extension._begin(crawl)
        await asyncio.sleep(0)
        assert crawl.begun == []
        crawl.rounds.is_due = True
        crawl.extension._begin(crawl)
        await crawl.has_had(1)

    run(test, monkeypatch)


def test_crawl_whose_engine_has_stopped_takes_nothing_more(monkeypatch):
    async def test():
        crawl = Crawl()
        for number, is_running in enumerate((False, True, False), 1):
            crawl.engine.running = is_running
            crawl.extension._begin(crawl)
            await crawl.has_had(number)
        assert crawl.begun == [False, False, True], "before it runs, the engine is not stopping"

    run(test, monkeypatch)
