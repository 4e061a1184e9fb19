"""A crawl with a real store, but without Scrapy's engine: tests set the clock, and give the results of fetches."""

import asyncio
from collections import Counter

from scrapy import Spider
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from crawlers import settings as defaults
from crawlers.crawl.control import CrawlControl
from crawlers.crawl.running_crawl import Crawl
from crawlers.crawl.site_files import RobotsNeeded
from crawlers.crawl.spec import CrawlSpec
from crawlers.extensions.crawl_owner import CrawlOwner
from crawlers.extensions.pending_callbacks import PendingCallbacks
from crawlers.frontier.values import Lease
from crawlers.inputs.program import CrawlCommand, CrawlOrigin
from crawlers.items import Page, SiteLimits, State
from crawlers.store.database import Database
from crawlers.urls.resolution import resolve

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


def project_settings(**values):
    """Return the project's settings with *values*."""
    settings = Settings()
    settings.setmodule(defaults)
    settings.update(values, priority="cmdline")
    return settings


def quick_settings(url, **settings):
    """Return the project's settings for the store *url*, without logs, delays and robots.txt."""
    return project_settings(**{**QUICK, "DATABASE_URL": url, **settings})


def crawler_of(url, spider=Spider, **settings):
    """Return a crawler for the store *url*, without an engine, with the extensions that a crawl requires."""
    own = {
        "ADDONS": {},
        "EXTENSIONS": {CrawlOwner: 0, PendingCallbacks: 0},
        "EXTENSIONS_BASE": {},
        "TWISTED_REACTOR_ENABLED": False,
    }
    return get_crawler(spider, {**quick_settings(url).copy_to_dict(), **own, **settings})


def target(path):
    return resolve(SITE, path)


class OpenedCrawl:
    """A crawl of `SITE` in the store *url*, and the counter of its stats. *mission* has fields of its specification.

    *run* is that of its mission, or opens it when the store is open.
    """

    def __init__(self, url, run=None, mission=None, now=NOW, **settings):
        self.url = url
        self.now = now
        self.stats = Counter()
        self.stopped = []  # the reasons
        self.wakes = 0

        opened = {} if run is None else {"open": run if callable(run) else lambda session: run}
        spec = CrawlSpec("test", **{"sites": [SiteLimits(SITE)], **opened, **(mission or {})})
        values = quick_settings(url, **settings)
        clock = lambda: self.now  # noqa: E731
        control = CrawlControl(self.stopped.append, self._wake)
        self.crawl = Crawl(values, spec, self.inc_value, clock, control, ORIGIN)

    def inc_value(self, key, count=1):
        self.stats[key] += count

    def _wake(self):
        self.wakes += 1

    def round(self):
        """Exchange with the other workers of the crawl, and open the sites that this one has claimed."""
        asyncio.run(self.crawl.round())

    def share(self):
        """Share the crawl, as if others had joined; return the claims."""
        self.crawl._share()
        return self.crawl.session.claims

    def lease(self):
        """Return the next lease; fail if there is none."""
        lease = self.crawl.leasing.next(self.now)
        assert isinstance(lease, Lease)
        return lease

    def leases(self):
        """Return everything that may be leased now."""
        found = []
        while isinstance(lease := self.crawl.leasing.next(self.now), Lease):
            found.append(lease)
        return found

    def robots(self):
        """Return the next site whose robots.txt is needed; fail if there is none."""
        needed = self.crawl.leasing.next(self.now)
        assert isinstance(needed, RobotsNeeded)
        return needed

    def end(self, lease, *links, state=State.DONE, status=200, **more):
        """Record the page of *lease* with internal *links*; return it as it was stored."""
        found = [(target(path), 1) for path in links]
        return self.crawl.recording.record(Page(lease.id, lease.url, lease.level, state, status, links=found, **more))

    def fail(self, lease, reason="timeout", **more):
        """Record a transient failure of *lease*."""
        return self.end(lease, state=State.FAILED, is_transient=True, reason=reason, **{"status": 0, **more})

    def close(self, *outputs, reason="finished"):
        self.crawl.close(reason, outputs)

    def kill(self):
        """Commit what was recorded, and leave everything else as a kill does."""
        self.crawl.session.close_all()

    # The store --------------------------------------------------------------------------------------

    def rows(self, statement):
        """Return committed rows; also of a closed crawl."""
        if not self.crawl.session.writer.is_closed:
            self.crawl.session.writer.flush()
        database = Database(self.url)
        try:
            with database.read() as connection:
                return [tuple(row) for row in connection.exec_driver_sql(statement)]
        finally:
            database.close()

    def pages(self):
        """Return state and reason of every page, by path."""
        found = self.rows("SELECT url, state, reason FROM page")
        return {url.removeprefix(SITE): (State(state), reason or "") for url, state, reason in found}

    def levels(self):
        """Return the level of every page, by path."""
        return {url.removeprefix(SITE): level for url, level in self.rows("SELECT url, level FROM page")}

    def states(self):
        """Return state and reason of every crawl."""
        return [(state, reason) for state, reason in self.rows("SELECT state, reason FROM crawl ORDER BY id")]


def rounds(*crawls, number=3):
    """Let each of the crawls exchange with the others several times."""
    for _ in range(number):
        for crawl in crawls:
            crawl.round()
