"""The polled pages of a news crawl: feeds, sitemaps and pages that show new articles; when each is due, its row."""

from __future__ import annotations

import json
import logging
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlers.missions.news.news_items import ANNOUNCERS, ARTICLE, PAGE, POLLED_LISTS
from crawlers.missions.news.plan.poll_plan import UNKNOWN, USUAL_WINDOW, ArrivalRate, PollPlan, distribution, safe_s
from crawlers.missions.news.stored.news_tables import PollRow
from crawlers.reasons import Reason, parsed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from crawlers.frontier.values import Lease
    from crawlers.missions.news.plan.poll_plan import Floats, PollLimits
    from crawlers.store.writing.change_set import ChangeSet

logger = logging.getLogger(__name__)

REPEAT_S = 3600.0  # after which a warning is repeated
MAX_FAILURES = 20  # in a row, after which a page that is not a feed is no longer polled
STALE_AFTER_S = 14 * 86_400.0  # without new items, after which a page is no longer polled
HOST_SHARE = 0.5  # of the requests that the delay of a host allows, for polls; the rest is for items
CYCLE = 16  # the plan is made again when one in 16 feeds was polled, so that the cost per poll does not grow
JITTER = 0.1  # of an interval, so that polls do not synchronise with feeds that publish on the hour
GOLDEN = 0.6180339887498949  # multiples of the golden ratio are evenly distributed modulo 1


@dataclass(slots=True)
class _Poll:
    site_id: int
    kind: str
    polls: int = 0
    failures: int = 0
    new_items: int = 0
    newest_at: float | None = None
    rate: ArrivalRate = UNKNOWN
    window: int = USUAL_WINDOW  # number of items in the feed
    responded_at: float | None = None  # when it was polled successfully last
    needed_per_s: float = 0.0  # polls
    rest: int = 0  # number of its entries that were read, if others follow


class Polls:
    """Polled pages; *per_s* > 0 polls per second are distributed, so that items are found soon, and none lost or late.

    At most *most_pages* of a site are polled that are not feeds.
    """

    def __init__(self, per_s: float, limits: PollLimits, most_pages: int) -> None:
        self._per_s = per_s
        self._workers = 1  # that share the polls per second
        self._limits = limits
        self._most_pages = most_pages
        self._polls: dict[int, _Poll] = {}
        self._pages: Counter[int] = Counter()  # number of polls of a site that are not feeds
        self._delays: dict[int, float] = {}  # of sites
        self._plan = PollPlan(1.0 / limits.slowest_s)
        # Of sites with a delay: the share of the polls that its pages need, and how many further ones each may have.
        self._possible: dict[int, tuple[float, float]] = {}
        self._polled = math.inf  # since the plan was made; it never was
        self._warning = ""
        self._warn_at = 0.0

    def divide(self, workers: int) -> None:
        """Distribute only this worker's part of the polls per second, that of each of some *workers*."""
        if workers != self._workers:
            self._workers, self._polled = workers, math.inf

    def set_delay(self, site_id: int, delay_s: float) -> None:
        """Set the delay between two requests to a site, in seconds; polls may use `HOST_SHARE` of the requests."""
        self._delays[site_id] = delay_s
        self._polled = math.inf

    def recall(self, rows: Iterable[PollRow], now: float) -> None:
        """Restore the polls of earlier runs."""
        for row in rows:
            if row.kind == ARTICLE:
                continue
            items, seconds, window, responded_at = json.loads(row.rate)
            # The clock may have been set back since then.
            newest_at, responded_at = (None if at is None else min(at, now) for at in (row.newest_at, responded_at))
            counts = (row.polls, row.failures, row.new_items)
            poll = _Poll(row.site_id, row.kind, *counts, newest_at, ArrivalRate(items, seconds), window, responded_at)
            poll.rest = _rest(row.problem)
            self._add(row.page_id, poll)

    def forget_site(self, site_id: int) -> None:
        """Forget the polls of a site that another worker polls from now on."""
        for page_id in [page_id for page_id, poll in self._polls.items() if poll.site_id == site_id]:
            self.forget(page_id)

    def kind(self, page_id: int) -> str:
        """Return the kind of poll of a page; "" if it is none."""
        poll = self._polls.get(page_id)
        return poll.kind if poll is not None else ""

    def rest(self, page_id: int) -> int:
        """Return the number of the entries of a long feed that were read; 0 if none follow."""
        poll = self._polls.get(page_id)
        return poll.rest if poll is not None else 0

    def has_room(self, site_id: int) -> bool:
        """Return whether another page of the site that is not a feed may be polled."""
        return self._pages[site_id] < self._most_pages

    def read_once(self, page_id: int, now: float) -> Sequence[PollRow]:
        """Stop polling a page that is an article, and is fetched once more; return the row that says so."""
        if (poll := self._polls.get(page_id)) is None:
            return ()
        self.forget(page_id)
        return (PollRow(page_id, poll.site_id, ARTICLE, now, now, 0, 0, 0, None, "[]", None),)

    def is_list(self, page_id: int) -> bool:
        """Return whether a page is polled as a feed, a sitemap or a home page: it is no article."""
        return self.kind(page_id) in POLLED_LISTS

    def warn(self, now: float) -> None:
        """Warn when there is too little time for all polls, at most once an hour."""
        if self._warning and now >= self._warn_at:
            self._warn_at = now + REPEAT_S
            logger.warning("%s", self._warning)

    def record_poll(
        self,
        lease: Lease,
        kind: str,
        now: float,
        changes: ChangeSet,
        *,
        new_items: int,
        shown: int,
        span_s: float | None = None,
        problem: str = "",
    ) -> float | None:
        """Return the time of the next poll after one with *new_items* of *shown* items; None if there is none.

        The row of the poll is added to *changes*. *span_s* is the age of the oldest item, if all are dated: it
        determines the rate at the first poll, and if all items are new. With the *problem* `FEED_REST` the next poll
        goes on with the entries that were not read yet.
        """
        poll = self._poll_of(lease, kind)
        if kind in ANNOUNCERS and poll.kind != kind:  # its first poll failed, or its kind has changed
            self._pages[poll.site_id] -= poll.kind == PAGE
            poll.kind = kind
        is_full = 0 < shown <= new_items
        elapsed_s = math.inf if poll.responded_at is None else now - poll.responded_at
        if (poll.responded_at is None or is_full) and span_s is not None and shown:
            poll.rate = poll.rate.after(shown, min(span_s, elapsed_s))
        elif poll.responded_at is not None:
            poll.rate = poll.rate.after(new_items, elapsed_s, is_full=is_full)
        poll.window, poll.responded_at = shown or poll.window, now
        self._learn(poll)
        poll.polls += 1
        poll.rest = _rest(problem)
        poll.failures = 0
        poll.new_items += new_items
        if new_items or poll.newest_at is None:
            poll.newest_at = now
        if poll.kind == PAGE and now - poll.newest_at > STALE_AFTER_S:
            changes.add(_row(lease.id, poll, now, now, "no new items for a long time"))
            self.forget(lease.id)
            return None
        self._polled += 1
        if self._polled * CYCLE >= len(self._polls):
            self._make_plan()
        due_at = now + self._interval_s(lease.id, now)
        changes.add(_row(lease.id, poll, due_at, now, problem))
        return due_at

    def record_failure(self, lease: Lease, kind: str, now: float, changes: ChangeSet, problem: str) -> float | None:
        """Return the time of the next attempt after a failed poll, or None. *kind* is used if it is the first poll.

        The wait begins with the shortest interval and doubles. Until two deadlines after the last success, it is at
        most the usual interval and 1/24 of the deadline, because items published before the failure may still be saved;
        later, it is at most half of the deadline.
        """
        poll, limits = self._poll_of(lease, kind), self._limits
        poll.failures += 1
        wait_s = limits.shortest_s * 2.0 ** min(poll.failures - 1, 30)
        if poll.responded_at is not None and now - poll.responded_at < 2 * limits.deadline_s:
            wait_s = min(wait_s, limits.deadline_s / 24, self._interval_s(lease.id, now))
        due_at = now + max(limits.shortest_s, min(wait_s, limits.deadline_s / 2))
        changes.add(_row(lease.id, poll, due_at, now, problem))
        if poll.kind == PAGE and poll.failures >= MAX_FAILURES:
            self.forget(lease.id)
            return None
        return due_at

    def forget(self, page_id: int) -> None:
        """Stop polling a page that has moved or is disallowed now, if it is polled."""
        if (poll := self._polls.pop(page_id, None)) is not None:
            self._pages[poll.site_id] -= poll.kind == PAGE

    def _poll_of(self, lease: Lease, kind: str) -> _Poll:
        if lease.id not in self._polls:
            self._add(lease.id, _Poll(lease.site_id, kind))
        return self._polls[lease.id]

    def _add(self, page_id: int, poll: _Poll) -> None:
        self._polls[page_id] = poll
        self._learn(poll)
        self._pages[poll.site_id] += poll.kind == PAGE

    def _interval_s(self, page_id: int, now: float) -> float:
        """Return the interval until the next poll of a page, shortened by up to `JITTER`."""
        (visits,) = self._plan.visits(*self._bounds([self._polls[page_id]]))
        jitter = JITTER * ((page_id * GOLDEN + now * GOLDEN) % 1.0)
        return max(self._limits.shortest_s, (1.0 - jitter) / float(visits))

    def _bounds(self, polls: Collection[_Poll]) -> tuple[Floats, Floats, Floats]:
        """Return the items per second of pages, and their lowest and their highest polls per second."""
        needed = np.array([poll.needed_per_s for poll in polls])
        share, more = np.array([self._possible.get(poll.site_id, (1.0, math.inf)) for poll in polls]).T
        highest = np.minimum(1.0 / self._limits.shortest_s, share * needed + more)
        return np.array([poll.rate.per_s for poll in polls]), np.minimum(needed, highest), highest

    def _learn(self, poll: _Poll) -> None:
        """Determine how many polls a page needs so that no item is late or lost."""
        safe = math.inf if poll.responded_at is None else safe_s(poll.rate, poll.window)
        poll.needed_per_s = 1.0 / max(self._limits.shortest_s, min(self._limits.slowest_s, safe))

    def _make_plan(self) -> None:
        """Distribute the polls per second again.

        Of the polls that the delay of a site allows, each page gets those that it needs, and an equal part of others.
        """
        self._polled, self._possible = 0, {}
        needed: dict[int, list[float]] = defaultdict(list)
        for poll in self._polls.values():
            needed[poll.site_id].append(poll.needed_per_s)
        for site_id, its in needed.items():
            if delay_s := self._delays.get(site_id):
                allowed = HOST_SHARE / delay_s
                share = min(1.0, allowed / sum(its))
                self._possible[site_id] = share, (allowed - share * sum(its)) / len(its)
        budget_per_s, usable = self._per_s / self._workers, 1.0 - JITTER / 2
        self._plan = distribution(*self._bounds(self._polls.values()), budget_per_s * usable, self._plan.in_time)
        sentences = []
        if min(self._plan.window_share, self._plan.share) < 1.0:
            needed_per_s = sum(map(sum, needed.values())) / usable
            of_worker = "" if self._workers == 1 else f", of {budget_per_s:.3g} for this worker"
            enough = needed_per_s * self._workers
            sentences.append(
                f"{len(self._polls):,} feeds need {needed_per_s:.3g} polls per second so that no item is late or "
                f"lost{of_worker}; increase FEED_POLLS_PER_SECOND={self._per_s:g} to {enough:.3g}."
            )
        if too_slow := [share for share, _ in self._possible.values() if share < 1.0]:
            sentences.append(
                f"Hosts whose delays are too long for the polls that their feeds need: {len(too_slow):,} (at worst, "
                f"{min(too_slow):.0%} of the polls are possible); shorten their delays, or remove feeds."
            )
        self._warning = " ".join(sentences)


def _rest(problem: str | None) -> int:
    """Return the number of entries that were read, if *problem* says that others follow; else 0."""
    code, parts = parsed(problem) if problem else (None, {})
    return int(parts["number"]) if code is Reason.FEED_REST else 0


def _row(page_id: int, poll: _Poll, due_at: float, now: float, problem: str) -> PollRow:
    return PollRow(
        page_id,
        poll.site_id,
        poll.kind,
        due_at,
        now,
        poll.polls,
        poll.failures,
        poll.new_items,
        poll.newest_at,
        json.dumps([*poll.rate, poll.window, poll.responded_at]),
        problem or None,
    )
