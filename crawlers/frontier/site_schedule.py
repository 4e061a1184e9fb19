"""When each site may be asked: now, at a known time, or not before there is news of it.

Every operation costs the logarithm of the number of sites at most: 20,000 sites are as quick as 20.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, cast

from crawlers.algorithms.ranking.page_scores import REVISIT
from crawlers.errors import FrontierError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlers.algorithms.bandits.site_rules import SiteRule
    from crawlers.frontier.frontier_store import QueueEntry
    from crawlers.frontier.site_queue import SiteQueue


class SiteSchedule:
    """The sites, and which of them the *rule* may choose from.

    *refill* fills the empty heaps of a site whose further URLs are in the journal. With *in_order* a site
    sleeps while something nearer of it is unanswered.
    """

    def __init__(self, rule: SiteRule, refill: Callable[[SiteQueue], None], *, in_order: bool) -> None:
        self.sites: dict[int, SiteQueue] = {}
        self._ids: dict[str, int] = {}  # of sites, by name
        self._rule = rule
        self._refill = refill
        self._in_order = in_order
        self._due: list[tuple[float, int]] = []  # (time, site id) of sites that sleep until then
        self._resting: list[tuple[float, QueueEntry, int]] = []  # (time, entry, site id) of single URLs
        self._paused = 0
        self._awake: set[int] = set()

    def open(self, site: SiteQueue, name: str) -> None:
        """Make *site* known, which is called *name*; it sleeps until it is settled."""
        self.sites[site.id] = site
        self._ids[name] = site.id

    def called(self, name: str) -> SiteQueue | None:
        """The site of that *name*; None if it is not open."""
        return self.sites.get(self._ids.get(name, 0))  # 0 is nobody's number

    def site(self, site_id: int) -> SiteQueue:
        try:
            return self.sites[site_id]
        except KeyError:
            raise FrontierError(f"site {site_id} was not opened") from None

    def select(self, now: float) -> SiteQueue | None:
        """The site that the rule chooses of those awake, settled."""
        while (arm := self._rule.select(now)) is not None:
            site = self.sites[cast("int", arm)]
            # Scores may have fallen since the rule was told of them: then it may choose another one.
            if self.settle(site, now) and (not self._rule.weighs_pages or self._rule.select(now) == arm):
                return site
        return None

    def settle(self, site: SiteQueue, now: float) -> bool:
        """Let the site wake, sleep, or sleep until it is due; returns whether it is awake."""
        site.look_again()
        if site.needs_refill and not site.is_paused:
            self._refill(site)
            site.look_again()
        gate = site.gate
        if site.is_paused or not site.ready or gate.is_full or (self._in_order and site.must_wait(site.nearest)):
            self._sleep(site)  # some news will settle it again: a page, an answer, `resume`
            site.due_at = None
            return False
        if gate.next_at > now:
            self._sleep(site)
            if site.due_at != gate.next_at:
                site.due_at = gate.next_at
                heapq.heappush(self._due, (gate.next_at, site.id))
            return False
        self._rule.wake(site.id)
        if self._rule.weighs_pages:
            self._rule.valued(site.id, site.value)
        self._awake.add(site.id)
        site.due_at = None
        return True

    def rose(self, site: SiteQueue, now: float) -> None:
        """A page of *site* is better now than all others of it."""
        if site.id not in self._awake:
            self.settle(site, now)
        elif self._rule.weighs_pages:
            self._rule.valued(site.id, site.value)

    def _sleep(self, site: SiteQueue) -> None:
        self._rule.sleep(site.id)
        self._awake.discard(site.id)

    def pause(self, site: SiteQueue) -> None:
        self._paused += not site.is_paused
        site.is_paused = True
        self._sleep(site)

    def resume(self, site: SiteQueue, now: float) -> None:
        self._paused -= site.is_paused
        site.is_paused = False
        self.settle(site, now)

    def rest(self, site: SiteQueue, entry: QueueEntry, until: float) -> None:
        """Keep *entry* out of the heap until then, but in its place: nothing farther may overtake it."""
        site.began(entry.priority)
        heapq.heappush(self._resting, (until, entry, site.id))

    def rested(self, now: float) -> Iterator[tuple[SiteQueue, QueueEntry]]:
        """The URLs whose time has come, each once."""
        while (rested_at := self._first_rested()) is not None and rested_at <= now:
            _, entry, site_id = heapq.heappop(self._resting)
            site = self.sites[site_id]
            site.ended(entry.priority)
            yield site, entry

    def wake(self, now: float) -> None:
        """Settle the sites that have become due."""
        while (due_at := self._first_due()) is not None and due_at <= now:
            site = self.sites[heapq.heappop(self._due)[1]]
            site.due_at = None
            self.settle(site, now)

    def next_due(self, now: float) -> float | None:
        """Seconds until something is due; None when nothing will be without news."""
        if self._awake:
            return 0.0
        times = [due_at for due_at in (self._first_due(), self._first_rested()) if due_at is not None]
        return max(0.0, min(times) - now) if times else None

    def only_revisits(self, after: float) -> bool:
        """Whether all that waits are pages that come back *after* that time. O(sites)."""
        first = self._first_rested()
        if first is not None and first <= after:
            return False
        revisiting = sum(entry.group == REVISIT for _, entry, _ in self._resting)  # others are to be tried again
        return sum(site.pending for site in self.sites.values()) == revisiting

    @property
    def is_idle(self) -> bool:
        """Whether nothing will become due without news of a lease; O(1) on average."""
        return not (self._resting or self._paused or self._awake or self._first_due() is not None)

    def _first_due(self) -> float | None:
        while self._due and self.sites[self._due[0][1]].due_at != self._due[0][0]:
            heapq.heappop(self._due)  # the site was settled otherwise in the meantime
        return self._due[0][0] if self._due else None

    def _first_rested(self) -> float | None:
        while self._resting:
            rested_at, entry, site_id = self._resting[0]
            host_at = self.sites[site_id].gate.next_at
            if host_at <= rested_at:
                return rested_at
            heapq.heapreplace(self._resting, (host_at, entry, site_id))  # the host rests longer than the URL
        return None
