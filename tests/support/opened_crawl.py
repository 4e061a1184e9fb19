"""A crawl with a real store, but without Scrapy's engine: tests set the clock, and give the results of fetches."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from scrapy import Spider
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from crawlers import settings as defaults
from crawlers.algorithms.urls.resolution import resolve
from crawlers.crawl.control import CrawlControl
from crawlers.crawl.policy import CrawlPolicy
from crawlers.crawl.running_crawl import Crawl
from crawlers.crawl.site_policies import RobotsNeeded
from crawlers.crawl.spec import CrawlSpec
from crawlers.extensions.crawl_owner import CrawlOwner
from crawlers.extensions.pending_callbacks import PendingCallbacks
from crawlers.frontier.values import Lease
from crawlers.inputs.crawl_command import CrawlCommand, CrawlOrigin
from crawlers.items import Page, SiteLimits, State
from crawlers.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from crawlers.crawl.session import CrawlSession
    from crawlers.items import Target

ORIGIN = CrawlOrigin({}, CrawlCommand("test", {}, {}))
SITE, NOW = "http://a.test", 1e9
QUICK = {
    "COMMON_LOG_FILE": "",
    "ERROR_LOG_FILE": "",
    "ROBOTSTXT_OBEY": False,
    "ROBOTS_REST_SECONDS": 0,
    "SITE_DELAY_SECONDS": 0.0,
    "STORE_BATCH_SECONDS": 0.001,
    "WORKER_DEADLINE_SECONDS": 1e9,  # tests set the clock forward, and have no rounds
}


def project_settings(**values: object) -> Settings:
    """Return the project's settings with *values*."""
    settings = Settings()
    settings.setmodule(defaults)
    settings.update(values, priority="cmdline")
    return settings


def quick_settings(url: str, **settings: object) -> Settings:
    """Return the project's settings for the store *url*, without logs, delays and robots.txt."""
    return project_settings(**{**QUICK, "DATABASE_URL": url, **settings})


def crawler_of(url: str, spider: type[Spider] = Spider, **settings: object) -> Crawler:
    """Return a crawler for the store *url*, without an engine, with the extensions that a crawl requires."""
    own = {
        "ADDONS": {},
        "EXTENSIONS": {CrawlOwner: 0, PendingCallbacks: 0},
        "EXTENSIONS_BASE": {},
        "TWISTED_REACTOR_ENABLED": False,
    }
    return get_crawler(spider, {**quick_settings(url).copy_to_dict(), **own, **settings})


def target(path: str) -> Target:
    return resolve(SITE, path)


class OpenedCrawl:
    """A crawl of `SITE` in the store *url*, and the counter of its stats. *mission* has fields of its specification.

    *policy* is the policy of the crawl, or creates it when the store is open.
    """

    def __init__(
        self,
        url: str,
        policy: CrawlPolicy | Callable[[CrawlSession], CrawlPolicy] | None = None,
        mission: dict[str, Any] | None = None,
        now: float = NOW,
        **settings: object,
    ) -> None:
        self.url = url
        self.now = now
        self.stats: Counter[str] = Counter()
        self.stopped: list[str] = []  # the reasons
        self.wakes = 0

        def open_policy(session: CrawlSession) -> CrawlPolicy:
            return policy(session) if callable(policy) else policy or CrawlPolicy()

        spec = CrawlSpec("test", **{"sites": [SiteLimits(SITE)], **(mission or {})})
        values = quick_settings(url, **settings)
        clock = lambda: self.now  # noqa: E731
        self.crawl = Crawl(
            *(values, spec, open_policy, self.inc_value, clock, CrawlControl(self.stopped.append, self._wake)),
            origin=ORIGIN,
        )

    def inc_value(self, key: str, count: int = 1) -> None:
        self.stats[key] += count

    def _wake(self) -> None:
        self.wakes += 1

    def round(self) -> None:
        """Exchange with the other workers of the crawl, and open the sites that this one has claimed."""
        asyncio.run(self.crawl.round())

    def lease(self) -> Lease:
        """Return the next lease; fail if there is none."""
        lease = self.crawl.next(self.now)
        assert isinstance(lease, Lease)
        return lease

    def leases(self) -> list[Lease]:
        """Return everything that may be leased now."""
        found = []
        while isinstance(lease := self.crawl.next(self.now), Lease):
            found.append(lease)
        return found

    def robots(self) -> RobotsNeeded:
        """Return the next site whose robots.txt is needed; fail if there is none."""
        needed = self.crawl.next(self.now)
        assert isinstance(needed, RobotsNeeded)
        return needed

    def end(self, lease: Lease, *links: str, state: State = State.DONE, status: int = 200, **more: Any) -> Page:
        """Record the page of *lease* with internal *links*; return it as it was stored."""
        found = [(target(path), 1) for path in links]
        return self.crawl.recording.record(Page(lease.id, lease.url, lease.level, state, status, links=found, **more))

    def fail(self, lease: Lease, reason: str = "timeout", **more: Any) -> Page:
        """Record a transient failure of *lease*."""
        return self.end(lease, state=State.FAILED, is_transient=True, reason=reason, **{"status": 0, **more})

    def close(self, *outputs: Callable[[], None], reason: str = "finished") -> None:
        self.crawl.close(reason, outputs)

    def kill(self) -> None:
        """Commit what was recorded, and leave everything else as a kill does."""
        self.crawl.session.close_all()

    # The store --------------------------------------------------------------------------------------

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return committed rows; also of a closed crawl."""
        if not self.crawl.session.writer.is_closed:
            self.crawl.session.writer.flush()
        database = Database(self.url)
        try:
            with database.read() as connection:
                return [tuple(row) for row in connection.exec_driver_sql(statement)]
        finally:
            database.close()

    def pages(self) -> dict[str, tuple[State, str]]:
        """Return state and reason of every page, by path."""
        found = self.rows("SELECT url, state, reason FROM page")
        return {url.removeprefix(SITE): (State(state), reason or "") for url, state, reason in found}

    def levels(self) -> dict[str, int]:
        """Return the level of every page, by path."""
        return {url.removeprefix(SITE): level for url, level in self.rows("SELECT url, level FROM page")}

    def states(self) -> list[tuple[str, str]]:
        """Return state and reason of every crawl."""
        return [(state, reason) for state, reason in self.rows("SELECT state, reason FROM crawl ORDER BY id")]


def rounds(*crawls: OpenedCrawl, number: int = 3) -> None:
    """Let each of the crawls exchange with the others several times."""
    for _ in range(number):
        for crawl in crawls:
            crawl.round()
