"""Which URL of a running crawl is fetched next, what a site needs before its pages, and what becomes of a page.

A scheduler asks for leases (`Leasing.next`) and makes requests of them; a pipeline has the pages recorded.
"""

from __future__ import annotations

from asyncio import wrap_future
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from crawlers.crawl.control import naming
from crawlers.crawl.site_files import SitemapNeeded
from crawlers.errors import StoreError
from crawlers.frontier.acknowledgement import is_unchanged
from crawlers.items import Page, State
from crawlers.pages.retries import REST_STATUSES, retry_delay_s
from crawlers.ranking.page_orders import MAX_HOPS
from crawlers.reasons import Reason
from crawlers.store.schema.tables import SiteRest
from crawlers.store.worker_rows import PAUSE, Wait
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from concurrent.futures import Future

    from crawlers.crawl.open_sites import OpenSites, StartUrls, Trials
    from crawlers.crawl.run import Run
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.site_files import RobotsNeeded, RobotsPolicy, SiteSitemaps
    from crawlers.crawl.site_traps import SiteTraps
    from crawlers.crawl.stats import CrawlStats
    from crawlers.frontier.values import Lease
    from crawlers.pages.retries import RetryPolicy
    from crawlers.store.schema.tables import SiteHome


@dataclass(eq=False)
class PageRecording:
    """Records pages as the *mission* decides. After a failure of the crawl it records nothing more."""

    session: CrawlSession
    mission: Run
    sites: OpenSites
    traps: SiteTraps
    starts: StartUrls
    trials: Trials
    stats: CrawlStats
    retries: RetryPolicy

    def record(self, page: Page) -> Page:
        """Store *page* and end its lease; after a transient failure the URL waits again.

        Returns the page as it was stored. A page without an open lease is ignored.
        """
        # After a failure the frontier may know URLs that the store does not: nothing may follow.
        lease = self.session.frontier.leases.get(page.id) if self.session.control.failure is None else None
        if lease is None:
            return page
        try:
            page = self._record(lease, page)
            self.session.claims.release(lease.site_id)
        except Exception as error:
            self.session.control.abort_for(f"{page.url} can't be stored", error)
        return page

    def record_numbered(self, page: Page) -> Page | Awaitable[Page]:
        """Record *page* as soon as there are numbers for its links, which is nearly always at once."""
        with suppress(Exception):  # `record` meets it again, and ends the crawl
            numbers = self.session.frontier.store.page_ids.reserve(len(page.links) + len(page.cross_site_links))
            if numbers is not None:
                return self._record_after(numbers, page)
        return self.record(page)

    async def _record_after(self, numbers: Future[Any], page: Page) -> Page:
        with suppress(StoreError):  # likewise
            await wrap_future(numbers)
        return self.record(page)

    def _record(self, lease: Lease, page: Page) -> Page:
        now, site = self.session.clock(), self.session.frontier.schedule.sites[lease.site_id]
        responded = None if page.state is State.REJECTED else page.status > 0 or page.state is not State.FAILED
        self.trials.record_result(lease.site_id, lease.id, responded=responded)
        attempts = lease.attempts + 1
        home: SiteHome | None = None
        if lease.level == 0:
            page, home = self.starts.follow(lease, page)
        rest_until = 0.0
        if page.status in REST_STATUSES:
            rest_until = site.gate.back_off(now, page.retry_after_s)
            self.session.writer.submit(ChangeSet(SiteRest(lease.site_id, rest_until)))
        # Scrapy's RetryMiddleware decides about the requests of foreign spiders.
        if lease.request is None and (page.is_transient or (page.state is State.REFUSED and page.status)):
            delay_s = retry_delay_s(self.retries, page.status, attempts)
            if delay_s is not None:
                self.session.frontier.release(lease, max(now + delay_s, rest_until), page.reason, failed=True)
                self.stats.count_retry(page, now)
                return page
            if attempts > 1:
                state = State.FAILED if page.status else page.state  # refused: a response that can't be decompressed
                page = replace(page, state=state)
        if page.moved_to is not None:
            page = fail_loop(lease, page)
        try:
            decision = self.mission.decide(lease, page, now)
            amount = int(decision.reward.amount)  # fails here if it is no decision
        except Exception:
            with naming(self.mission, "decide"):  # only now, as each page passes here
                raise
        if amount:
            self.stats.inc_value("harvest/reward", amount)
        if page.state is State.DONE:
            signature = self.traps.observe(lease, decision.page, decision.reward.keys)
            if signature != decision.page.content_signature:
                decision = replace(decision, page=replace(decision.page, content_signature=signature))
            site.gate.relax()
        is_the_same = lease.previous is not None and is_unchanged(decision.page, lease.previous)
        page = self.sites.open_cross_site(decision.page, now, decision.changes, adds_sites=not is_the_same)
        if page is not decision.page:
            decision = replace(decision, page=page)
        if home is not None:
            decision.changes.add(home)
        sent = self.session.claims.links_of(lease, decision, now)
        new, page = self.session.frontier.acknowledge(lease, decision, now, sent)
        if page.state is not State.REJECTED:
            self.session.worker.ended += 1
        if not site.is_waiting:
            self.traps.release_watch(lease.site_id)
        self.stats.count_page(lease, page, new, now, is_reported=decision.is_reported)
        return page


def fail_loop(lease: Lease, page: Page) -> Page:
    """Return *page*; failed, and without a target, if it redirects in a loop."""
    is_itself = page.moved_to is not None and page.moved_to.url == lease.url
    if page.moved_to is None or (not is_itself and lease.hops < MAX_HOPS):
        return page
    reason = Reason.REDIRECT_TO_ITSELF if is_itself else Reason.MANY_REDIRECTS.of(MAX_HOPS)
    return replace(page, state=State.FAILED, reason=reason, moved_to=None)


# One call of `next` rejects at most so many URLs, and takes at most so long for it, so that the caller gets its turn.
MAX_REJECTED = 500
MAX_REJECTING_S = 0.1


@dataclass(eq=False)
class Leasing:
    """At most *most* URLs are in flight, if it is not infinite.

    A crawl that *ends_after* a time does so when nothing waits but revisits that are due later.
    """

    session: CrawlSession
    mission: Run
    sites: OpenSites
    robots: RobotsPolicy
    traps: SiteTraps
    sitemaps: SiteSitemaps
    trials: Trials
    recording: PageRecording
    most: float
    ends_after: float | None

    def __post_init__(self) -> None:
        self._in_hand: Lease | None = None  # whose URL is looked up in the store
        self._is_looking_up = False
        self._rests = False  # nothing can be leased before a robots.txt that could not be read is requested again
        self._is_settling = self._has_settled = False

    def may_lease(self, now: float) -> bool:
        """Return whether this worker may request anything: not while somebody asked the workers of the crawl to pause.

        If it could not reach the store for long, others may soon hold its sites.
        """
        return self.session.claims.last.control != PAUSE and now <= self.session.worker.sure_until

    def is_idle(self) -> bool:
        """Return whether this worker has nothing to fetch."""
        return self._rests or not self.session.frontier.schedule.is_waiting or self._has_only_later_revisits

    @property
    def _has_only_later_revisits(self) -> bool:
        """Whether the crawl ends early, and only revisits are left that became due since it began."""
        if self.ends_after is None or not self.session.claims.are_all_open or self.mission.has_more:
            return False
        return self.session.frontier.only_revisits(self.ends_after)

    @property
    def has_pending(self) -> bool:
        """Whether anything will be leased sooner or later without a further event, or others work on the crawl."""
        if self.session.control.failure is not None:
            return False
        if self._in_hand is not None:
            return True
        if self.session.claims.last.others and not self.session.worker.is_stopping:
            if self.session.claims.last.is_over:  # then the elected worker goes on alone
                return self.session.claims.last.is_elected and self.session.leaves_levels_too_deep
            return not self.session.claims.last.is_budget_exhausted
        if self._has_only_later_revisits:
            return False
        return self.session.frontier.has_pending or not self.session.claims.are_all_open

    def next(self, now: float, in_flight: int = 0) -> Lease | RobotsNeeded | SitemapNeeded | None:
        """Return the URL to fetch next, or what a site needs before its pages; None if nothing may be fetched yet.

        With *in_flight* further downloads, no more than CONCURRENT_REQUESTS run at a time: rules choose better when
        the results of earlier choices are known. Whoever calls it asks `may_lease` first. Raises `StoreError`.
        """
        if not self.mission.is_ready or self._is_looking_up:
            return None
        for site_id in self.trials.admit_waiting(in_flight):
            self.session.frontier.schedule.resume(site_id, now)
        for _ in range(MAX_REJECTED):
            if self.session.control.failure is not None or self._is_full(in_flight):
                return None
            leases = [self._in_hand] if self._in_hand is not None else self.session.frontier.lease(now, 1)
            if not leases:
                self.session.worker.has_room = True
                return None
            (lease,) = leases
            self._in_hand = None
            self._has_settled = False
            address = self.robots.address_of(lease)
            if (robots := self.robots.needed(lease.site_id, address, now)) is not None:
                self._put_off(lease, now)
                return robots
            if self.sitemaps.wait(lease.site_id) and self.robots.reason_against(address, lease.url) is None:
                if not self.trials.admits(lease.site_id, in_flight):
                    self._put_off(lease, now, Wait.TRIAL)
                    continue
                if (needed := self.sitemaps.take_turn(lease, now)) is not None:
                    is_sitemap = isinstance(needed, SitemapNeeded)
                    self._put_off(lease, now, Wait.SITEMAP if is_sitemap else Wait.ROBOTS)
                    self._rests = self._rests and not is_sitemap
                    return needed
            skipped = self.mission.reason_to_skip(lease)
            verdict = skipped or self.robots.verdict(address, lease.url) or self.traps.verdict(lease)
            if isinstance(verdict, str):
                self.recording.record(Page(lease.id, lease.url, lease.level, State.REJECTED, reason=verdict))
            elif verdict is not None:
                self._look_up(lease, verdict)
                if self._is_looking_up:
                    return None
                continue
            elif self.trials.admits(lease.site_id, in_flight):
                self.trials.record_request(lease.site_id, lease.id)
                self._rests = False
                self.session.worker.leased += 1
                return lease
            else:
                self._put_off(lease, now, Wait.TRIAL)
            if self.session.clock() - now > MAX_REJECTING_S:
                break
        return None

    def _put_off(self, lease: Lease, now: float, wait: Wait = Wait.ROBOTS) -> None:
        """Let the site of *lease* wait for what is needed before its pages, or for room among the sites on trial."""
        self.session.frontier.release(lease, now)
        self.session.frontier.schedule.pause(lease.site_id, is_awaited=wait is not Wait.TRIAL, wait=wait)
        if wait is Wait.TRIAL:
            self.trials.wait(lease.site_id)

    def _look_up(self, lease: Lease, query: Callable[[], Callable[[], None]]) -> None:
        """Keep *lease* until the result of *query* is taken up; no other URL is chosen in the meantime.

        So choices do not depend on how long the look-up takes, nor on whether a killed crawl makes it again.
        """

        def take_up(found: Future[Callable[[], None]]) -> None:
            self._is_looking_up = False
            if self.session.control.failure is not None or self.session.writer.is_closed:
                return
            try:
                found.result()()
            except Exception as error:
                self.session.control.abort_for("a look-up failed", error)
            self.session.control.resume()

        self._in_hand, self._is_looking_up = lease, True
        self.session.reader.call(query, take_up)

    def next_due(self, now: float, in_flight: int = 0) -> float | None:
        """Return the seconds until `next` may return something; None if it will not without a further event."""
        if not self.mission.is_ready or self._is_looking_up or self._is_full(in_flight):
            return None
        return self.session.frontier.next_due(now) if self._in_hand is None else 0.0

    def waits_for_robots(self, now: float) -> bool:
        """Whether nothing can be fetched, by any worker, before the robots.txt of a further site is known."""
        if not self.mission.is_ready or self.session.frontier.leases or self.sitemaps.turns:
            return False
        if self.mission.has_more:
            self._rests = False
        elif self.ends_after is not None and self.session.frontier.only_revisits(self.ends_after, with_paused=False):
            self._rests = True
        else:
            self._rests = self.session.frontier.next_due(now) is None
        return self._rests and self.session.claims.last.idle == self.session.claims.last.others

    def _is_full(self, in_flight: int) -> bool:
        requests = len(self.session.frontier.leases) + len(self.sitemaps.turns) + in_flight
        return requests - (self._in_hand is not None) >= self.most

    def record_request(self, lease: Lease) -> None:
        """Note that the request for *lease* is sent now: the delay of its host counts from then, not from the lease.

        A busy process, or one that has yet to connect, sends it late. The lease of a copied request has ended.
        """
        frontier = self.session.frontier
        if frontier.leases.get(lease.id) is lease:
            frontier.schedule.sites[lease.site_id].gate.record_request(self.session.clock())

    # Levels -----------------------------------------------------------------------------------------

    @property
    def has_unsettled_levels(self) -> bool:
        """Whether nothing waits any more, and levels may have to be corrected: see `correct_levels`."""
        is_open = self.session.claims.last.others or self.session.frontier.schedule.is_waiting or self._has_settled
        return not is_open and self.session.control.failure is None and self.session.leaves_levels_too_deep

    async def correct_levels(self) -> None:
        """Correct the levels that the order left too deep; URLs may wait again after that."""
        if self._is_settling:
            return
        self._is_settling = True
        try:
            await self.session.correct_levels([*self.sites.rows.values()])
        except Exception as error:
            if not (isinstance(error, StoreError) and self.session.writer.is_closed):  # else the crawl was closed
                self.session.control.abort_for("the levels can't be corrected", error)
        else:
            self._has_settled = not self.session.frontier.schedule.is_waiting
            self.session.control.resume()
        finally:
            self._is_settling = False
