"""Checks the sources of a news crawl in the store every few minutes and at the end, and raises alarms."""

from __future__ import annotations

import logging
import time
from concurrent.futures import wait
from functools import partial
from typing import TYPE_CHECKING

from crawlers.errors import CrawlersError
from crawlers.extensions.crawl_owner import CRAWL_OPENED, add_output, owner_of, repeat
from crawlers.inputs.program import suggested
from crawlers.missions.news.plan.alarm_rules import DAY_S, Limits, Pause
from crawlers.missions.news.stored import alarms
from crawlers.missions.news.stored.iterations import last_iteration
from crawlers.plurals import counted
from crawlers.store.writing.bulk_writer import write_changes

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.crawl.session import CrawlSession
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl
    from crawlers.store.writing.change_set import ChangeSet

logger = logging.getLogger(__name__)

CHECKS = 144  # while a feed may fail: by default one in ten minutes
PAUSE_FACTOR = 50  # the pause between two checks, as a multiple of the duration of the last one


class AlarmChecks:
    """Checks the crawl every *interval_s* seconds (0: only at the end).

    With *fails*, a run that ends with open alarms has failed.
    """

    def __init__(self, crawler: Crawler, limits: Limits, interval_s: float, *, fails: bool) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        self._limits = limits
        self._interval_s = interval_s
        self._fails = fails
        self._pause = Pause()
        self._next_at = 0.0
        self._running_check: Future[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        limits = Limits(
            failing_s=settings.getfloat("NEWS_ALARM_HOURS") * 3600.0,
            silent_s=settings.getfloat("NEWS_ALARM_SILENT_DAYS") * DAY_S,
        )
        extension = cls(crawler, limits, limits.failing_s / CHECKS, fails=settings.getbool("NEWS_FAIL_ON_ALARM"))
        crawler.signals.connect(extension._opened, CRAWL_OPENED)
        add_output(crawler, extension._final_check)
        return extension

    def _opened(self, crawl: Crawl) -> None:
        last = last_iteration(crawl.session.database, crawl.session.row.id)
        if last is not None:
            self._pause = Pause(last.ended_at, time.time())
        if self._interval_s:
            repeat(self._crawler, self._schedule_check, self._interval_s, now=False)

    def _schedule_check(self) -> None:
        """Check in a reading thread, unless another worker does so.

        Nor if the last check is still running, or took so long that it would load the store.
        """
        crawl = owner_of(self._crawler).crawl
        if not crawl.watches_sources:
            return
        if time.monotonic() >= self._next_at and (self._running_check is None or self._running_check.done()):
            self._running_check = crawl.session.reader.submit(partial(self._check_in_thread, crawl.session))

    def _check_in_thread(self, session: CrawlSession) -> None:
        began = time.monotonic()
        try:
            self._check(session, session.writer.submit)
        except CrawlersError as error:
            if not session.writer.is_closed:  # else the crawl ends, and the last check is still to come
                logger.warning("Alarm check failed: %s", error)
        self._next_at = time.monotonic() + PAUSE_FACTOR * (time.monotonic() - began)

    def _check(self, session: CrawlSession, store: Callable[[ChangeSet], None] | None = None) -> int:
        """Check once, and *store* the changes; without *store*, write them directly, because the crawl has ended.

        Returns the number of open alarms.
        """
        seen = alarms.check(session.database, session.row.id, self._limits, time.time(), self._pause)
        if store is not None:
            store(seen.changes)
        else:
            with session.database.write() as connection:
                write_changes(connection, seen.changes)
        for alarm in seen.raised:
            self._stats.inc_value("news/alarms")
            logger.warning("Alarm, %s: %s: %s", alarm.kind, alarm.subject, suggested(alarm.message))
        for alarm in seen.ended:
            logger.info("Alarm cleared, %s: %s", alarm.kind, alarm.subject)
        return len(seen.open)

    def _final_check(self, database: Database, crawl: NamedCrawl) -> tuple[()]:
        if self._running_check is not None:
            wait([self._running_check])
        number = self._check(owner_of(self._crawler).crawl.session)
        if number and self._fails:
            raise CrawlersError(
                f"NEWS_FAIL_ON_ALARM: {counted(number, 'open alarm')}; see the warnings above and "
                "`scrapy sites alarms`. Everything is stored, and the same command continues the crawl"
            )
        return ()
