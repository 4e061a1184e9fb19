"""The frontier's logic, common to the engines that one process owns: `memory` and `sql`.

Which site (the rule), which page (the order), when (the gates). What was found is written to the
journal by `interning.Interner`.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, cast

from crawlers.algorithms.page_orders import MAX_HOPS
from crawlers.errors import FrontierError
from crawlers.frontier.base import Lease
from crawlers.frontier.interning import Interner
from crawlers.frontier.journal import Entry
from crawlers.frontier.seen import TAKEN
from crawlers.frontier.site_queue import SiteQueue
from crawlers.items import State
from crawlers.storage.page_rows import add_page_rows
from crawlers.storage.unit import Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlers.algorithms.page_orders import PageOrder
    from crawlers.algorithms.site_rules import SiteRule
    from crawlers.frontier.base import Candidate, Counts, SiteState
    from crawlers.frontier.journal import Journal
    from crawlers.frontier.politeness import HostGate
    from crawlers.items import Page, Target

SMALLEST_HEAD = 16
LARGEST_HEAD = 1000  # one read of the journal per so many pages of a site costs next to nothing


class QueuedFrontier:
    """A frontier of one process. See `base.Frontier` for the contract.

    *admit* says why a URL that was never seen before is not to be fetched at all, or None; it is asked
    once a URL. *cache_urls* bounds the known URLs and *head_urls* the waiting ones that are kept in memory.
    """

    def __init__(
        self,
        journal: Journal,
        rule: SiteRule,
        order: PageOrder,
        *,
        admit: Callable[[Target], str | None] = lambda target: None,
        cache_urls: int = 2_000_000,
        head_urls: int = 100_000,
    ) -> None:
        self._journal = journal
        self._rule = rule
        self._order = order
        self._head_total = head_urls
        self._interner = Interner(journal, order, admit, cache_urls)
        self._sites: dict[int, SiteQueue] = {}
        self._leases: dict[int, Lease] = {}
        self._due: list[tuple[float, int]] = []  # (time, site id) of sites that sleep until then
        self._resting: list[tuple[float, Entry, int]] = []  # released URLs, until their time
        self._paused = 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} sites={len(self._sites)} pending={self.pending} leased={len(self._leases)}>"

    @property
    def pending(self) -> int:
        """URLs that wait and are not handed out."""
        return sum(site.pending for site in self._sites.values())

    @property
    def has_pending(self) -> bool:
        """Whether anything will be leased sooner or later without further news; O(1)."""
        return bool(self._due or self._resting or self._paused or self._rule.select() is not None)

    @property
    def is_waiting(self) -> bool:
        """Whether any URL waits or is leased: the crawl is not finished."""
        return any(site.counts.get(State.WAITING) for site in self._sites.values())

    def leased(self, page_id: int) -> Lease | None:
        """The open lease of a page."""
        return self._leases.get(page_id)

    # What comes in ----------------------------------------------------------------------------------

    def open_site(self, state: SiteState, now: float) -> None:
        """Make a site known; on a resumed crawl with all that it knew."""
        site = SiteQueue(state, self._journal.counts(state.id))
        self._sites[state.id] = site
        self._interner.head_urls = max(SMALLEST_HEAD, min(LARGEST_HEAD, self._head_total // len(self._sites)))
        self._interner.recall_all(site)
        self._settle(site, now)

    def add(self, candidates: Iterable[Candidate], now: float = 0.0) -> int:
        unit = Unit()
        new = 0
        touched = {}
        for c in candidates:
            site = touched[c.site_id] = self._site(c.site_id)
            new += self._interner.intern(
                site, [(c.target, 1)], c.level, c.hops, c.found_on, now, unit, c.request
            )[1]
        self._journal.submit(unit)
        for site in touched.values():
            self._settle(site, now)
        return new

    # What goes out ----------------------------------------------------------------------------------

    def lease(self, now: float, n: int) -> list[Lease]:
        self._wake(now)
        leases: list[Lease] = []
        while len(leases) < n and (arm := self._rule.select()) is not None:
            site = self._sites[cast("int", arm)]
            if self._settle(site, now) and (lease := self._pop(site, now)) is not None:
                leases.append(lease)
                self._rule.started(site.id)
                self._settle(site, now)
        return leases

    def _pop(self, site: SiteQueue, now: float) -> Lease | None:
        entry = heapq.heappop(site.heap)
        value = self._interner.value(site, entry)
        if value is None or value & TAKEN:
            return None  # a nearer or better spelled entry of the same page went out already
        site.seen.young[entry.key] = value | TAKEN
        site.pending -= 1
        url = site.best_url.pop(entry.id, entry.url)
        lease = Lease(
            entry.id, site.id, entry.key, url, entry.level, entry.hops, entry.attempts, entry.request, now
        )
        self._leases[entry.id] = lease
        site.began(self._priority(lease))
        site.gate.started(now)
        return lease

    def next_due(self, now: float) -> float | None:
        if self._rule.select() is not None:
            return 0.0
        times = [heap[0][0] for heap in (self._due, self._resting) if heap]
        return max(0.0, min(times) - now) if times else None

    # What comes back --------------------------------------------------------------------------------

    def acknowledge(self, lease: Lease, page: Page, now: float, reward: float = 0.0) -> int:
        site = self._end(lease, asked=page.state is not State.REJECTED)
        unit = Unit()
        new = 0
        moved_to = None
        if page.moved_to is not None:
            moved_to, new = self._follow(site, lease, page, page.moved_to, now, unit)
            if moved_to == lease.id:
                self._again(site, lease, page.moved_to.url, now, unit)
                return 0
        if page.links:
            counts, new = self._interner.intern(
                site, page.links, lease.level + 1, 0, lease.id, now, unit
            )
            unit.links.append([lease.id, counts])
        add_page_rows(
            unit, page, attempts=lease.attempts + 1, fetched_at=lease.leased_at, now=now, moved_to=moved_to
        )
        site.counts[State.WAITING] -= 1
        site.counts[page.state] = site.counts.get(page.state, 0) + 1
        self._journal.submit(unit)
        if page.state is State.REJECTED:
            self._rule.cancelled(site.id)
        else:
            self._rule.rewarded(site.id, reward)
        self._settle(site, now)
        return new

    def _follow(
        self, site: SiteQueue, lease: Lease, page: Page, target: Target, now: float, unit: Unit
    ) -> tuple[int | None, int]:
        """Queue the target of a redirect; its page id, unless that leads in a circle."""
        if target.url == lease.url or lease.hops >= MAX_HOPS:
            page.state = State.FAILED
            page.reason = (
                "redirects to itself" if target.url == lease.url else f"more than {MAX_HOPS} redirects"
            )
            return None, 0
        counts, new = self._interner.intern(
            site, [(target, 1)], lease.level, lease.hops + 1, lease.id, now, unit
        )
        return next(iter(counts)), new

    def _again(self, site: SiteQueue, lease: Lease, url: str, now: float, unit: Unit) -> None:
        """Another spelling of the same page is where the server wants it to be asked for."""
        lease.url = url
        lease.hops += 1
        self._requeue(site, lease, now, unit, f"redirected to {url}")
        self._journal.submit(unit)
        self._push(site, lease)
        self._settle(site, now)

    def release(self, lease: Lease, not_before: float, reason: str = "", *, failed: bool = False) -> None:
        site = self._end(lease)
        lease.attempts += failed
        if failed:
            unit = Unit()
            self._requeue(site, lease, lease.leased_at, unit, reason)
            self._journal.submit(unit)
        if not_before <= lease.leased_at:
            self._push(site, lease)
        else:
            # It keeps its place in the order: nothing farther may overtake it while it rests.
            site.began(self._priority(lease))
            site.pending += 1
            heapq.heappush(self._resting, (not_before, self._entry(lease), site.id))
        self._settle(site, lease.leased_at)

    def _requeue(self, site: SiteQueue, lease: Lease, now: float, unit: Unit, reason: str) -> None:
        spelling = self._interner.spelling(site, lease.key)
        unit.waiting_pages.append(
            [
                lease.id,
                lease.url,
                spelling,
                lease.level,
                lease.hops,
                self._priority(lease),
                reason,
                lease.attempts,
                now,
            ]
        )

    def _end(self, lease: Lease, *, asked: bool = True) -> SiteQueue:
        if self._leases.pop(lease.id, None) is not lease:
            raise FrontierError(f"the lease of page {lease.id} ({lease.url}) ended already")
        site = self._sites[lease.site_id]
        site.ended(self._priority(lease))
        if asked:
            site.gate.ended()
        else:
            site.gate.cancelled()
        return site

    def _push(self, site: SiteQueue, lease: Lease) -> None:
        site.seen.young[lease.key] = self._interner.untaken(site, lease)
        site.pending += 1
        site.push(self._entry(lease), self._interner.head_urls)

    def _entry(self, lease: Lease) -> Entry:
        return Entry(
            self._priority(lease),
            lease.id,
            lease.key,
            lease.url,
            lease.level,
            lease.hops,
            lease.attempts,
            lease.request,
        )

    def _priority(self, lease: Lease) -> float:
        return self._order.priority(lease.level, lease.hops)

    # Sites: awake, asleep, due ----------------------------------------------------------------------

    def gate(self, site_id: int) -> HostGate:
        """The politeness towards a site; what is changed holds from the next lease on."""
        return self._site(site_id).gate

    def pause(self, site_id: int) -> None:
        """Hand out nothing of this site until `resume`."""
        site = self._site(site_id)
        self._paused += not site.is_paused
        site.is_paused = True
        self._rule.sleep(site_id)

    def resume(self, site_id: int, now: float) -> None:
        site = self._site(site_id)
        self._paused -= site.is_paused
        site.is_paused = False
        self._settle(site, now)

    def _site(self, site_id: int) -> SiteQueue:
        try:
            return self._sites[site_id]
        except KeyError:
            raise FrontierError(f"site {site_id} was not opened") from None

    def _wake(self, now: float) -> None:
        while self._resting and self._resting[0][0] <= now:
            _, entry, site_id = heapq.heappop(self._resting)
            site = self._sites[site_id]
            site.ended(entry.priority)
            value = self._interner.value(site, entry)
            site.seen.young[entry.key] = (value or 0) & ~TAKEN
            site.push(entry, self._interner.head_urls)
            self._settle(site, now)
        while self._due and self._due[0][0] <= now:
            due_at, site_id = heapq.heappop(self._due)
            site = self._sites[site_id]
            if site.due_at == due_at:
                site.due_at = None
                self._settle(site, now)

    def _settle(self, site: SiteQueue, now: float) -> bool:
        """Let the site wake, sleep, or sleep until it is due; returns whether it is awake."""
        if not site.heap and site.has_more and not site.is_paused:
            self._refill(site)
        gate = site.gate
        if (
            site.is_paused
            or not site.heap
            or gate.is_full
            or (self._order.finishes_each_priority and site.must_wait(site.heap[0].priority))
        ):
            self._rule.sleep(site.id)  # some news will settle it again: a page, an answer, `resume`
            return False
        if gate.next_at > now:
            self._rule.sleep(site.id)
            if site.due_at != gate.next_at:
                site.due_at = gate.next_at
                heapq.heappush(self._due, (gate.next_at, site.id))
            return False
        self._rule.wake(site.id)
        return True

    def _refill(self, site: SiteQueue) -> None:
        self._journal.flush()  # what was found and not written yet must not be passed over
        limit = self._interner.head_urls
        while not site.heap and site.has_more:
            entries = self._journal.waiting(site.id, site.horizon, limit)
            held = {e.id for e in entries if e.id in self._leases}
            held.update(entry.id for _, entry, site_id in self._resting if site_id == site.id)
            site.refill(entries, limit, held)

    def counts(self) -> dict[int, Counts]:
        return {site.id: {s: n for s, n in site.counts.items() if n} for site in self._sites.values()}
