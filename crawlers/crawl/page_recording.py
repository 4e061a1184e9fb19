"""Stores the pages of a running crawl, and ends their leases."""

from __future__ import annotations

from asyncio import wrap_future
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from crawlers.bandits.site_rules import signature_with
from crawlers.crawl.control import naming
from crawlers.errors import StoreError
from crawlers.frontier.acknowledgement import fail_loop, is_unchanged
from crawlers.items import State
from crawlers.pages.retries import REST_STATUSES, retry_delay_s
from crawlers.store.schema.tables import SiteRest
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from concurrent.futures import Future

    from crawlers.crawl.open_sites import OpenSites, StartUrls, Trials
    from crawlers.crawl.run import Run
    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.site_traps import SiteTraps
    from crawlers.crawl.stats import CrawlStats
    from crawlers.frontier.values import Lease
    from crawlers.items import Page
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
        lease = self._lease_of(page)
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

    def _lease_of(self, page: Page) -> Lease | None:
        """Return the lease that *page* ends; None if there is none.

        After a failure the frontier may know URLs that the store does not: nothing may follow.
        """
        if self.session.control.failure is not None:
            return None
        return self.session.frontier.leased(page.id)

    def _record(self, lease: Lease, page: Page) -> Page:
        now, site = self.session.clock(), self.session.frontier.site(lease.site_id)
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
        with naming(self.mission, "decide"):
            decision = self.mission.decide(lease, page, now)
            amount = int(decision.reward.amount)  # fails here if it is no decision
        if amount:
            self.stats.inc_value("harvest/reward", amount)
        if page.state is State.DONE:
            if keys := decision.reward.keys or self.traps.new_parts(lease, page):
                signature = signature_with(page.content_signature, keys)
                decision = replace(decision, page=replace(decision.page, content_signature=signature))
            site.gate.relax()
            self.traps.observe(lease, decision.page)
        page = fail_loop(lease, decision.page)  # nothing is stored of its target, so it must not open a site
        is_the_same = lease.previous is not None and is_unchanged(page, lease.previous)
        page = self.sites.open_cross_site(page, now, decision.changes, adds_sites=not is_the_same)
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
