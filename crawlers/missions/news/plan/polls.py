"""The polled pages of a news crawl (feeds, sitemaps, pages that show new articles), and their rows."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlers.missions.news.news_items import ANNOUNCERS, ARTICLE, PAGE, POLLED_LISTS
from crawlers.missions.news.plan.poll_plan import NEVER, ArrivalRate, PollState
from crawlers.missions.news.stored.news_tables import PollRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.frontier.values import Lease
    from crawlers.missions.news.plan.poll_plan import PollPlan
    from crawlers.store.writing.change_set import ChangeSet

logger = logging.getLogger(__name__)

_FIGURES = re.compile(r"\d[\d.,]*")

CHECK_S = 60.0  # between two checks whether there is time for all polls
REPEAT_S = 3600.0  # after which a warning is repeated
MAX_FAILURES = 20  # in a row, after which a page that is not a feed is no longer polled
STALE_AFTER_S = 14 * 86_400.0  # without new items, after which a page is no longer polled


@dataclass(slots=True)
class _Poll:
    site_id: int
    kind: str
    polls: int = 0
    failures: int = 0
    new_items: int = 0
    newest_at: float | None = None


class Polls:
    """Polled pages, whose times are chosen by *plan*; at most *most_pages* of a site that are not feeds."""

    def __init__(self, plan: PollPlan, most_pages: int) -> None:
        self.plan = plan
        self._most_pages = most_pages
        self._polls: dict[int, _Poll] = {}
        self._pages: dict[int, int] = {}  # number of polls of a site that are not feeds
        self._check_at = self._repeat_at = 0.0
        self._warned = ""

    def __len__(self) -> int:
        return len(self._polls)

    def recall(self, rows: Iterable[PollRow], now: float) -> None:
        """Restore the polls of earlier runs."""
        for row in rows:
            if row.kind == ARTICLE:
                continue
            items, seconds, window, responded_at = json.loads(row.rate)
            # The clock may have been set back since then.
            polled_at = NEVER if responded_at is None else min(responded_at, now)
            state = PollState(polled_at, window, ArrivalRate(items, seconds))
            self._add(row.page_id, row.site_id, row.kind, now, state)
            poll = self._polls[row.page_id]
            poll.polls, poll.failures, poll.new_items = row.polls, row.failures, row.new_items
            poll.newest_at = None if row.newest_at is None else min(row.newest_at, now)

    def forget_site(self, site_id: int) -> None:
        """Forget the polls of a site that another worker polls from now on."""
        for page_id in [page_id for page_id, poll in self._polls.items() if poll.site_id == site_id]:
            self._remove(page_id)
        self._pages.pop(site_id, None)

    def kind(self, page_id: int) -> str:
        """Return the kind of poll of a page; "" if it is none."""
        poll = self._polls.get(page_id)
        return poll.kind if poll is not None else ""

    def has_room(self, site_id: int) -> bool:
        """Return whether another page of the site that is not a feed may be polled."""
        return self._pages.get(site_id, 0) < self._most_pages

    def is_list(self, page_id: int) -> bool:
        """Return whether a page is polled as a feed, a sitemap or a home page: it is no article."""
        return self.kind(page_id) in POLLED_LISTS

    def warn(self, now: float) -> None:
        """Warn when there is too little time for all polls: on every change, and once an hour."""
        if now < self._check_at:
            return
        self._check_at = now + CHECK_S
        warning = self.plan.warning
        pattern = _FIGURES.sub("", warning)  # which change all the time
        if pattern != self._warned or now >= self._repeat_at:
            self._warned, self._repeat_at = pattern, now + REPEAT_S
            if warning:
                logger.warning("%s", warning)

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

        The row of the poll is added to *changes*. *span_s* is the age of the oldest item, if all are dated.
        """
        page_id, poll = lease.id, self._poll_of(lease, kind, now)
        if kind in ANNOUNCERS and poll.kind != kind:  # its first poll failed, or its kind has changed
            self._pages[poll.site_id] = self._pages.get(poll.site_id, 0) - (poll.kind == PAGE)
            poll.kind = kind
        due_at = self.plan.record_poll(page_id, now, new_items, shown, span_s)
        poll.polls += 1
        poll.failures = 0
        poll.new_items += new_items
        if new_items or poll.newest_at is None:
            poll.newest_at = now
        if poll.kind == PAGE and now - poll.newest_at > STALE_AFTER_S:
            self._row(page_id, now, now, changes, "no new items for a long time")
            self._remove(page_id)
            return None
        self._row(page_id, due_at, now, changes, problem)
        return due_at

    def record_failure(self, lease: Lease, kind: str, now: float, changes: ChangeSet, problem: str) -> float | None:
        """Return the time of the next attempt after a failed poll, or None. *kind* is used if it is the first poll."""
        page_id, poll = lease.id, self._poll_of(lease, kind, now)
        poll.failures += 1
        due_at = self.plan.record_failure(page_id, now, poll.failures)
        self._row(page_id, due_at, now, changes, problem)
        if poll.kind == PAGE and poll.failures >= MAX_FAILURES:
            self._remove(page_id)
            return None
        return due_at

    def forget(self, page_id: int) -> None:
        """Stop polling a page that has moved or is disallowed now."""
        if page_id in self._polls:
            self._remove(page_id)

    def _poll_of(self, lease: Lease, kind: str, now: float) -> _Poll:
        if lease.id not in self._polls:
            self._add(lease.id, lease.site_id, kind, now, None)
        return self._polls[lease.id]

    def _add(self, page_id: int, site_id: int, kind: str, now: float, state: PollState | None) -> None:
        self._polls[page_id] = _Poll(site_id, kind)
        self.plan.add(page_id, site_id, now, state)
        if kind == PAGE:
            self._pages[site_id] = self._pages.get(site_id, 0) + 1

    def _remove(self, page_id: int) -> None:
        poll = self._polls.pop(page_id)
        self.plan.remove(page_id)
        if poll.kind == PAGE:
            self._pages[poll.site_id] -= 1

    def _row(self, page_id: int, due_at: float, now: float, changes: ChangeSet, problem: str) -> None:
        poll, state = self._polls[page_id], self.plan.state(page_id)
        responded_at = None if state.polled_at == NEVER else state.polled_at
        rate = json.dumps([state.rate.items, state.rate.seconds, state.window, responded_at])
        changes.add(
            PollRow(
                page_id,
                poll.site_id,
                poll.kind,
                due_at,
                now,
                poll.polls,
                poll.failures,
                poll.new_items,
                poll.newest_at,
                rate,
                problem or None,
            )
        )
