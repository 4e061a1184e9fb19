"""The metrics of a worker for Prometheus, and how they are taken from its crawl.

Names follow https://prometheus.io/docs/practices/naming/: base units, and `_total` for what only grows. Labels have few
values, all known beforehand, because each value is a time series: no host, no URL, no text of a server. A crawl is
measured a little at a time: many sites or a large store must not hold it up. The thread that serves metrics sees those
of the last reading.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from prometheus_client import Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy import text

from crawlers import __version__
from crawlers.errors import StoreError
from crawlers.items import State
from crawlers.mission import missions
from crawlers.reasons import ErrorClass
from crawlers.store.worker_rows import Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from prometheus_client.core import Metric

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.store.database import Database

LABELS = ("crawl", "worker")  # of all metrics, before their own
LATENESS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # limits of buckets
PAGE_STATES = [*(state.name.lower() for state in State if state is not State.WAITING), "not_modified"]
COUNTERS = (  # their stats and texts
    ("crawlers_urls_found_total", "pages/found", "URLs that were first seen on pages of this worker."),
    ("crawlers_retries_total", "pages/retried", "Responses and failures after which the URL was queued again."),
    ("crawlers_robots_errors_total", "robots/failed", "robots.txt files that could not be read."),
    ("crawlers_received_bytes_total", "downloader/response_bytes", "Bytes of responses, as transferred."),
    ("crawlers_sent_bytes_total", "downloader/request_bytes", "Bytes of requests."),
    ("crawlers_requests_total", "downloader/request_count", "Requests, those for robots.txt included."),
    ("crawlers_reward_total", "harvest/reward", "Rewards of pages, by REWARD; 0 if the mission counts none."),
)

LOOK_S = 1.0  # between two readings of the numbers that are at hand
SUM_S = 10.0  # between two counts of the pages of all sites
QUERY_S = 30.0  # between two queries of the store
PAUSE_FACTOR = 50  # the pause between two counts or queries, at least, as a multiple of the duration of the last one
# Of each site and priority, the lowest page number in the index page_waiting is that of the URL that was
# found first: there are few of these, however many URLs wait.
_FIRST = f"""
    SELECT q.id FROM page AS q WHERE q.state = {int(State.WAITING)} AND q.site_id = {{site}} {{after}}
    ORDER BY q.priority, q.id LIMIT 1"""  # noqa: S608 - constants of ours
_OLDEST = f"""
    WITH RECURSIVE first (id) AS (
        SELECT ({_FIRST.format(site="s.id", after="")}) FROM site AS s WHERE s.crawl_id = :crawl
        UNION ALL
        SELECT ({_FIRST.format(site="p.site_id", after="AND q.priority > p.priority")})
        FROM first JOIN page AS p ON p.id = first.id
    )
    SELECT min(p.found_at) FROM first JOIN page AS p ON p.id = first.id"""  # noqa: S608


def oldest_waiting(database: Database, crawl_id: int) -> float | None:
    """Return the time, in seconds since 1970, at which the oldest waiting URL was found; None if none waits.

    Takes some look-ups of an index for each site and level. Raises `StoreError`.
    """
    found: float | None = database.scalar(text(_OLDEST), crawl=crawl_id)
    return found


class CrawlMetrics(Collector):
    """The metrics of *crawl*, as of the last reading; other threads see only this, which nobody changes.

    *stats* returns the stats of the run, see docs/reference/stats.md: those that are not counted yet are 0. *timer*
    returns the seconds of any monotonic clock.
    """

    def __init__(
        self, crawl: Crawl, mission: str, stats: Callable[[], Mapping[str, Any]], timer: Callable[[], float]
    ) -> None:
        self._crawl = crawl
        self._mission = mission
        self._stats = stats
        self._timer = timer
        self._labels = (crawl.session.name, str(crawl.session.row.worker_id))
        self._look_at = self._sum_at = self._query_at = float("-inf")  # the next times
        self._is_querying = False
        self._lateness = Histogram(
            "crawlers_reactor_lateness_seconds",
            "How late a timer of 0.1 s fires: so long a computation kept the worker from its downloads.",
            LABELS,
            registry=None,
            buckets=LATENESS_S,
        )
        self._late = self._lateness.labels(*self._labels)
        self._pages: Counter[State] = Counter()  # of the sites of this worker; leased ones wait
        self._oldest_found_at: float | None = None  # seconds since 1970, of the URL that has waited longest
        self._work()

    def collect(self) -> Iterator[Metric]:
        return iter(self._reading)

    def step(self, late_s: float) -> None:
        """Record that a timer fired *late_s* >= 0 too late, and do a part of the work; to be called often."""
        self._late.observe(late_s)
        self._work()

    def _work(self) -> None:
        now = self._timer()
        if now >= self._sum_at:
            self._pages = Counter()
            for site in self._crawl.frontier.schedule.sites.values():
                self._pages.update(site.counts)
            ended = self._timer()
            self._sum_at = ended + max(SUM_S, PAUSE_FACTOR * (ended - now))
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            self._reading = self._read()

    def _read(self) -> list[Metric]:
        """Return the numbers that are at hand."""
        writer, frontier, stats = self._crawl.session.writer, self._crawl.frontier, self._stats()
        pages, leases, commits, found_at = self._pages, len(frontier.leases), writer.commits, self._oldest_found_at
        waiting = max(0, pages[State.WAITING] - leases)  # the sum is older than the leases
        urls = {**{state.name.lower(): pages[state] for state in State}, "waiting": waiting, "leased": leases}
        waits = frontier.schedule.wait_counts()
        metric = self._metric
        info = GaugeMetricFamily(
            "crawlers_worker_info",
            "1 while the worker runs; mission and version are labels.",
            labels=(*LABELS, "mission", "version"),
        )
        info.add_metric((*self._labels, self._mission, __version__), 1)
        durations = SummaryMetricFamily(
            "crawlers_commit_seconds", "Durations of the writer's transactions: their number and sum.", labels=LABELS
        )
        durations.add_metric(self._labels, commits.number, commits.seconds)
        (lateness,) = self._lateness.collect()
        lateness.samples = [one for one in lateness.samples if not one.name.endswith("_created")]
        return [
            info,
            metric(
                "crawlers_pages_total",
                "Pages that ended, by state; not_modified are revisits that the server answered with 304.",
                {state: stats.get(f"pages/{state}", 0) for state in PAGE_STATES},
                "state",
            ),
            metric(
                "crawlers_errors_total",
                "Downloads that were refused or failed, those that are retried included, by the class of the reason.",
                {kind: stats.get(f"errors/{kind}", 0) for kind in ErrorClass},
                "reason",
            ),
            *(
                metric(name, text, {value: stats.get(stat, 0) for value, stat in found.items()}, label)
                for mission in missions().values()
                for name, text, label, found in mission.counters
            ),
            *(metric(name, text, {"": stats.get(stat, 0)}) for name, stat, text in COUNTERS),
            metric(
                "crawlers_urls", "URLs of the sites of this worker, by state; leased ones are in flight.", urls, "state"
            ),
            metric(
                "crawlers_sites",
                "Sites of this worker, by what their next download waits for.",
                {wait.name.lower(): waits.get(wait, 0) for wait in Wait},
                "waits_for",
            ),
            metric(
                "crawlers_oldest_waiting_url_age_seconds",
                "Age of the URL of the crawl that has waited longest since it was found; missing if none waits.",
                {} if found_at is None else {"": max(0.0, self._crawl.clock() - found_at)},
            ),
            metric(
                "crawlers_rule_decisions_total",
                "Times that the site rule was asked for a site, by outcome.",
                frontier.schedule.rule_decisions,
                "outcome",
            ),
            metric(
                "crawlers_writer_queue_changes",
                "Change sets that are submitted to the writer and not committed; a page is one.",
                {"": writer.submitted - writer.committed},
            ),
            metric("crawlers_last_commit_seconds", "Duration of the writer's last transaction.", {"": commits.last_s}),
            lateness,
            durations,
        ]

    def _metric(self, name: str, text: str, values: Mapping[str, float], label: str = "") -> Metric:
        """Return the counter or gauge with the *values* by those of its *label*, or its only value."""
        kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
        made = kind(name, text, labels=(*LABELS, label) if label else LABELS)
        for value, number in values.items():
            made.add_metric((*self._labels, value) if label else self._labels, number)
        return made

    @property
    def needs_query(self) -> bool:
        """Whether it is time for `query`."""
        return not self._is_querying and self._timer() >= self._query_at and not self._crawl.is_closed

    async def query(self) -> None:
        """Query the store in another thread; a store that can't be read is the business of the crawl."""
        session, began = self._crawl.session, self._timer()
        self._is_querying = True
        try:
            query = partial(oldest_waiting, session.database, session.row.id)
            self._oldest_found_at = await session.reader.run(query)
        except (StoreError, CancelledError):  # the latter by the end of the crawl
            self._oldest_found_at = None
        finally:
            ended = self._timer()
            self._query_at = ended + max(QUERY_S, PAUSE_FACTOR * (ended - began))
            self._is_querying = False
