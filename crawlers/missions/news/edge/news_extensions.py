"""The extensions of a news crawl: checks of its sources, and at the end its chart, and its documents as Parquet."""

from __future__ import annotations

import json
import logging
import time
from concurrent.futures import wait
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.errors import CrawlersError
from crawlers.extensions.crawl_owner import CRAWL_OPENED, add_output, owner_of, repeat
from crawlers.files.atomic import check_file, check_parquet, check_setting_file, replacing
from crawlers.files.parquet_files import ParquetColumn, parquet_parts
from crawlers.inputs.program import suggested
from crawlers.missions.news.plan.alarm_rules import DAY_S, Limits, Pause
from crawlers.missions.news.reports.news_pictures import Days, Iterations, UsefulShare
from crawlers.missions.news.stored import alarms
from crawlers.missions.news.stored.iterations import last_iteration
from crawlers.missions.news.stored.news_tables import document
from crawlers.options.kinds import RESULT
from crawlers.plurals import counted
from crawlers.reports.crawl_manifest import crawl_rules
from crawlers.reports.pictures.picture import PictureRequest, draw_pictures
from crawlers.store.reading.crawl_settings import settings_of
from crawlers.store.schema.tables import site

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from concurrent.futures import Future
    from typing import Self

    from scrapy.crawler import Crawler

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.crawl.session import CrawlSession
    from crawlers.files.parquet_files import ColumnType
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


FILE_NAME = "news.svg"


class NewsOutputs:
    """Draws the chart, and exports all documents of a crawl, those of earlier runs included."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if path := crawler.settings.get("DOCUMENTS_PARQUET"):
            check_parquet("DOCUMENTS_PARQUET")
            check_setting_file("DOCUMENTS_PARQUET", path)
            add_output(crawler, partial(_export, Path(path)))
        if find_spec("matplotlib") is None:
            logger.warning("matplotlib is missing, so no chart is drawn; pip install matplotlib")
        else:
            check_file(Path(crawler.settings.get("RESULT_FOLDER")) / FILE_NAME, "RESULT_FOLDER", RESULT)
            add_output(crawler, partial(_draw, crawler))
        return cls()


def _draw(crawler: Crawler, database: Database, crawl: NamedCrawl) -> list[Path]:
    last = last_iteration(database, crawl.id)
    if last is None:
        return []
    path = owner_of(crawler).result_folder() / FILE_NAME
    wanted = PictureRequest(crawl, crawl_rules(settings_of(database, crawl.id)))
    with database.read() as connection:
        draw_pictures(path, connection, wanted, (Iterations(), UsefulShare(), Days()))
    logger.info("%s; drawn in %s", last, path)
    return [path]


def _export(path: Path, database: Database, crawl: NamedCrawl) -> list[Path]:
    number = write_documents(database, crawl.id, path)
    logger.info("%s: %s in %s", crawl.name, counted(number, "document"), path)
    return [path]


BATCH_ROWS = 1_000  # a row group; texts of some 5 MB
_NAMES = (
    *("url", "canonical_url", "title", "text", "published", "published_at", "authors", "section", "language", "image"),
    *("site", "stored_at", "changed_at", "version", "extractor", "description", "keywords", "modified", "modified_at"),
    "is_free",
)
_TYPES: Mapping[str, ColumnType] = {
    **dict.fromkeys(("published_at", "stored_at", "changed_at", "modified_at"), "timestamp"),
    **dict.fromkeys(("authors", "keywords"), "strings"),
    "version": "int32",
    "is_free": "boolean",
}
COLUMNS = [ParquetColumn(name, _TYPES.get(name, "string")) for name in _NAMES]  # published: as written on the page


def write_documents(database: Database, crawl_id: int, path: Path) -> int:
    """Write the documents of a crawl to *path*, in the order of their pages; return their number.

    The file appears when it is complete. Raises the errors of `replacing`.
    """
    columns = {"canonical_url": document.c.canonical, "site": site.c.site}
    statement = (
        select(*(columns[name] if name in columns else document.c[name] for name, *_ in COLUMNS))
        .join(site, site.c.id == document.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .order_by(document.c.page_id)
    )
    number = 0

    def groups() -> Iterator[list[list[Any]]]:
        nonlocal number
        for part in rows.partitions(BATCH_ROWS):
            number += len(part)
            yield [[_value(column.type, row[place]) for row in part] for place, column in enumerate(COLUMNS)]

    with replacing(path) as stream, database.read() as connection:
        rows = connection.execution_options(yield_per=BATCH_ROWS).execute(statement)
        stream.writelines(parquet_parts(COLUMNS, groups()))
    return number


def _value(type_: str, value: Any) -> Any:
    if type_ == "strings":
        return json.loads(value or "[]")
    if type_ == "timestamp" and value is not None:
        return datetime.fromtimestamp(value, UTC)
    return value
