"""Owns the running crawl: all other components get it by `owner_of(crawler).crawl`.

It has its rounds with its other workers by the store, about every second, until it is closed. A crawl whose store is
lost notices it there, also while no page arrives whose storage would fail.
"""

from __future__ import annotations

import logging
import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from scrapy import signals
from scrapy.exceptions import CloseSpider, DontCloseSpider
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import deferred_from_coro

from crawlers.crawl.control import CrawlControl, ForwardClock
from crawlers.crawl.running_crawl import Crawl
from crawlers.crawl.spec import CrawlSpec
from crawlers.errors import ConfigError, CrawlEnded, CrawlersError, FrontierError
from crawlers.extensions.quiet_scrapy import mark_lines
from crawlers.inputs.program import CrawlCommand, CrawlOrigin, crawl_to_join, worker_place
from crawlers.options import OFFERED
from crawlers.options.kinds import typed
from crawlers.reasons import Reason
from crawlers.spiders.base import SiteSpider
from crawlers.store.reading.crawl_settings import claimed_folder
from crawlers.store.reading.queries import NamedCrawl, crawl_numbered
from crawlers.urls.domains import version_in_use

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.spiders import Spider

    from crawlers.store.database import Database


logger = logging.getLogger(__name__)
WORKERS = "WORKERS"
CRAWL_OPENED = object()  # the signal that a crawl has begun, its argument *crawl*
# Results may depend on their versions: they download, read URLs, pages and feeds, and compute.
LIBRARIES = (
    *("Scrapy", "Twisted", "pycurl", "SQLAlchemy", "selectolax", "can_ada", "xxhash", "protego", "w3lib"),
    *("webencodings", "charset-normalizer", "google-re2", "snowballstemmer", "feedparser", "lxml"),
    *("htmldate", "networkx", "numpy", "scipy", "crategraph-forceatlas2", "zlib-ng"),
)
# Whoever runs the command again has these of its own; what the file says is among the other settings.
OF_THE_RUN = ("CRAWL", "DATABASE_URL", "LOG_ENABLED", "LOG_FILE", "SETTINGS_FILE")

_VERSION = re.compile(r"^Version: *(.+)", re.MULTILINE)

E = TypeVar("E")


class CrawlOwner:
    """Opens the crawl of a spider for the scheduler, and closes it after all its outputs are written."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._crawl: Crawl | None = None
        self._failure: BaseException | None = None
        self.outputs: list[Callable[[], None]] = []  # see `add_output`
        self.files: list[Path] = []  # that the outputs wrote
        self._folder: Path | None = None  # see `result_folder`

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        owner = cls(crawler)
        crawler.signals.connect(owner._spider_opened, signals.spider_opened)
        crawler.signals.connect(owner._spider_idle, signals.spider_idle)
        return owner

    @property
    def crawl(self) -> Crawl:
        """The crawl, from the start of the scheduler on. Raises `FrontierError` if it could not begin."""
        if self._crawl is None:
            raise FrontierError("no crawl is open; SCHEDULER must be crawlers.schedulers.adaptive.AdaptiveScheduler")
        return self._crawl

    @property
    def is_started(self) -> bool:
        """Whether the crawl could begin."""
        return self._crawl is not None

    @property
    def failure(self) -> BaseException | None:
        """Why the crawl could not begin, or ended early; None: it was not aborted."""
        return self._failure if self._crawl is None else self._crawl.control.failure

    @property
    def joined_as(self) -> int | None:
        """The number of this worker if it joined others, or begins again, so that it has files of its own."""
        if self._crawl is None or not (self._crawl.has_joined or crawl_to_join() is not None):
            return None
        return self._crawl.session.row.worker_id

    def open(self, spider: Spider, wake: Callable[[], None]) -> Crawl | None:
        """Open the crawl of *spider*; None if it can't begin. *wake* lets the engine ask the scheduler again."""
        settings, stats = self._crawler.settings, self._crawler.stats
        assert stats is not None
        try:
            self._crawl = Crawl(
                settings,
                _spec_of(spider),
                stats.inc_value,
                ForwardClock(),
                CrawlControl(self._stop, wake),
                _origin(spider),
            )
            if isinstance(spider, SiteSpider):
                spider.run, spider.control = self._crawl.mission, self._crawl.control
        # If an error were raised here, Scrapy would close parts that were never opened.
        except CrawlersError as error:
            self._failure = error
            if isinstance(error, CrawlEnded) and worker_place() is not None:
                logging.disable(logging.INFO)  # the log of the command has shown the end of the crawl already
        except Exception as error:
            logger.exception("Internal error")
            self._failure = FrontierError(
                f"the crawl can't begin: {type(error).__name__} {error}; correct the spider, or please report it"
            )
        return self._crawl

    def result_folder(self) -> Path:
        """Return the folder to which the outputs write; from now on, crawls of other names keep out of it.

        Only outputs may ask for it: the writer of the crawl is closed before them. Raises `StoreError`.
        """
        if self._folder is None:
            settings, session = self._crawler.settings, self.crawl.session
            wanted, is_own = Path(settings.get("RESULT_FOLDER")), settings.getbool("RESULT_FOLDER_PER_CRAWL")
            self._folder = claimed_folder(session.database, session.row.id, wanted, is_own=is_own)
            if self._folder != wanted and not is_own:
                logger.info("%s has files of another crawl; those of %s are in %s", wanted, session.name, self._folder)
        return self._folder

    def close(self, reason: str) -> None:
        """Close the crawl, if it could begin."""
        if self._crawl is not None:
            self._crawl.close(reason, self.outputs)

    def _stop(self, reason: str) -> None:
        deferred_from_coro(self._crawler.engine.close_spider_async(reason=str(reason)))

    def _spider_opened(self, spider: Spider) -> None:
        if self._crawl is None and self._failure is None and isinstance(spider, SiteSpider):
            self._failure = ConfigError(
                f"SCHEDULER={self._crawler.settings.get('SCHEDULER')}: scrapy crawl {spider.name} needs that of this "
                "project; remove the setting"
            )
        if self._failure is not None:
            raise CloseSpider(str(Reason.COULD_NOT_BEGIN))
        if self._crawl is not None:
            if worker_place() is not None:
                mark_lines(self._crawl.session.row.worker_id)
            begin_rounds(self._crawler, self._crawl)
            self._crawler.signals.send_catch_log(CRAWL_OPENED, crawl=self._crawl)

    def _spider_idle(self) -> None:
        if self._crawl is None:
            return
        if self._crawl.fail_for_lost_pages():
            raise CloseSpider(str(Reason.LOST_PAGES))
        if self._crawl.is_budget_exhausted:
            raise CloseSpider(str(Reason.PAGE_BUDGET))
        if self._crawl.leasing.has_unsettled_levels:
            deferred_from_coro(self._crawl.leasing.correct_levels())
            raise DontCloseSpider


def owner_of(crawler: Crawler) -> CrawlOwner:
    """Return the owner of the crawl of *crawler*; raises `ConfigError` if EXTENSIONS switches it off."""
    return required_extension(crawler, CrawlOwner)


def repeat(crawler: Crawler, call: Callable[[], object], interval_s: float, *, now: bool = True) -> None:
    """Call *call* in the event loop every *interval_s* seconds, until the spider of *crawler* is closed."""
    loop = create_looping_call(call)
    loop.start(interval_s, now=now)

    def stop() -> None:
        if loop.running:
            loop.stop()

    crawler.signals.connect(stop, signals.spider_closed, weak=False)


def add_output(crawler: Crawler, write: Callable[[Database, NamedCrawl], Iterable[Path]]) -> None:
    """Let *write* be called at the end of the crawl of *crawler*, when everything is committed; it returns the files.

    If *write* fails, its error is reported, and the crawl is not finished: the same command continues it.
    """

    def add() -> None:
        owner_of(crawler).outputs.append(write_now)

    def write_now() -> None:
        session = owner_of(crawler).crawl.session
        crawl = crawl_numbered(session.database, session.row.id)
        assert crawl is not None
        owner_of(crawler).files.extend(write(session.database, crawl))

    crawler.signals.connect(add, signals.spider_opened, weak=False)


def required_extension(crawler: Crawler, extension: type[E]) -> E:
    """Return the *extension* of *crawler*; raises `ConfigError` if EXTENSIONS switches it off."""
    found = crawler.get_extension(extension)
    if found is None:
        raise ConfigError(f"EXTENSIONS switches off {extension.__module__}.{extension.__name__}; switch it on again")
    return found


def _spec_of(spider: Spider) -> CrawlSpec:
    if isinstance(spider, SiteSpider):
        return spider.spec
    return CrawlSpec(spider.name, page_budget=spider.settings.getint("PAGE_BUDGET"), is_foreign=True)


def _origin(spider: Spider) -> CrawlOrigin:
    settings, place = spider.settings, worker_place()
    versions = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):  # a library that was copied instead of installed
            # `version(name)` parses the whole file, and the README in it.
            found = _VERSION.search(distribution(name).read_text("METADATA") or "")
            versions[name.lower()] = found[1] if found is not None else "unknown"
    versions["public_suffix_list"] = version_in_use()
    in_force = {name: settings.get(name) for name in OFFERED}
    by_spider = [name for name in in_force if settings.getpriority(name) == SETTINGS_PRIORITIES["spider"]]
    workers = place.workers if place is not None else 1
    return CrawlOrigin(versions, _command(spider, workers), in_force, by_spider, workers, crawl_to_join())


def _command(spider: Spider, workers: int) -> CrawlCommand:
    """Return the command that runs the crawl of *spider*, with those of its settings that people may choose.

    Values of others may be secrets, or belong to the machine: their names are enough to tell that they are not kept.
    """
    settings, names = spider.settings, spider.arguments if isinstance(spider, SiteSpider) else ()
    arguments = {name: str(vars(spider)[name]) for name in names if vars(spider).get(name)}
    typed_names = [name for name in settings if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]]
    given = {name: typed(settings.get(name)) for name in OFFERED if name in typed_names and name != WORKERS}
    left_out = sorted({*typed_names} - {*OFFERED, *OF_THE_RUN})
    return CrawlCommand(spider.name, arguments, given | ({WORKERS: str(workers)} if workers > 1 else {}), left_out)


TICK_S = 0.1  # between two questions whether a round is due


def begin_rounds(crawler: Crawler, crawl: Crawl) -> None:
    """Let rounds of *crawl* begin until it is closed; one that takes longer is not repeated meanwhile."""
    has_run = False  # the engine

    def begin() -> None:
        nonlocal has_run
        is_running = crawler.engine.running
        has_run = has_run or is_running
        if crawl.session.claims.is_due:
            # A crawl that stops waits for its downloads, and is one of the workers until then.
            deferred_from_coro(crawl.round(is_stopping=has_run and not is_running))

    repeat(crawler, begin, TICK_S, now=crawl.has_joined)
