"""The time of each site's next request: now, at a known time, or only after a further event.

Every operation is at most logarithmic in the number of sites: 20,000 sites are as quick as 20.
"""

from __future__ import annotations

import heapq
from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING, cast

from crawlers.errors import FrontierError
from crawlers.items import REVISIT
from crawlers.store.worker_rows import Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Set

    from crawlers.frontier.budget import PullBudget
    from crawlers.frontier.site_queue import SiteQueue
    from crawlers.frontier.values import QueueEntry


def event_of(site: SiteQueue) -> Wait:
    """Return what a site waits for that sleeps, without being paused, until an event reschedules it."""
    if site.gate.in_flight:
        return Wait.RESPONSE
    if site.has_unread:
        return Wait.RETRY  # all that waits of it rests, or waits for a nearer page that rests
    return Wait.REVISIT if site.revisiting else Wait.NOTHING


# Values are computed again, after each page, of so many sites or URLs at most; 5,000 URLs take 1 ms. In replays of
# topic crawls, more sites find no more pages.
MOST_VALUED_SITES = 10
MOST_VALUED_URLS = 5_000
COMMIT_S = 0.02  # until the next look whether what a refill has to read is committed, as it soon is
MOST_TRIED = 30  # sites per choice whose values turn out to have fallen: then the best of these is chosen
DUE_AT, AWAITED_UNTIL = attrgetter("due_at"), attrgetter("awaited_until")


class SiteSchedule:
    """The sites, and those of them from which the rule may choose.

    *pulls* has the rule, and says whether the crawl waits for the best sites: a site that sleeps then rests, as its
    rule calls it, until some time after it was opened or last leased. This bounds every wait, whatever the site waits
    for: its delay, robots.txt, a response, or a retry. *refill* reads URLs of a site from the store into the queues
    that need some; *requeue* queues one whose rest is over. With *in_order* a site sleeps while one of its nearer pages
    is in flight.
    """

    def __init__(
        self,
        pulls: PullBudget,
        refill: Callable[[SiteQueue], bool],
        requeue: Callable[[SiteQueue, QueueEntry], None],
        *,
        in_order: bool,
    ) -> None:
        self.sites: dict[int, SiteQueue] = {}
        self._ids: dict[str, int] = {}  # of sites, by name
        self._rule = pulls.rule
        self._pulls = pulls
        self._refill = refill
        self._requeue = requeue
        self._in_order = in_order
        self._due: list[tuple[float, int]] = []  # (time, site id) of sites that sleep until then
        # (time, serial number, entry, site) of single URLs; those of closed sites stay until their time.
        self._resting: list[tuple[float, int, QueueEntry, SiteQueue]] = []
        self._serial = 0
        self._awaited: list[tuple[float, int]] = []  # (time, site id) of sites that are waited for until then
        self._paused = 0
        self._waits: dict[int, Wait] = {}  # what each site waits for
        self._awake: set[int] = set()
        self._reading: dict[int, None] = {}  # sites whose refills wait for a commit, in the order in which they began
        self._in_turn: list[int] = []  # sites that are still to be valued again, the next one last
        # How often the rule was asked for a site, by the outcome; it may wait for a better site, or for results.
        self.rule_decisions = Counter(chosen=0, waited=0, nothing_ready=0)

    def open(self, site: SiteQueue) -> None:
        """Add *site*; it sleeps until it is rescheduled. Raises `FrontierError` if it is open."""
        if site.id in self.sites:
            raise FrontierError(f"site {site.id} is open already; call close_site first")
        self.sites[site.id] = site
        self._ids[site.name] = site.id

    def close(self, site: SiteQueue) -> None:
        """Forget *site*, which has no leases; its arm of the rule sleeps, and keeps what it has learnt."""
        self._rule.sleep(site.id)
        self._waits.pop(site.id, None)
        self._paused -= site.is_paused
        self._awake.discard(site.id)
        self._reading.pop(site.id, None)
        del self._ids[site.name]
        del self.sites[site.id]

    @property
    def is_waiting(self) -> bool:
        """Whether a URL of any site waits, is leased, or will be revisited."""
        return any(site.is_waiting for site in self.sites.values())

    def wait_counts(self) -> Counter[Wait]:
        """Return the numbers of open sites by what they wait for; 20,000 sites take a millisecond."""
        return Counter(self._waits.values())

    def is_ready_by(self, arm: Hashable, at: float) -> bool:
        """Return whether a URL of the site *arm* may be leased at that time, at the latest when open leases end."""
        site = self.sites.get(cast("int", arm))
        return site is not None and site.is_ready and not site.is_paused and site.gate.next_at <= at

    def by_name(self, name: str) -> SiteQueue | None:
        """Return the site of that *name*; None if it is not open."""
        return self.sites.get(self._ids.get(name, 0))  # no site has number 0

    def site(self, site_id: int) -> SiteQueue:
        try:
            return self.sites[site_id]
        except KeyError:
            raise FrontierError(f"site {site_id} is not open; call open_site first") from None

    def select(self, now: float) -> SiteQueue | None:
        """Return the awake site that the rule chooses, rescheduled; None if all sleep, or the crawl waits."""
        tried: list[SiteQueue] = []
        while not self._reading and (arm := self._rule.select(now)) is not None:
            site = self.sites[cast("int", arm)]
            if not self.reschedule(site, now) or self._reading:
                continue
            # Scores may have fallen since they were reported to the rule, which may then choose another site.
            if self._rule.weighs_pages and self._rule.select(now) != arm:
                tried.append(site)
                if len(tried) < MOST_TRIED:
                    continue
                site = max(tried, key=lambda one: one.value)
            waits = self._pulls.waits and self._pulls.must_wait(site.id, now)
            self.rule_decisions["waited" if waits else "chosen"] += 1
            return None if waits else site
        self.rule_decisions["nothing_ready"] += 1
        return None

    def value_again(self, now: float) -> None:
        """Report the best pages of the next sites in turn to the rule, as their values changed with what was learnt.

        `select` does so for the site that it chooses: this finds the sites whose values grew.
        """
        urls = 0
        for _ in range(min(MOST_VALUED_SITES, len(self._awake))):
            if not self._in_turn:
                self._in_turn = sorted(self._awake, reverse=True)
            site = self.sites.get(self._in_turn.pop())
            if site is not None and site.id in self._awake:
                self.reschedule(site, now)
                urls += sum(map(len, site.queues.values()))
                if urls > MOST_VALUED_URLS:
                    return

    def await_from(self, site: SiteQueue, now: float) -> None:
        """Reschedule a site that was opened or leased *now*: while it sleeps, a patient crawl waits for it a while."""
        if self._pulls.waits:
            site.awaited_until = self._pulls.awaited_until(now)
            heapq.heappush(self._awaited, (site.awaited_until, site.id))
        self.reschedule(site, now)

    def reschedule(self, site: SiteQueue, now: float) -> bool:
        """Wake the site, or let it sleep, possibly until it is due; return whether it is awake.

        If its refill waits for a commit, it stays as it was, and no site is chosen until then: choices do not depend on
        how long a commit takes.
        """
        if not self._in_order:
            site.refresh()
        nearest = site.nearest if self._in_order else None
        if nearest is None and not site.is_paused and site.needs_refill:
            if not self._refill(site):
                self._reading[site.id] = None
                return site.id in self._awake
            nearest = site.nearest if self._in_order else None
        was_reading = self._reading.pop(site.id, False) is None
        gate = site.gate
        is_asleep = site.is_paused or gate.in_flight >= gate.parallel
        if not is_asleep:
            is_asleep = (nearest is None or site.must_wait(nearest)) if self._in_order else not site.is_ready
        if is_asleep:
            self._sleep(site)  # a further event will reschedule it: a page, a response, `resume`
            if not site.is_paused:
                self._waits[site.id] = event_of(site)
            site.due_at = None
            return False
        if gate.next_at > now:
            self._sleep(site, gate.next_at)
            self._waits[site.id] = Wait.REST if gate.resting_until > now else Wait.DELAY
            if site.due_at != gate.next_at:
                site.due_at = gate.next_at
                heapq.heappush(self._due, (gate.next_at, site.id))
            return False
        if was_reading or site.id not in self._awake:  # a rule leaves out one that is not ready
            self._rule.wake(site.id)
            self._awake.add(site.id)
        if self._rule.weighs_pages:
            self._value(site)
        self._waits[site.id] = Wait.READY
        site.due_at = None
        return True

    def raise_index(self, site: SiteQueue, now: float) -> None:
        """Note that a page of *site* now has a better score than all its others."""
        if site.id not in self._awake:
            self.reschedule(site, now)
        elif self._rule.weighs_pages:
            self._value(site)

    def _value(self, site: SiteQueue) -> None:
        """Report the best page of *site* to a rule that compares pages; with all in flight, it was the last of them."""
        if site.is_ready:
            self._rule.set_arm_value(site.id, site.value, site.base)

    def _sleep(self, site: SiteQueue, due_at: float = float("-inf")) -> None:
        if due_at < site.awaited_until and site.has_prospects:
            if self._rule.weighs_pages:
                self._value(site)
            self._rule.pause(site.id)
        else:
            self._rule.sleep(site.id)
        self._awake.discard(site.id)

    def pause(self, site_id: int, *, is_awaited: bool = False, wait: Wait = Wait.ROBOTS) -> None:
        """Lease nothing of a site until `resume`; people are told that it waits for *wait*.

        A crawl that waits for good sites waits if it *is_awaited*.
        """
        site = self.site(site_id)
        if not is_awaited:
            site.awaited_until = float("-inf")
        self._paused += not site.is_paused
        site.is_paused = True
        self._waits[site.id] = wait
        site.due_at = None  # `resume` reschedules it
        self._sleep(site)

    def resume(self, site_id: int, now: float) -> None:
        """Allow leases of a site again."""
        site = self.site(site_id)
        self._paused -= site.is_paused
        site.is_paused = False
        self.reschedule(site, now)

    def postpone(self, site: SiteQueue, entry: QueueEntry, until: float) -> None:
        """Keep *entry* out of the queue until then; no farther page of the site may overtake it."""
        site.outstanding[entry.priority] += 1
        site.resting.add(entry.id)
        self._serial += 1
        heapq.heappush(self._resting, (until, self._serial, entry, site))

    def hasten(self, site: SiteQueue, pages: Set[int], now: float) -> None:
        """End the rest of those of *pages* of *site* that wait for a revisit.

        O(resting URLs of all sites) if one of *pages* rests, else O(*pages*).
        """
        if resting := site.resting & pages:
            is_due = [entry.id in resting and entry.queue == REVISIT for _, _, entry, _ in self._resting]
            self._resting = [(now if due else one[0], *one[1:]) for due, one in zip(is_due, self._resting, strict=True)]
            heapq.heapify(self._resting)

    def wake(self, now: float) -> None:
        """Queue the URLs whose rest is over, reschedule the sites that have become due, and wait no longer for those
        that sleep for too long."""
        while self._resting and (rested_at := self._first_rested()) is not None and rested_at <= now:
            _, _, entry, site = heapq.heappop(self._resting)
            site.resting.remove(entry.id)
            site.remove_outstanding(entry.priority)
            self._requeue(site, entry)
            self.reschedule(site, now)
        while self._reading:
            site = self.sites[next(iter(self._reading))]
            self.reschedule(site, now)
            if site.id in self._reading:
                break  # the next ones wait for the same commit, or a later one
        while self._awaited and (until := self._first(self._awaited, AWAITED_UNTIL)) is not None and until <= now:
            site = self.sites[heapq.heappop(self._awaited)[1]]
            site.awaited_until = float("-inf")
            if site.id not in self._awake:
                self._rule.sleep(site.id)
        while self._due and (due_at := self._first(self._due, DUE_AT)) is not None and due_at <= now:
            site = self.sites[heapq.heappop(self._due)[1]]
            site.due_at = None
            self.reschedule(site, now)

    def next_due(self, now: float) -> float | None:
        """Return the seconds until something is due; None if nothing will be without a further event."""
        if self._reading:
            return COMMIT_S
        if not (self._awake or self._due or self._resting):  # as for most pages of a crawl of one site
            return None
        times = [self._first(self._due, DUE_AT), self._first_rested()]
        if self._awake:
            patient_until = self._pulls.patient_until(now)
            if now >= patient_until or (arm := self._rule.select(now)) is None or not self._pulls.must_wait(arm, now):
                return 0.0
            times += [self._first(self._awaited, AWAITED_UNTIL), patient_until]
        finite = [at for at in times if at is not None and at < float("inf")]
        return max(0.0, min(finite) - now) if finite else None

    def only_revisits(self, after: float, *, with_paused: bool = True) -> bool:
        """Whether all waiting pages, *with_paused* sites or without, are revisits due *after* that time. O(sites)."""
        first = self._first_rested()
        if first is not None and first <= after:
            return False
        counted = {number for number, site in self.sites.items() if with_paused or not site.is_paused}
        # Entries of another queue are retries.
        revisiting = sum(entry.queue == REVISIT and site.id in counted for _, _, entry, site in self._resting)
        return sum(self.sites[number].pending for number in counted) == revisiting

    @property
    def is_idle(self) -> bool:
        """Whether nothing will become due before a lease ends; O(1) on average."""
        return not (
            self._paused
            or self._awake
            or self._reading
            or self._first(self._due, DUE_AT) is not None
            or self._first_rested() is not None
        )

    def _first(self, times: list[tuple[float, int]], time_of: Callable[[SiteQueue], float | None]) -> float | None:
        """Return the first of *times* that is still that of its site; earlier ones are dropped."""
        while times:
            at, site_id = times[0]
            site = self.sites.get(site_id)
            if site is not None and time_of(site) == at:
                return at
            heapq.heappop(times)  # the site was closed, rescheduled, or leased again in the meantime
        return None

    def _first_rested(self) -> float | None:
        while self._resting:
            rested_at, serial, entry, site = self._resting[0]
            if self.sites.get(site.id) is not site:
                heapq.heappop(self._resting)  # the site was closed
                continue
            host_at = site.gate.next_at
            if host_at <= rested_at:
                return rested_at
            heapq.heapreplace(self._resting, (host_at, serial, entry, site))  # the host rests longer than the URL
        return None
