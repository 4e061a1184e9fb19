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

if TYPE_CHECKING:
    from concurrent.futures import Future
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.crawl.session import CrawlSession
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl

logger = logging.getLogger(__name__)

CHECKS = 144  # while a feed may fail: by default one in ten minutes


class AlarmChecks:
    """Checks the crawl some times while a feed may fail, and at the end.

    With *fails*, a run that ends with open alarms has failed.
    """

    def __init__(self, crawler: Crawler, limits: Limits, *, fails: bool) -> None:
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        self._limits = limits
        self._fails = fails
        self._pause = Pause()
        self._running_check: Future[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        limits = Limits(
            failing_s=settings.getfloat("NEWS_ALARM_HOURS") * 3600.0,
            silent_s=settings.getfloat("NEWS_ALARM_SILENT_DAYS") * DAY_S,
        )
        extension = cls(crawler, limits, fails=settings.getbool("NEWS_FAIL_ON_ALARM"))
        crawler.signals.connect(extension._opened, CRAWL_OPENED)
        add_output(crawler, extension._final_check)
        return extension

    def _opened(self, crawl: Crawl) -> None:
        last = last_iteration(crawl.session.database, crawl.session.row.id)
        if last is not None:
            self._pause = Pause(last.ended_at, time.time())
        if interval_s := self._limits.failing_s / CHECKS:
            repeat(self._crawler, self._schedule_check, interval_s, now=False)

    def _schedule_check(self) -> None:
        """Check in a reading thread, unless another worker does so, or the last check is still running."""
        crawl = owner_of(self._crawler).crawl
        if crawl.watches_sources and (self._running_check is None or self._running_check.done()):
            self._running_check = crawl.session.reader.submit(partial(self._check_in_thread, crawl.session))

    def _check_in_thread(self, session: CrawlSession) -> None:
        try:
            self._check(session)
        except CrawlersError as error:
            if not session.writer.is_closed:  # else the crawl ends, and the last check is still to come
                logger.warning("Alarm check failed: %s", error)

    def _check(self, session: CrawlSession) -> int:
        """Check once; return the number of open alarms."""
        now = time.time()
        seen = alarms.check(session.database, session.row.id, self._limits, now, self._pause)
        store = partial(alarms.store_changes, crawl_id=session.row.id, seen=seen, now=now)
        if (seen.raised or seen.ended) and not session.writer.is_closed:
            session.writer.call(store)
        elif seen.raised or seen.ended:  # the crawl has ended
            with session.database.write() as connection:
                store(connection)
        for alarm in seen.raised:
            self._stats.inc_value("news/alarms")
            logger.warning("Alarm, %s: %s: %s", alarm.kind, alarm.subject, suggested(alarm.message))
        for alarm in seen.ended.values():
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
