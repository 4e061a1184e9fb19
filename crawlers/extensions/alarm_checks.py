"""Checks the sources of a news crawl in the store every few minutes and at the end, and raises alarms."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from crawlers.algorithms.news.alarm_rules import DAY_S, Limits, Pause
from crawlers.algorithms.plurals import counted
from crawlers.errors import CrawlersError
from crawlers.extensions.crawl_owner import add_output, owner_of
from crawlers.inputs.crawl_name import crawl_name
from crawlers.inputs.program import suggested
from crawlers.spiders.news import NewsSpider
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.database import Database
from crawlers.storage.news import alarms
from crawlers.storage.news.iterations import last_iteration
from crawlers.storage.queries import crawl_named

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.storage.change_set import ChangeSet
    from crawlers.storage.writer import Writer

logger = logging.getLogger(__name__)

CHECKS = 144  # while a feed may fail: by default one in ten minutes
PAUSE_FACTOR = 50  # the pause between two checks, as a multiple of the duration of the last one


class AlarmChecks:
    """Checks the crawl *name* every *interval_s* seconds (0: only at the end), in a thread, so as not to block it.

    With *fails*, a run that ends with open alarms has failed.
    """

    def __init__(
        self,
        crawler: Crawler,
        database_url: str,
        name: str,
        limits: Limits,
        interval_s: float,
        *,
        fails: bool,
    ) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        self._writer: Writer | None = None  # of the crawl, once that is open
        self._database_url = database_url
        self._name = name
        self._limits = limits
        self._interval_s = interval_s
        self._fails = fails
        self._pause = Pause()
        self._next_at = 0.0
        self._thread = ThreadPoolExecutor(1, "alarms")
        self._running_check: Future[None] | None = None
        self._loop = create_looping_call(self._schedule_check)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not isinstance(crawler.spider, NewsSpider):
            raise NotConfigured  # other missions have no sources, so that no warning is needed
        settings = crawler.settings
        limits = Limits(
            failing_s=settings.getfloat("NEWS_ALARM_HOURS") * 3600.0,
            silent_s=settings.getfloat("NEWS_ALARM_SILENT_DAYS") * DAY_S,
        )
        extension = cls(
            crawler,
            settings.get("DATABASE_URL"),
            crawl_name(settings, crawler.spider),
            limits,
            limits.failing_s / CHECKS,
            fails=settings.getbool("NEWS_FAIL_ON_ALARM"),
        )
        crawler.signals.connect(extension._opened, signals.spider_opened)
        add_output(crawler, extension._final_check)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _opened(self) -> None:
        owner = owner_of(self._crawler)
        if not owner.is_started:
            return  # the reason is reported by the owner
        session = owner.crawl.session
        self._writer = session.writer
        last = last_iteration(session.database, session.row.id)
        if last is not None:
            self._pause = Pause(last.ended_at, time.time())
        if self._interval_s:
            self._loop.start(self._interval_s, now=False)

    def _schedule_check(self) -> None:
        """Check in the thread, unless another worker does so.

        Nor if the last check is still running, or took so long that it would load the store.
        """
        if not owner_of(self._crawler).crawl.watches_sources:
            return
        if time.monotonic() >= self._next_at and (self._running_check is None or self._running_check.done()):
            self._running_check = self._thread.submit(self._check_in_thread)

    def _check_in_thread(self) -> None:
        began = time.monotonic()
        writer = self._writer
        assert writer is not None
        try:
            self._check(writer.submit)
        except CrawlersError as error:
            if not writer.is_closed:  # else the crawl ends, and the last check is still to come
                logger.warning("Alarm check failed: %s", error)
        self._next_at = time.monotonic() + PAUSE_FACTOR * (time.monotonic() - began)

    def _check(self, store: Callable[[ChangeSet], None] | None = None) -> int:
        """Check once, and *store* the changes; without *store*, write them directly, because the crawl has ended.

        Returns the number of open alarms.
        """
        database = Database(self._database_url, create=False)
        try:
            crawl = crawl_named(database, self._name)
            seen = alarms.check(database, crawl.id, self._limits, time.time(), self._pause)
            if store is not None:
                store(seen.changes)
            else:
                with database.write() as connection:
                    write_changes(connection, seen.changes)
        finally:
            database.close()
        for alarm in seen.raised:
            self._stats.inc_value("news/alarms")
            logger.warning("Alarm, %s: %s: %s", alarm.kind, alarm.subject, suggested(alarm.message))
        for alarm in seen.ended:
            logger.info("Alarm cleared, %s: %s", alarm.kind, alarm.subject)
        return len(seen.open)

    def _final_check(self) -> tuple[()]:
        self._stop()
        number = self._check()
        if number and self._fails:
            raise CrawlersError(
                f"NEWS_FAIL_ON_ALARM: {counted(number, 'open alarm')}; see the warnings above and "
                "`scrapy sites alarms`. Everything is stored, and the same command continues the crawl"
            )
        return ()

    def _closed(self) -> None:
        self._stop()

    def _stop(self) -> None:
        if self._loop.running:
            self._loop.stop()
        self._thread.shutdown()
