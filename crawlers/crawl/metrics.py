"""The metrics of a worker for Prometheus: their names, how a snapshot becomes their values, and how it is taken.

Names follow https://prometheus.io/docs/practices/naming/: base units, and `_total` for what only grows. Labels have few
values, all known beforehand, because each value is a time series: no host, no URL, no text of a server. A crawl is
measured a little at a time: many sites or a large store must not hold it up.
"""

from __future__ import annotations

from asyncio import CancelledError
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from crawlers import __version__
from crawlers.errors import StoreError
from crawlers.frontier.values import RuleDecisions
from crawlers.items import State
from crawlers.reasons import ErrorClass
from crawlers.storage.queries import oldest_waiting
from crawlers.storage.worker_status import Wait
from crawlers.storage.writer import Commits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from prometheus_client.core import Metric as Family

    from crawlers.crawl.running_crawl import Crawl


LABELS = ("crawl", "worker")  # of all metrics, before their own
COUNTER, GAUGE, HISTOGRAM, SUMMARY = "counter", "gauge", "histogram", "summary"

LATENESS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # limits of buckets


class Lateness(NamedTuple):
    """How late a timer fired: how often within each limit of `LATENESS_S`, and beyond all; and the sum."""

    counts: tuple[int, ...] = (0,) * (len(LATENESS_S) + 1)
    seconds: float = 0.0

    def plus(self, late_s: float) -> Lateness:
        """Return these and one more of *late_s* >= 0."""
        bucket = bisect_left(LATENESS_S, late_s)
        counts = (*self.counts[:bucket], self.counts[bucket] + 1, *self.counts[bucket + 1 :])
        return Lateness(counts, self.seconds + late_s)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a worker at one moment; nobody changes it, so any thread may read it."""

    labels: tuple[str, ...]  # the values of `LABELS`
    mission: str
    version: str
    stats: Mapping[str, float] = field(default_factory=dict)  # those of docs/reference/stats.md that are counted yet
    leases: int = 0
    pages: Mapping[State, int] = field(default_factory=dict)  # of its sites; leased ones wait
    waits: Mapping[Wait, int] = field(default_factory=dict)  # numbers of sites
    rule_decisions: RuleDecisions = field(default_factory=RuleDecisions)
    lateness: Lateness = field(default_factory=Lateness)
    unwritten: int = 0  # change sets and jobs
    commits: Commits = field(default_factory=Commits)
    oldest_found_at: float | None = None  # seconds since 1970, of the URL that has waited longest


Values = dict[tuple[str, ...], float]  # by the values of the metric's own labels


class Metric(NamedTuple):
    """A metric: *values* of a snapshot at a time in seconds since 1970; the stats that are not counted yet are 0."""

    name: str  # with `_total`, and without `_bucket`, `_sum` and `_count`
    kind: str
    help: str
    labels: tuple[str, ...]
    values: Callable[[Snapshot, float], Values]


def _stat(name: str, stat: str, text: str) -> Metric:
    return Metric(name, COUNTER, text, (), lambda snapshot, now: {(): snapshot.stats.get(stat, 0)})


def _stats(name: str, label: str, stats: Mapping[str, str], text: str) -> Metric:
    """Return a counter of several *stats*, by the value of its *label*."""
    by_value = {(value,): stat for value, stat in stats.items()}
    return Metric(
        *(name, COUNTER, text, (label,)),
        lambda snapshot, now: {value: snapshot.stats.get(stat, 0) for value, stat in by_value.items()},
    )


PAGE_STATES = [*(state.name.lower() for state in State if state is not State.WAITING), "not_modified"]

METRICS = (
    Metric(
        "crawlers_worker_info",
        GAUGE,
        "1 while the worker runs; mission and version are labels.",
        ("mission", "version"),
        lambda snapshot, now: {(snapshot.mission, snapshot.version): 1},
    ),
    _stats(
        "crawlers_pages_total",
        "state",
        {state: f"pages/{state}" for state in PAGE_STATES},
        "Pages that ended, by state; not_modified are revisits that the server answered with 304.",
    ),
    _stat("crawlers_urls_found_total", "pages/found", "URLs that were first seen on pages of this worker."),
    _stat("crawlers_retries_total", "pages/retried", "Responses and failures after which the URL was queued again."),
    _stats(
        "crawlers_errors_total",
        "reason",
        {kind: f"errors/{kind}" for kind in ErrorClass},
        "Downloads that were refused or failed, those that are retried included, by the class of the reason.",
    ),
    _stat("crawlers_robots_errors_total", "robots/failed", "robots.txt files that could not be read."),
    _stat("crawlers_received_bytes_total", "downloader/response_bytes", "Bytes of responses, as transferred."),
    _stat("crawlers_sent_bytes_total", "downloader/request_bytes", "Bytes of requests."),
    _stat("crawlers_requests_total", "downloader/request_count", "Requests, those for robots.txt included."),
    _stat("crawlers_reward_total", "harvest/reward", "Rewards of pages, by REWARD; 0 if the mission counts none."),
    _stats(
        "crawlers_documents_total",
        "outcome",
        {"new": "news/documents", "changed": "news/changed", "duplicate": "news/duplicates"},
        "Articles of a news crawl.",
    ),
    Metric(
        "crawlers_urls",
        GAUGE,
        "URLs of the sites of this worker, by state; leased ones are in flight.",
        ("state",),
        lambda snapshot, now: _urls(snapshot),
    ),
    Metric(
        "crawlers_sites",
        GAUGE,
        "Sites of this worker, by what their next download waits for.",
        ("waits_for",),
        lambda snapshot, now: {(wait.name.lower(),): snapshot.waits.get(wait, 0) for wait in Wait},
    ),
    Metric(
        "crawlers_oldest_waiting_url_age_seconds",
        GAUGE,
        "Age of the URL of the crawl that has waited longest since it was found; missing if none waits.",
        (),
        lambda snapshot, now: (
            {} if snapshot.oldest_found_at is None else {(): max(0.0, now - snapshot.oldest_found_at)}
        ),
    ),
    Metric(
        "crawlers_rule_decisions_total",
        COUNTER,
        "Times that the site rule was asked for a site, by outcome.",
        ("outcome",),
        lambda snapshot, now: {(name,): number for name, number in snapshot.rule_decisions._asdict().items()},
    ),
    Metric(
        "crawlers_reactor_lateness_seconds",
        HISTOGRAM,
        "How late a timer of 0.1 s fires: so long a computation kept the worker from its downloads.",
        (),
        lambda snapshot, now: _lateness(snapshot.lateness),
    ),
    Metric(
        "crawlers_writer_queue_changes",
        GAUGE,
        "Change sets that are submitted to the writer and not committed; a page is one.",
        (),
        lambda snapshot, now: {(): snapshot.unwritten},
    ),
    Metric(
        "crawlers_commit_seconds",
        SUMMARY,
        "Durations of the writer's transactions: their number and sum.",
        (),
        lambda snapshot, now: {("count",): snapshot.commits.number, ("sum",): snapshot.commits.seconds},
    ),
    Metric(
        "crawlers_last_commit_seconds",
        GAUGE,
        "Duration of the writer's last transaction.",
        (),
        lambda snapshot, now: {(): snapshot.commits.last_s},
    ),
)


def _urls(snapshot: Snapshot) -> Values:
    pages: Values = {(state.name.lower(),): snapshot.pages.get(state, 0) for state in State}
    waiting = max(0, snapshot.pages.get(State.WAITING, 0) - snapshot.leases)  # the sum is older than the leases
    return {**pages, ("waiting",): waiting, ("leased",): snapshot.leases}


def _lateness(lateness: Lateness) -> Values:
    limits = (*map(str, LATENESS_S), "+Inf")
    counts: Values = {(le,): number for le, number in zip(limits, accumulate(lateness.counts), strict=True)}
    return {**counts, ("sum",): lateness.seconds}


class SnapshotCollector(Collector):
    """Collects the metrics of the snapshot that *last* returns; none if it is None. *clock*: seconds since 1970."""

    def __init__(self, last: Callable[[], Snapshot | None], clock: Callable[[], float]) -> None:
        self._last = last
        self._clock = clock

    def collect(self) -> Iterator[Family]:
        snapshot = self._last()
        if snapshot is not None:
            yield from families(snapshot, self._clock())


def families(snapshot: Snapshot, now: float) -> Iterator[Family]:
    """Yield the metrics with the values of *snapshot*, *now* in seconds since 1970."""
    for metric in METRICS:
        values = metric.values(snapshot, now)
        if metric.kind == SUMMARY:
            summary = SummaryMetricFamily(metric.name, metric.help, labels=LABELS)
            summary.add_metric(snapshot.labels, int(values["count",]), values["sum",])
            yield summary
        elif metric.kind == HISTOGRAM:
            histogram = HistogramMetricFamily(metric.name, metric.help, labels=LABELS)
            buckets = [(le, value) for (le,), value in values.items() if le != "sum"]
            histogram.add_metric(snapshot.labels, buckets, values["sum",])
            yield histogram
        else:
            kind = CounterMetricFamily if metric.kind == COUNTER else GaugeMetricFamily
            family = kind(metric.name, metric.help, labels=(*LABELS, *metric.labels))
            for own, value in values.items():
                family.add_metric((*snapshot.labels, *own), value)
            yield family


LOOK_S = 1.0  # between two readings of the numbers that are at hand
SUM_S = 10.0  # between two counts of the pages of all sites
QUERY_S = 30.0  # between two queries of the store
PAUSE_FACTOR = 50  # the pause between two counts or queries, at least, as a multiple of the duration of the last one
# Beginnings of the names of stats that are read.
STATS = ("pages/", "errors/", "robots/", "downloader/", "harvest/", "news/")


class Measuring:
    """Keeps a *snapshot* of *crawl*, which is the only thing that other threads may see.

    *stats* returns the stats of the run; *timer* the seconds of any monotonic clock.
    """

    def __init__(
        self, crawl: Crawl, mission: str, stats: Callable[[], Mapping[str, Any]], timer: Callable[[], float]
    ) -> None:
        self._crawl = crawl
        self._stats = stats
        self._timer = timer
        self._look_at = self._sum_at = self._query_at = float("-inf")  # the next times
        self._is_querying = False
        self.snapshot = Snapshot((crawl.session.name, str(crawl.session.row.worker_id)), mission, __version__)
        self._work()

    def step(self, late_s: float) -> None:
        """Record how late it is, and do a part of the work; to be called often."""
        self.snapshot = replace(self.snapshot, lateness=self.snapshot.lateness.plus(late_s))
        self._work()

    def _work(self) -> None:
        now = self._timer()
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            self._look()
        if now >= self._sum_at:
            self.snapshot = replace(self.snapshot, pages=self._crawl.frontier.page_counts())
            ended = self._timer()
            self._sum_at = ended + max(SUM_S, PAUSE_FACTOR * (ended - now))

    def _look(self) -> None:
        """Read the numbers that are at hand."""
        writer, frontier = self._crawl.session.writer, self._crawl.frontier
        self.snapshot = replace(
            self.snapshot,
            stats={name: value for name, value in self._stats().items() if name.startswith(STATS)},
            leases=frontier.leases,
            waits=frontier.schedule.waits.counts(),
            rule_decisions=frontier.schedule.rule_decisions,
            unwritten=writer.submitted - writer.committed,
            commits=writer.commits,
        )

    @property
    def needs_query(self) -> bool:
        """Whether it is time for `query`."""
        return not self._is_querying and self._timer() >= self._query_at and not self._crawl.is_closed

    async def query(self) -> None:
        """Query the store in another thread; a store that can't be read is the business of the crawl."""
        session, began = self._crawl.session, self._timer()
        self._is_querying = True
        try:
            found_at = await session.reader.run(partial(oldest_waiting, session.database, session.row.id))
            self.snapshot = replace(self.snapshot, oldest_found_at=found_at)
        except (StoreError, CancelledError):  # the latter by the end of the crawl
            self.snapshot = replace(self.snapshot, oldest_found_at=None)
        finally:
            ended = self._timer()
            self._query_at = ended + max(QUERY_S, PAUSE_FACTOR * (ended - began))
            self._is_querying = False
