"""`scrapy crawl`, with a clear message instead of a traceback for errors that the user can fix.

Exit status: 0 if the crawl ended or was stopped gracefully, 1 if it was aborted, 2 if it could not begin, 3 if it read
no page, or not all of the sites that must be available.
"""

from __future__ import annotations

import logging
import sys
from contextlib import closing
from threading import Event
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError
from twisted.internet.defer import Deferred

from crawlers.cli.project_command import ProjectCommand, check_effects, check_reach
from crawlers.crawl.control import PASSING
from crawlers.errors import ConfigError, CrawlEnded, CrawlersError, StoreError, StoreUnreachable, UnreachedError
from crawlers.inputs.program import crawl_to_join, suggested, worker_place
from crawlers.mission import first_crawl, missions
from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from crawlers.extensions.crawl_owner import CrawlOwner

logger = logging.getLogger(__name__)


class Command(ProjectCommand, ScrapyCrawl):
    _owner: CrawlOwner | None = None  # None = the crawler could not be created

    def syntax(self) -> str:
        return "[options] <spider> [<sites or file>]"

    def long_desc(self) -> str:
        others = [f"{one.name} takes a file {one.file}" for one in missions().values() if one.argument != "hosts"]
        files = f"{', '.join(others)}. " if others else ""
        return (
            "Runs a crawl, or resumes an unfinished crawl of the same name. Sites are a file (hosts.txt) or hosts, "
            f"such as example.org; {files}Results are written to DATABASE_URL (crawl.sqlite) and RESULT_FOLDER."
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError(suggested(f"name one spider: {first_crawl('hosts.txt')}"))
        assert self.crawler_process is not None
        try:
            self.check_settings()
            crawler = self._crawler = self._crawler_of(args[0])
            opts.spargs |= _argument(crawler.spidercls, args[1:], opts.spargs)
            check_effects(crawler.settings, is_mission=issubclass(crawler.spidercls, SiteSpider))
            if crawler.settings.getint("WORKERS") > 1:
                from crawlers.cli.several_workers import check_workers, run_workers  # by processes of their own

                check_workers(crawler.settings, crawler.spidercls, opts)
                self.exitcode = run_workers(crawler.settings)
                return
        except ConfigError as error:
            self._report(error)
            return
        crawler.signals.connect(self._opened, signals.spider_opened)
        outcome: Any = self.crawler_process.crawl(crawler, **opts.spargs)
        if isinstance(outcome, Deferred):
            outcome.addErrback(self._failed)
        else:
            outcome.add_done_callback(self._done)
        self._let_it_open(outcome)
        self.crawler_process.start()
        failure = None if self._owner is None else self._owner.failure
        if isinstance(failure, CrawlEnded):
            logger.info("%s", failure)
        elif self._owner is not None and _may_pass(failure):
            self._begin_again(self._owner, crawler.settings)
        elif self._owner is not None and failure is not None:
            store_failed = isinstance(failure, StoreError)
            has_begun = self._owner.is_started or (store_failed and crawl_to_join() is not None)  # in another process
            if not self._report(failure) or has_begun:
                self._abort(store_failed=store_failed)
        elif self.crawler_process.bootstrap_failed and not self.exitcode:
            self.exitcode = 1
        elif self._owner is not None and self._owner.is_started:
            if not self._owner.crawl.is_closed:
                self.exitcode = 1  # a second Ctrl-C
            elif self._owner.crawl.has_ended and isinstance(crawler.spider, SiteSpider):
                self._check_reach(self._owner.crawl.session.row.id, crawler.settings)

    def _let_it_open(self, outcome: Any) -> None:
        """Keep the reactor until a crawl has closed that was opening when a signal came; see `Stopping`."""
        from twisted.internet import reactor

        is_open = Event()
        closed: Deferred[None] = Deferred()

        def end(result: Any) -> Any:
            closed.callback(None)
            return result

        if isinstance(outcome, Deferred):
            outcome.addBoth(end)
        else:
            outcome.add_done_callback(end)
        self._crawler.signals.connect(is_open.set, signals.engine_started, weak=False)
        reactor.addSystemEventTrigger(  # its interface is declared without self
            "before",
            "shutdown",  # type: ignore[arg-type]
            lambda: None if is_open.is_set() else closed,
        )

    def _begin_again(self, owner: CrawlOwner, settings: BaseSettings) -> None:
        from crawlers.cli.several_workers import begin_again, let_signals_end_the_process, wait_for_store
        from crawlers.extensions.stopping import parent_ended

        let_signals_end_the_process()
        logger.info("The same command begins again in this process as soon as the store can be reached")
        stopped = Event() if worker_place() is None else parent_ended()
        try:
            wait_for_store(settings.get("DATABASE_URL"), 20 * settings.getfloat("WORKER_DEADLINE_SECONDS"), stopped)
        except ConfigError as error:
            self._report(error)
            self._abort(store_failed=True)
        else:
            begin_again(owner.crawl.session.row.id if owner.is_started else crawl_to_join())

    def _abort(self, *, store_failed: bool) -> None:
        from crawlers.cli.several_workers import STORE_FAILED

        self.exitcode = STORE_FAILED if store_failed and worker_place() is not None else 1

    def _check_reach(self, crawl_id: int, settings: BaseSettings) -> None:
        from crawlers.store.database import Database

        try:
            with closing(Database(settings.get("DATABASE_URL"), create=False)) as database:
                check_reach(database, crawl_id, needs_all=settings.getbool("FAIL_ON_UNAVAILABLE"))
        except CrawlersError as error:
            self._report(error)
            self.exitcode = 3 if isinstance(error, UnreachedError) else 1

    def _crawler_of(self, spider: str) -> Crawler:
        assert self.crawler_process is not None
        try:
            return self._create_crawler(spider)
        except KeyError:
            known = ", ".join(sorted(self.crawler_process.spider_loader.list()))
            raise ConfigError(f"there is no spider {spider!r}; choose one of: {known}") from None

    def _opened(self) -> None:
        from crawlers.extensions.crawl_owner import CrawlOwner

        self._owner = self._crawler.get_extension(CrawlOwner)

    def _done(self, task: Any) -> None:
        if not task.cancelled() and (error := task.exception()) is not None and not self._report(error):
            logger.error("The crawl could not begin", exc_info=error)  # retrieved here, so that it is logged only once

    def _failed(self, failure: Failure) -> Failure | None:
        return None if failure.value and self._report(failure.value) else failure

    def _report(self, error: BaseException) -> bool:
        from crawlers.cli.faulty_component import faulty_component
        from crawlers.extensions.json_log import prints_for_people

        shown = error if isinstance(error, CrawlersError) else faulty_component(error, self._crawler.settings)
        if shown is None:
            return False
        message = suggested(str(shown))
        assert self.settings is not None
        if prints_for_people(self.settings):
            print(f"Error: {message}", file=sys.stderr)
        if self.settings.get("LOG_FILE") or not prints_for_people(self.settings):
            logger.error("%s", message)  # scrapyd shows this file, not standard error
        self.exitcode = 2
        return True


def _may_pass(failure: BaseException | None) -> bool:
    begins_again = crawl_to_join() is not None  # so the database could be opened before
    return isinstance(failure, PASSING) or (begins_again and isinstance(failure, StoreUnreachable))


def _argument(spider: type[Spider], words: Sequence[str], spargs: Mapping[str, str]) -> dict[str, str]:
    """Return the argument of *spider* that *words* behind its name give: sites, or a file. Raises `ConfigError`."""
    if not words:
        return {}
    if unknown := [word for word in words if word.startswith("-")]:
        raise ConfigError(f"unknown option {unknown[0]}; scrapy crawl --help shows the options")
    if not issubclass(spider, SiteSpider):
        raise ConfigError(f"unknown argument {words[0]}; arguments of {spider.name} are given with -a name=value")
    name = spider.arguments[0]
    if name in spargs:
        raise ConfigError(f"{name} is given twice: {words[0]} and -a {name}={spargs[name]}; leave out one")
    if name != "hosts" and len(words) > 1:
        raise ConfigError(f"expected one {name} file, got {len(words)}: {' '.join(words)}")
    return {name: ",".join(words)}
