"""Says in plain words what a crawl found when it stops: on the terminal, and in the log.

Scrapy's dumps of its stats, components and settings appear with LOG_LEVEL=DEBUG only, see `quiet_scrapy`.
"""

from __future__ import annotations

import logging
import shlex
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlers.errors import CrawlersError
from crawlers.extensions.crawl_owner import owner_of
from crawlers.extensions.json_log import prints_for_people
from crawlers.files.csv_tables import clean
from crawlers.inputs.program import program, suggested, worker_place
from crawlers.options import SETTINGS
from crawlers.spiders.base import SiteSpider
from crawlers.store.database import Database
from crawlers.store.reading.queries import crawl_numbered

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)


class CrawlSummary:
    """Only for missions. Reads the store after the crawl has closed it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not isinstance(crawler.spider, SiteSpider):
            raise NotConfigured  # plain Scrapy spiders have items, of which Scrapy's stats tell
        extension = cls(crawler)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _closed(self) -> None:
        owner = owner_of(self._crawler)
        if not owner.is_started or not owner.crawl.has_ended:
            return  # the command reports the reason, or other workers go on
        from crawlers.reports.crawl_summary import Places, crawl_summary  # only now, with reports

        settings = self._crawler.settings
        url = settings.get("DATABASE_URL")
        row, run_s = owner.crawl.session.row, owner.crawl.run_s  # of all workers together
        has_pulled = owner.crawl.frontier.budget.has_pulled
        try:
            with closing(Database(url, create=False)) as database:
                places = Places(
                    owner.files,
                    settings.get("ERROR_LOG_FILE") or "",
                    settings.get("STOP_FILE") or "",
                    program(),
                    ""
                    if url == SETTINGS["DATABASE_URL"].default
                    else f" -s {shlex.quote('DATABASE_URL=' + database.name)}",
                )
                crawl = crawl_numbered(database, row.id)
                assert crawl is not None
                found = crawl_summary(database, crawl, row.run_started_at, run_s, places, has_pulled=has_pulled)
                lines = [clean(suggested(line)) for line in found]
        except CrawlersError as error:
            logger.warning("The results can't be summarised: %s", error)
            return
        place = worker_place()
        if place is None:
            show_summary(lines, settings)
        else:
            place.summary.write_text("\n".join(lines), "utf-8")


def show_summary(lines: Sequence[str], settings: BaseSettings) -> None:
    """Print *lines* without a time stamp on a terminal, where a person reads them; a log elsewhere has them as well."""
    is_terminal = sys.stderr.isatty() and prints_for_people(settings)
    if is_terminal:
        print("", *lines, sep="\n", file=sys.stderr)
    if not is_terminal or settings.get("LOG_FILE"):
        logger.info("%s", "\n".join(lines))
