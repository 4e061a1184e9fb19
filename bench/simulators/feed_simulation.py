"""Simulated feeds, and a crawler that polls them and fetches their items: how late is each item, which ones are lost?

Publications are a Poisson process with a rhythm of day and night. The requests of the crawler start at equal intervals
at best, and at a host not before its delay is over. What was found is fetched before anything is polled; of the feeds
that are due, first the one that would be due again soonest. What a feed had published before the beginning is known.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from crawlers.algorithms.news.poll_plan import PollPlan

HOUR, DAY = 3600.0, 86_400.0
POLL = -1
MEDIAN_PER_S, SPREAD = 3.0 / DAY, 1.7  # log-normal: some publish an item a month, some 20 an hour
RATES = (1.0 / (30 * DAY), 20.0 / HOUR)
SWING = 0.8  # at noon 1.8 times the mean rate, at night 0.2 times
DEAD, WAKING, FAILING = 0.05, 0.02, 0.02  # shares of the feeds
DATED = 0.8  # share of the feeds whose items bear a date
SHARED = 0.2  # roughly the share of the feeds whose host has several, up to
MAX_SHARED = 20


@dataclass(frozen=True, slots=True)
class Feed:
    """One feed and all that it publishes."""

    host: int
    delay_s: float  # of its host
    window: int  # items that it shows
    per_s: float  # its mean rate, once it is awake
    published: list[float]  # times, rising; those below 0 are known when the simulation begins
    is_dated: bool
    fails: tuple[float, float] = (math.inf, math.inf)  # from, until

    def outage(self, item: int, deadline_s: float) -> float:
        """The part of the time in which the feed showed *item*, up to its deadline, for which the feed failed."""
        since, behind = self.published[item], item + self.window
        until = min(since + deadline_s, self.published[behind] if behind < len(self.published) else math.inf)
        began, ended = self.fails
        return max(0.0, min(until, ended) - max(since, began)) / (until - since) if until > since else 1.0


def simulated_feeds(number: int, days: float, rng: random.Random, wake_s: float = DAY) -> list[Feed]:
    """Return that *number* of feeds, with the items of *days* and of the last window before them.

    A feed that wakes up takes *wake_s* until it publishes at its final rate.
    """
    feeds: list[Feed] = []
    host, left, delay_s = -1, 0, 0.0
    for _ in range(number):
        if not left:
            host += 1
            left = rng.randint(2, MAX_SHARED) if rng.random() < SHARED / (1 + MAX_SHARED / 2) else 1
            delay_s = rng.choice((1.0, 2.0, 5.0, 10.0))
        left -= 1
        feeds.append(_feed(host, delay_s, days * DAY, rng, wake_s))
    return feeds


def _feed(host: int, delay_s: float, end: float, rng: random.Random, wake_s: float) -> Feed:
    per_s = min(max(rng.lognormvariate(math.log(MEDIAN_PER_S), SPREAD), RATES[0]), RATES[1])
    window = rng.choice((10, 15, 20, 30, 50))
    phase = rng.random() * math.tau
    kind = rng.random()
    dies = rng.uniform(-60 * DAY, end) if kind < DEAD else math.inf
    wakes = rng.uniform(0.0, end / 2) if DEAD <= kind < DEAD + WAKING else -math.inf
    published: list[float] = []
    now = -(window + 5) / per_s if wakes < 0 else wakes
    while (now := now + rng.expovariate(per_s * (1 + SWING))) < min(end, dies):
        wish = (1 + SWING * math.sin(math.tau * now / DAY + phase)) * min(1.0, (now - wakes) / wake_s)
        if rng.random() * (1 + SWING) < wish:
            published.append(now)
    began = rng.uniform(DAY, end) if kind > 1 - FAILING else math.inf
    fails = (began, began + rng.uniform(2 * HOUR, 10 * HOUR))
    del published[: max(0, bisect_right(published, 0.0) - window)]
    return Feed(host, delay_s, window, per_s, published, rng.random() < DATED, fails)


class Poller(Protocol):
    """What decides when a feed is polled: its number, when its last poll ended, what it found."""

    def first(self, feed: int, host: int) -> float:
        """When it is polled first."""

    def ended(self, feed: int, now: float, new_items: int, shown: int, span_s: float | None) -> float:
        """When it is polled again."""

    def failed(self, feed: int, now: float, attempts: int) -> float:
        """When it is polled again after it failed."""


@dataclass(slots=True)
class Planned:
    """Polls as `PollPlan` says."""

    plan: PollPlan

    def first(self, feed: int, host: int) -> float:
        """When it is polled first."""
        return self.plan.add(feed, host, 0.0)

    def ended(self, feed: int, now: float, new_items: int, shown: int, span_s: float | None) -> float:
        """When it is polled again."""
        return self.plan.ended(feed, now, new_items, shown, span_s)

    def failed(self, feed: int, now: float, attempts: int) -> float:
        """When it is polled again after it failed."""
        return self.plan.failed(feed, now, attempts)


@dataclass(slots=True)
class Constant:
    """Polls each feed after an interval of its own that never changes; of one interval for all: round robin."""

    intervals_s: list[float]

    def first(self, feed: int, host: int) -> float:
        """When it is polled first: the feeds take turns."""
        return self.intervals_s[feed] * feed / len(self.intervals_s)

    def ended(self, feed: int, now: float, new_items: int, shown: int, span_s: float | None) -> float:
        """When it is polled again."""
        return now + self.intervals_s[feed]

    def failed(self, feed: int, now: float, attempts: int) -> float:
        """When it is polled again after it failed."""
        return now + self.intervals_s[feed]


@dataclass(slots=True)
class Outcome:
    """The results for the items."""

    delays_s: list[float] = field(default_factory=list)  # from publication until stored
    late: int = 0  # of these, those after the deadline
    lost: int = 0  # those that were never seen, or not until the end
    cut_off: int = 0  # of the late and lost ones, those for which the feed failed more than half of their time
    out_of_reach: int = 0  # neither stored nor counted above: the feed failed all the time
    requests: int = 0  # polls, and one for each item that was fetched


def poll_feeds(
    feeds: list[Feed],
    poller: Poller,
    requests_per_s: float,
    days: float,
    *,
    deadline_s: float,
    count_from_s: Sequence[float],
) -> list[Outcome]:
    """Poll *feeds* for *days*; return the results for the items published from each time of *count_from_s* to the next
    one. Those whose deadline is after the end don't count."""
    crawl, end = _Crawl(feeds, poller), days * DAY
    now = 0.0
    while now < end:
        next_at = crawl.request(now)
        now = max(now, next_at) if next_at is not None else now + 1.0 / requests_per_s
    outcomes = [Outcome(requests=crawl.requests) for _ in count_from_s]
    for outcome, period in zip(outcomes, pairwise([*count_from_s, end - deadline_s]), strict=True):
        for feed, stored in zip(feeds, crawl.stored, strict=True):
            _count(outcome, feed, stored, period, deadline_s)
    return outcomes


class _Crawl:
    """What waits, and what was done. A task is an item of a feed, or a poll of it: item `POLL`."""

    def __init__(self, feeds: list[Feed], poller: Poller) -> None:
        self._feeds, self._poller = feeds, poller
        self.stored: list[dict[int, float]] = [{} for _ in feeds]
        self.requests = 0
        self._known = [bisect_right(feed.published, 0.0) for feed in feeds]
        self._attempts = [0] * len(feeds)
        self._due = [(poller.first(number, feed.host), number, POLL) for number, feed in enumerate(feeds)]
        heapq.heapify(self._due)
        self._waiting: list[tuple[float, int, int]] = []  # due, but another one has its turn at the host
        self._free_at: dict[int, float] = {}  # of hosts
        self._items: deque[tuple[int, int]] = deque()
        self._polls: list[tuple[float, int]] = []  # with the time at which they would be due again
        self._intervals_s = [0.0] * len(feeds)

    def request(self, now: float) -> float | None:
        """Make the next request; where there is none, return when there will be."""
        self._take_turns(now)
        if self._items:
            number, item = self._items.popleft()
            self.stored[number][item] = now
        elif self._polls:
            self._poll(heapq.heappop(self._polls)[1], now)
        else:
            return min(queue[0][0] for queue in (self._due, self._waiting) if queue)
        self.requests += 1
        return None

    def _take_turns(self, now: float) -> None:
        while self._due and self._due[0][0] <= now:
            at, number, item = heapq.heappop(self._due)
            feed = self._feeds[number]
            turn = max(at, self._free_at.get(feed.host, 0.0))
            self._free_at[feed.host] = turn + feed.delay_s
            heapq.heappush(self._waiting, (turn, number, item))
        while self._waiting and self._waiting[0][0] <= now:
            turn, number, item = heapq.heappop(self._waiting)
            if item == POLL:
                heapq.heappush(self._polls, (turn + self._intervals_s[number], number))
            else:
                self._items.append((number, item))

    def _poll(self, number: int, now: float) -> None:
        feed = self._feeds[number]
        if feed.fails[0] <= now < feed.fails[1]:
            self._attempts[number] += 1
            again = self._poller.failed(number, now, self._attempts[number])
        else:
            self._attempts[number] = 0
            until = bisect_right(feed.published, now)
            since = max(0, until - feed.window)
            new = range(max(since, self._known[number]), until)
            self._known[number] = until
            for item in new:
                heapq.heappush(self._due, (now, number, item))
            span_s = now - feed.published[since] if feed.is_dated and until else None
            again = self._poller.ended(number, now, len(new), until - since, span_s)
        self._intervals_s[number] = again - now
        heapq.heappush(self._due, (again, number, POLL))


def _count(
    outcome: Outcome, feed: Feed, stored: dict[int, float], period: tuple[float, float], deadline_s: float
) -> None:
    """Add the results for the items of a feed that were published in *period*."""
    for item in range(bisect_left(feed.published, period[0]), bisect_left(feed.published, period[1])):
        at = stored.get(item, math.inf)
        delay_s = at - feed.published[item]
        if delay_s <= deadline_s:
            outcome.delays_s.append(delay_s)
            continue
        outage = feed.outage(item, deadline_s)
        if outage >= 1.0:
            outcome.out_of_reach += 1
            continue
        outcome.cut_off += outage > 0.5
        if at == math.inf:
            outcome.lost += 1
        else:
            outcome.late += 1
            outcome.delays_s.append(delay_s)
