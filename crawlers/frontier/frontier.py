"""Which URLs wait, and which are fetched next: the frontier's logic, common to the engines of one process.

The rule chooses the site, the order the page, the gates the time. `discovery.UrlDiscovery` writes found URLs to
the frontier store.

The life of a URL: `add` (or a page's links, in `acknowledge`) queues it; `lease` hands it out when rule, order
and politeness allow; the lease ends with `acknowledge`, which writes the results of the page, or with
`release`, which queues the URL again. A process that dies loses its leases, and their URLs wait again.
Time is the argument *now*, in seconds of any monotonic clock.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from crawlers.errors import FrontierError
from crawlers.frontier.acknowledgement import Acknowledgements
from crawlers.frontier.discovery import UrlDiscovery, waiting_row
from crawlers.frontier.site_queue import PageQueue, SiteQueue
from crawlers.frontier.site_schedule import SiteSchedule
from crawlers.frontier.url_cache import TAKEN, UrlCache
from crawlers.frontier.values import MIN_QUEUE, NO_REWARD, NOTHING_SENT, Lease, Origin, QueueEntry, SiteStart
from crawlers.items import REVISIT, State
from crawlers.reasons import Reason
from crawlers.store.schema.tables import SiteAvailability, SiteRelease, SiteRest, UnchangedPage
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crawlers.frontier.budget import PullBudget
    from crawlers.frontier.scoring import ScoredSite, Scoring
    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.frontier.value_queue import LinkLearning
    from crawlers.frontier.values import (
        Candidate,
        Decision,
        OutgoingLinks,
        PageVisit,
        Reward,
    )
    from crawlers.items import Hint, Page, Target
    from crawlers.ranking.page_orders import PageOrder
    from crawlers.store.sites.site_opening import SiteRow
    from crawlers.store.writing.pulls import Pull

NOTHING_STORED = SiteStart(known=UrlCache())
MAX_QUEUE = 150  # pages of a site; to read so many from the store takes less than a millisecond
MORE_LINKS = 50  # waiting pages of a site that are read with the features of their links; likewise
MOST_READS = 10  # of a site in a row; others have their turn before the next ones
MOST_COMMITS = 5  # for which a refill waits while others find further pages; then the crawl waits for the refill
SOON_S = 10.0  # a site that is due within this time can use a part of the budget that is granted now


class Frontier:
    """A frontier of one process, whose URLs are rows of the store; tests/contracts has its contract.

    *budget* has the rule that chooses the site. *reason_against* returns why a new URL must not be fetched, or None; it
    is called once per URL. *cache_urls* bounds the known URLs in memory, *head_urls* the waiting ones. The crawl
    *is_divided* if others work on it: see `Scoring`.
    """

    def __init__(
        self,
        store: SqlFrontierStore,
        order: PageOrder,
        budget: PullBudget,
        *,
        reason_against: Callable[[Target], str | None] = lambda target: None,
        cache_urls: int = 12_000_000,
        head_urls: int = 100_000,
        is_divided: bool = False,
    ) -> None:
        self.store = store
        self._rule = budget.rule
        self._order = order
        self.budget = budget
        self._head_total = head_urls
        self._held: set[int] = set()  # pages that are leased, or rest
        self.schedule = SiteSchedule(budget, self._refill, self._wait, in_order=order.finishes_each_priority)
        self.scoring: Scoring | None = None
        self._make_site: Callable[..., SiteQueue] = SiteQueue
        if order.scores is not None:
            from crawlers.frontier.scoring import ScoredSite, Scoring  # with numpy, as learning below

            self._make_site = partial(ScoredSite, order.scores)
            sites = cast("Mapping[int, ScoredSite]", self.schedule.sites)
            of_crawl = (store, sites, self._held, budget.worker_id or 0)
            self.scoring = Scoring(order.scores, *of_crawl, is_divided=is_divided)
        self._learning: LinkLearning | None = None
        if order.link_values is not None:
            from crawlers.frontier.value_queue import LinkLearning

            rows = None if self.scoring is None else self.scoring.rows
            self._learning = LinkLearning(order.link_values, store, rows)
        of_order = (self.scoring, self._learning)
        self.discovery = UrlDiscovery(store, order, reason_against, cache_urls, self.schedule, self._held, *of_order)
        self._acknowledgements = Acknowledgements(self.discovery, self.scoring)
        self.leases: dict[int, Lease] = {}  # open ones, by page
        self._fetched_again: set[int] = set()  # leased for a revisit, and to be fetched again after it
        if self.scoring is not None and self.scoring.has_changes:
            self.submit(ChangeSet(), 0.0)  # repairs the rows of earlier runs

    @property
    def has_pending(self) -> bool:
        """Whether anything will be leased sooner or later without a further event; O(1) on average."""
        return not self.schedule.is_idle and not self.budget.is_exhausted

    def best_index(self, now: float) -> float | None:
        """Return the greatest index of the sites that can be fetched from soon; None if there are none.

        Infinite while a site has initial pages left. Rules without an index count all sites as equal: 0.
        """
        if not self.schedule.is_waiting:
            return None
        return self._rule.best_index(lambda arm: self.schedule.is_ready_by(arm, now + SOON_S))

    def only_revisits(self, after: float, *, with_paused: bool = True) -> bool:
        """Whether nothing is leased, and all waiting pages are revisits that are due *after* that time.

        The pages of paused sites count only *with_paused*.
        """
        return not self.leases and self.schedule.only_revisits(after, with_paused=with_paused)

    def site(self, site_id: int) -> SiteQueue:
        """Return an open site; changes of its gate apply from the next lease on."""
        return self.schedule.site(site_id)

    def hint(self, page_id: int) -> Hint | None:
        """Return the hint by which a page waits, or waited last; None under an order that takes none."""
        return None if self.scoring is None else self.scoring.scores.hint(page_id)

    # Adding sites and URLs ----------------------------------------------------------------------------------

    def load_sites(self, site_ids: Sequence[int]) -> list[SiteStart]:
        """Return all that the store knows of each of these sites, which are not open; may be called in any thread."""
        from crawlers.frontier.stored_starts import read_starts  # not for a crawl that begins

        is_divided = self.scoring is not None and self.scoring.is_divided
        limits = {"room": self.discovery.room, "head_urls": self.discovery.head_urls}
        return read_starts(
            self.store, self._order, site_ids, **limits, has_pulls=self.budget.records, is_divided=is_divided
        )

    def submit(self, changes: ChangeSet, now: float, site: SiteQueue | None = None) -> None:
        """Submit *changes* with the scores that changed, and queue what was found, and the pages whose scores rose.

        The queues of *site* may have changed otherwise.
        """
        found = self.discovery.queue_found()
        risen = self.scoring.write(changes, self.discovery.head_urls) if self.scoring is not None else ()
        self.store.submit(changes)
        self.discovery.trim()
        for one in risen:
            self.schedule.raise_index(one, now)
        for one in found if site is None or site in found else (*found, site):
            self.schedule.reschedule(one, now)

    def open_site(self, row: SiteRow, now: float, start: SiteStart | None = None) -> None:
        """Add a site with everything that is known of it: *start*, as returned by `load_sites`, which None calls.

        Everything that was submitted of the site must be committed. Raises `FrontierError` if the site is open.
        """
        if start is None:
            start = NOTHING_STORED if row.is_new else self.load_sites([row.id])[0]
        waiting: Iterable[int] = start.heads
        revisiting = 0
        if self.scoring is not None:
            if self.scoring.is_divided:
                self.scoring.open_site(row.id, start.scored, start.unscored, start.base)
            waiting, revisiting = self.scoring.recalled(row.id)
        shares = self._order.shares() if start.shares is None else start.shares
        site = self._make_site(row, dict(start.counts), self._make_queue, shares, waiting, revisiting)
        self.schedule.open(site)
        self._share_head_urls()
        self.discovery.open_site(site, start.known)
        if self._learning is not None:
            self._learning.features |= start.features
        site.is_available = start.is_available
        for entry, due_at, wait_s in start.resting:
            self._held.add(entry.id)
            if entry.queue != REVISIT:
                self.discovery.mark(site, entry, TAKEN)
            # Nothing waits longer than from the attempt or visit before, even if the clock was set back since then.
            self.schedule.postpone(site, entry, min(due_at, now + max(0.0, wait_s)))
        for number, head in start.heads.items():
            site.queues[number].fill(head, start.limit)
        if self.scoring is not None and self.scoring.has_changes:
            self.submit(ChangeSet(), now)
        self.schedule.await_from(site, now)

    def close_site(self, site_id: int) -> ChangeSet:
        """Close a site; return the row that releases its claim. Once that is committed, anyone may open the site.

        It continues from its rows as if it had stayed open, except for the delay that was added after refusals.
        Any later call that names the site is a `FrontierError`, and so is this one if a URL of the site is leased.
        """
        site = self.schedule.site(site_id)
        if site.gate.in_flight:
            raise FrontierError(f"{site.name} can't be closed: {site.gate.in_flight} of its URLs are leased; end them")
        rows = self.scoring.close_site(site_id) if self.scoring is not None else ()
        self.schedule.close(site)
        self.discovery.close_site(site)
        if self._learning is not None:
            self._learning.forget(site.resting)
        self._held -= site.resting
        self._share_head_urls()
        asked_at, rest_until = site.gate.asked_at, site.gate.resting_until
        return ChangeSet(SiteRelease(site_id, _finite(asked_at), _finite(rest_until)), *rows)

    def forget(self) -> None:
        """Drop the known URLs of all sites; nothing is added afterwards."""
        for site in self.schedule.sites.values():
            site.seen = UrlCache()
            site.seen.is_complete = False

    def _share_head_urls(self) -> None:
        share = self._head_total // max(1, len(self.schedule.sites))
        if self._learning is not None:  # their features take a tenth of the memory
            self.discovery.head_urls = self._learning.compare(max(MIN_QUEUE, 10 * share))
        else:
            most = MAX_QUEUE if self.scoring is None else self._head_total
            self.discovery.head_urls = max(MIN_QUEUE, min(most, share))

    def _make_queue(self, site_id: int, number: int, spill_limit: tuple[float, int]) -> PageQueue:
        stored = (self.store, self._held, spill_limit)
        if self._learning is not None:
            from crawlers.frontier.value_queue import ValueQueue  # with numpy

            return ValueQueue(site_id, number, self._learning, *stored)
        if self.scoring is not None:
            return self.scoring.queue(site_id, number, spill_limit)
        return PageQueue(site_id, *stored)

    def learn(self, pulls: Iterable[Pull]) -> int:
        """Report pulls of earlier runs or of other workers to the site rule, and to an order that learns, in order.

        A site that is opened later has its history already; the shares of its queues receive it from `load_sites`.
        Returns the number of pulls.
        """
        return self.budget.learn(pulls if self._learning is None else self._learning.learn(pulls))

    def add(self, candidates: Iterable[Candidate], now: float = 0.0, changes: ChangeSet | None = None) -> int:
        """Queue *candidates*; return the number of new ones. Known URLs that still wait may get a lower level or a
        better variant. What belongs to them, such as the rows of new sites, is given as *changes*, and committed with
        them."""
        changes = changes if changes is not None else ChangeSet()
        new = 0
        for site, one in [(self.schedule.site(one.site_id), one) for one in candidates]:  # all of them, or none
            _, target, level, hops, found_on, request, hint = one
            is_new = hint is not None and self.discovery.new_targets([target], level)
            origin = Origin(level, hops, found_on, request, {target.key: hint} if is_new and hint is not None else {})
            new += self.discovery.discover(site, [(target, 1)], origin, now, changes)[1]
        self.submit(changes, now)
        return new

    # Leasing ----------------------------------------------------------------------------------

    def lease(self, now: float, n: int) -> list[Lease]:
        """Return up to *n* URLs that may be fetched now, in the order of rule and order."""
        self.schedule.wake(now)
        if self._learning is not None and self._rule.weighs_pages and self._learning.has_learnt():
            self.schedule.value_again(now)
        leases: list[Lease] = []
        while len(leases) < n and self.budget.has_room and (site := self.schedule.select(now)) is not None:
            leases.append(self._pop(site, now))
            self.schedule.await_from(site, now)
        return leases

    def _pop(self, site: SiteQueue, now: float) -> Lease:
        entry = site.pop()
        self._held.add(entry.id)
        self.discovery.mark(site, entry, TAKEN)
        identity = (entry.id, site.id, *entry[2:8])  # the fields from key to request are the same
        previous = self.store.previous(entry.id) if entry.queue == REVISIT else None
        lease = self.leases[entry.id] = Lease(*identity, now, entry.queue, previous)
        site.outstanding[self._order.priority(lease.level, lease.hops)] += 1
        site.gate.record_start(now)
        self.budget.record_pull(site, lease)
        return lease

    def next_due(self, now: float) -> float | None:
        """Return the seconds until something may be leased; None if nothing will be without a further event."""
        return self.schedule.next_due(now) if self.budget.has_room else None

    # Ending leases --------------------------------------------------------------------------------

    def acknowledge(
        self, lease: Lease, decision: Decision, now: float, sent: OutgoingLinks = NOTHING_SENT
    ) -> tuple[int, Page]:
        """End the lease with its results: the page, its links, its reward, and what is *sent* to other workers.

        If the page redirects to another variant of its own URL, that variant is queued instead. Returns the number of
        URLs that were never seen before, and the page as it was stored.
        """
        page = decision.page
        requested = page.state is not State.REJECTED
        site = self._end(lease, requested=requested)
        if not site.seen.is_complete:  # then it may have been forgotten in the meantime
            self.discovery.mark(site, lease, TAKEN)
        if page.moved_to is not None and page.moved_to.key == lease.key:
            variant = replace(lease, url=page.moved_to.url, hops=lease.hops + 1)
            reason = Reason.REDIRECTED.of(variant.url)
            self._record_failure(site, variant, reason, now, decision.changes)  # it was a download
            self._wait(site, self._entry(variant))
            self.schedule.reschedule(site, now)
            return 0, replace(page, state=State.WAITING)
        changes = decision.changes
        new = self._acknowledgements.record_page(site, lease, decision, sent, now)
        if decision.revisit_at is None or self.scoring is None:
            self._held.discard(lease.id)
        else:
            self.schedule.postpone(site, self._entry(lease)._replace(attempts=0, queue=REVISIT), decision.revisit_at)
        if requested:
            self._end_pull(site, lease, decision.reward, now, changes)
        else:
            self.budget.cancel_pull(site, lease)
        if self._learning is not None:
            self._learning.forget([lease.id])
        if lease.id in self._fetched_again and page.state is State.DONE:
            self._queue_again(site, [(lease.id, page.reason or None, lease.leased_at)], now, changes)
        self._fetched_again.discard(lease.id)
        self.submit(changes, now, site)
        return new, page

    def release(self, lease: Lease, not_before: float, reason: str = "", *, failed: bool = False) -> None:
        """Queue the URL again, not to be leased before *not_before*; *failed* counts as an attempt."""
        site = self._end(lease)
        rests = not_before > lease.leased_at
        if failed:
            lease = replace(lease, attempts=lease.attempts + 1)
            self._record_failure(site, lease, reason, lease.leased_at, ChangeSet(), not_before if rests else None)
        else:
            self.budget.cancel_pull(site, lease)
        if rests:
            self.schedule.postpone(site, self._entry(lease), not_before)
        else:
            self._wait(site, self._entry(lease))
        self.schedule.reschedule(site, lease.leased_at)

    def _record_failure(
        self,
        site: SiteQueue,
        lease: Lease,
        reason: str,
        now: float,
        changes: ChangeSet,
        retry_at: float | None = None,
    ) -> None:
        if not lease.is_revisit:  # else the row describes the previous visit, and is still correct
            changes.add(waiting_row(lease, self._order.priority(lease.level, lease.hops), reason, now, retry_at))
            if lease.level == 0 and not site.is_available:
                rest_until = max(retry_at or -math.inf, site.gate.resting_until)  # never before the host wishes
                changes.add(SiteAvailability(site.id, reason), SiteRest(site.id, _finite(rest_until)))
        self._end_pull(site, lease, NO_REWARD, now, changes)
        self.submit(changes, now)

    def _end_pull(self, site: SiteQueue, lease: Lease, reward: Reward, now: float, changes: ChangeSet) -> None:
        self.budget.record_reward(site, lease, reward, now, changes)
        if self._learning is not None:
            self._learning.learn_reward(lease.id, reward.amount)

    def _end(self, lease: Lease, *, requested: bool = True) -> SiteQueue:
        """End an open lease; return its site."""
        if self.leases.get(lease.id) is not lease:
            raise FrontierError(f"the lease of page {lease.id} ({lease.url}) has already ended")
        del self.leases[lease.id]
        site = self.schedule.sites[lease.site_id]
        site.remove_outstanding(self._order.priority(lease.level, lease.hops))
        if requested:
            site.gate.record_end()
        else:
            site.gate.cancel_start(lease.leased_at)
        return site

    def _wait(self, site: SiteQueue, entry: QueueEntry) -> None:
        """Queue a leased page again; it is already counted as pending."""
        self._held.discard(entry.id)
        if entry.queue != REVISIT:
            self.discovery.mark(site, entry, 0)
        site.push(entry, self.discovery.head_urls)

    def _entry(self, lease: Lease) -> QueueEntry:
        priority = self._order.priority(lease.level, lease.hops)
        identity = (priority, lease.id, lease.key, lease.url, lease.level, lease.hops)
        return QueueEntry(*identity, lease.attempts, lease.request, lease.queue)

    def _refill(self, site: SiteQueue) -> bool:
        """Read the next URLs of the queues of *site* that need it, once all that was pushed to these is committed.

        Returns whether they have what they need.
        """
        most = MAX_QUEUE if self._learning is None else MORE_LINKS
        limit = min(most, site.queue_limit(self.discovery.head_urls))
        for _ in range(MOST_READS):
            numbers = [number for number, queue in site.queues.items() if queue.needs_refill]
            if not numbers:
                return True
            if site.is_unwritten:
                for number in numbers:
                    site.queues[number].write_fallen()
                site.is_unwritten, site.written = False, self.store.submitted
                site.commits_awaited += 1
            if site.commits_awaited > MOST_COMMITS:
                self.store.flush()
            elif not self.store.has_committed(site.written):
                return False
            site.commits_awaited, site.is_unwritten = 0, True
            for number in sorted(numbers):
                site.queues[number].refill(limit)
        return not site.needs_refill

    def fetch_again(self, site: str, pages: Sequence[PageVisit], now: float) -> None:
        """Queue fetched *pages* of a site for one more complete fetch.

        A scheduled revisit is due at once; a revisit in flight is followed by another one.
        """
        its = self.schedule.by_name(site)
        if its is None or self.scoring is None:  # the host list omits it, or no page is fetched again
            return
        changes = ChangeSet()
        self._queue_again(its, pages, now, changes)
        self.submit(changes, now, its)

    def _queue_again(self, site: SiteQueue, pages: Sequence[PageVisit], now: float, changes: ChangeSet) -> None:
        """Queue *pages*; add to *changes* that their next responses are to be complete, also after a kill."""
        assert self.scoring is not None
        self.schedule.hasten(site, {page_id for page_id, _, _ in pages}, now)
        for page_id, reason, fetched_at in pages:
            site.revisiting += self.scoring.fetch_again(page_id)
            if (lease := self.leases.get(page_id)) is not None and lease.is_revisit:
                self._fetched_again.add(page_id)
            changes.add(UnchangedPage(page_id, reason, fetched_at, None, None))


def _finite(time: float) -> float | None:
    return time if math.isfinite(time) else None
