"""`scrapy crawl`, with one clear sentence instead of a traceback for what the user can mend.

Exit status: 0 when the crawl ended or was stopped in good order, 2 when it could not begin, 1 when it
broke off.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError

from crawlers.errors import CrawlersError

if TYPE_CHECKING:
    import argparse

    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)


class Command(ScrapyCrawl):
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one spider: scrapy crawl sitegraph -a hosts=hosts.txt")
        assert self.crawler_process is not None
        crawler = self._create_crawler(args[0])
        outcome = self.crawler_process.crawl(crawler, **opts.spargs)
        if hasattr(outcome, "addErrback"):
            outcome.addErrback(self._failed)
        else:
            outcome.add_done_callback(self._done)
        self.crawler_process.start()
        engine = crawler._engine
        if getattr(getattr(engine, "scheduler", None), "failure", None) is not None:
            self.exitcode = 1
        elif self.crawler_process.bootstrap_failed and not self.exitcode:
            self.exitcode = 1

    def _done(self, task: Any) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._report(error)

    def _failed(self, failure: Failure) -> Failure | None:
        return None if self._report(failure.value) else failure

    def _report(self, error: BaseException) -> bool:
        if not isinstance(error, CrawlersError):
            return False
        print(f"Error: {error}", file=sys.stderr)
        if self.settings is not None and self.settings.get("LOG_FILE"):
            logger.error("%s", error)  # scrapyd shows people this file, not what goes to standard error
        self.exitcode = 2
        return True
