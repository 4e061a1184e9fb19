"""A running crawl: which URL is fetched next, and what is stored of each page. Independent of Scrapy.

A scheduler asks for leases (`next`) and makes requests of them; a pipeline returns the pages (`record`).
"""

from __future__ import annotations

import logging
from asyncio import CancelledError, Lock, sleep, wrap_future
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.reward_kinds import signature_with
from crawlers.algorithms.plurals import counted
from crawlers.algorithms.retries import REST_STATUSES, RestPolicy, RetryPolicy, retry_delay_s
from crawlers.algorithms.robots_groups import is_unreachable
from crawlers.algorithms.slices import Slices
from crawlers.algorithms.url_rules.url_selection import UrlSelection
from crawlers.algorithms.urls.addresses import AddressGuard
from crawlers.algorithms.urls.resolution import resolve, site_of
from crawlers.crawl.held_sites import URLS_AT_ONCE, HeldSites, batches
from crawlers.crawl.home_addresses import HomeAddresses
from crawlers.crawl.session import CrawlSession, log_paths
from crawlers.crawl.site_policies import RobotsNeeded, SitePolicies
from crawlers.crawl.site_sitemaps import SitemapNeeded, SiteSitemaps
from crawlers.crawl.stats import CrawlStats
from crawlers.crawl.trials import Trials
from crawlers.crawl.url_filter import StoredSelection, UrlFilter
from crawlers.crawl.worker_rounds import WorkerRounds
from crawlers.errors import ClaimsLost, CrawlersError, FrontierError, StoreError, StoreUnavailable
from crawlers.frontier.acknowledgement import fail_loop
from crawlers.frontier.protocols import Candidate
from crawlers.frontier.revisits import is_unchanged
from crawlers.inputs.render_settings import RenderedSites
from crawlers.inputs.robots_token import robots_token
from crawlers.inputs.url_settings import normalization, url_selection
from crawlers.items import Page, State
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.files.csv_logs import CsvLogs
from crawlers.storage.schema.tables import SiteRest, SiteRobots
from crawlers.storage.worker_status import Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from crawlers.crawl.held_sites import Claimed
    from crawlers.crawl.membership import Membership
    from crawlers.crawl.policy import CrawlControl, CrawlPolicy
    from crawlers.crawl.site_sitemaps import SitemapContent, SitemapResponse
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.crawl.stats import StatsCounter
    from crawlers.extraction.response import WebResponse
    from crawlers.frontier.frontier_store import SiteStart
    from crawlers.frontier.protocols import CrawlFrontier, Lease
    from crawlers.inputs.crawl_command import CrawlOrigin
    from crawlers.inputs.setting_values import SettingValues
    from crawlers.items import Target
    from crawlers.storage.schema.tables import SiteHome
    from crawlers.storage.site_rows import SiteRow

logger = logging.getLogger(__name__)

# One call of `next` rejects at most so many URLs, and takes at most so long for it, so that the caller gets its turn.
MAX_REJECTED = 500
MAX_REJECTING_S = 0.1
# Errors after which this worker ends without a further trace; the same command may join the crawl again.
PASSING = (ClaimsLost, StoreUnavailable)


class Crawl:
    """Open from construction until `close`.

    *open_policy* creates the policy of the mission, once the store is open. *stop* ends the program that runs the
    crawl, for a reason; *wake* makes it call `next` again. *origin* is what is stored of its command.
    If *share* processes begin it together, the first one claims a part of its sites;
    *joins* is the number of the only crawl that this process may work on.

    Raises `ConfigError`, `CrawlEnded`, `StoreUnavailable` and, with *joins*, `StoreError`.
    """

    def __init__(
        self,
        settings: SettingValues,
        spec: CrawlSpec,
        open_policy: Callable[[CrawlSession, CrawlControl], CrawlPolicy],
        stats: StatsCounter,
        clock: Callable[[], float],
        *,
        stop: Callable[[str], None],
        wake: Callable[[], None],
        origin: CrawlOrigin,
        share: int = 1,
        joins: int | None = None,
    ) -> None:
        now = clock()
        self.retries = RetryPolicy(
            settings.getint("RETRY_TIMES"),
            settings.getint("RETRY_REST_TIMES"),
            settings.getfloat("RETRY_BACKOFF_SECONDS"),
        )
        self.robots_rests = RestPolicy(
            settings.getint("ROBOTS_REST_TIMES"),
            settings.getfloat("ROBOTS_REST_SECONDS"),
            settings.getfloat("ROBOTS_MAX_REST_SECONDS"),
        )
        self.robots_token = robots_token(settings)
        self.rendered = RenderedSites(settings, spec.sites)
        self.clock = clock
        self.addresses = AddressGuard(spec.seeds, refuses=settings.getbool("REFUSE_PRIVATE_ADDRESSES"))
        self.failure: BaseException | None = None
        self.is_closed = False
        self.has_ended = False  # this process recorded the end of the crawl, or of this run
        self._stop = stop
        self._wake = wake
        self._options = normalization(settings)
        self._start_slot = spec.start_slot
        self._roots = spec.roots
        self._is_foreign = spec.is_foreign
        self._is_settling = self._has_settled = False
        self._most_leases = settings.getint("CONCURRENT_REQUESTS")
        selection = UrlSelection() if spec.is_foreign else url_selection(settings)
        self._trials = Trials(self._most_leases)
        self._slices = Lock()  # pages with many links are recorded one after the other
        self._sliced_page: int | None = None  # its number, while it is recorded
        self._rests = False  # nothing can be leased before a robots.txt that could not be read is requested again
        self._url_filter = UrlFilter(
            () if spec.is_foreign else settings.getlist("IGNORED_EXTENSIONS"),
            traps=not spec.is_foreign and settings.getbool("TRAPS_ENABLED"),
            selection=selection,
            folders={limits.site: limits.folder for limits in spec.sites if limits.folder},
            options=self._options,
        )
        logs = log_paths(settings)
        stored = StoredSelection(self._url_filter, selection, self._options)
        self.session = CrawlSession(settings, spec, self._reason_against, now, origin, clock, stored, share, joins)
        # A crawl that ends early does so when nothing waits but polls that are due after this time.
        self._ends_after = self.session.row.run_started_at if settings.getbool("NEWS_ONCE") else None
        with ExitStack() as on_error:
            on_error.callback(self.session.close_all)
            on_error.callback(self._never_began)
            self._stats = CrawlStats(stats, CsvLogs(*logs.values()), warns_of_home_pages=not spec.is_foreign)
            on_error.callback(self._stats.close)
            self.sites = SitePolicies(
                self.session, settings, self.robots_token, not spec.is_foreign, clock, spec.addresses, spec.sites
            )
            self._homes = HomeAddresses(self.sites, spec.addresses, self._options)
            self._sitemaps = SiteSitemaps(
                self.session.database,
                self.sites,
                spec.addresses,
                self._url_filter,
                self._options,
                is_enabled=spec.reads_sitemaps,
                most_files=settings.getint("SITEMAPS_MAX_FILES"),
                most_urls=settings.getint("SITEMAPS_MAX_URLS"),
            )
            self._sitemap_turns: dict[int, int] = {}  # by site, the page in whose place a sitemap is requested
            self._held = HeldSites(
                self.session,
                self.sites,
                self._trials,
                self._homes,
                self._sitemaps,
                lambda: self._policy,
                self._open_claimed,
                clock,
            )
            self._rounds = WorkerRounds(
                self.session,
                self.sites,
                self._held,
                lambda: self._policy,
                clock,
                is_idle=self._is_idle,
                finds_sites=spec.scope is not None,
                ends_after=self._ends_after,
                stop=stop,
            )
            self.frontier.register_sites(self.session.site_ids())
            self._begin(self.session.row.sites, now)
            self.session.warn_of_left_out()
            self.session.recall_pulls()
            self._policy = open_policy(self.session, self)
            self._load_policy(self.session.row.sites, now)
            self._add_start_pages(self.session.row.sites, now)
            self._add_roots(self.session.row.sites, now)
            self._rounds.begin()
            on_error.pop_all()
        logger.info("Crawl %s %s", self.session.name, self.session.beginning())
        if self.sites.obeys_robots:
            logger.info('Rules of robots.txt apply to the crawl if they are for the user agent "%s"', self.robots_token)

    def _never_began(self) -> None:
        with suppress(StoreError):
            self.session.end(finished=False, reason="could not begin", now=self.clock())

    @property
    def frontier(self) -> CrawlFrontier:
        """The frontier of the crawl."""
        return self.session.frontier

    def _reason_against(self, target: Target) -> str | None:
        return self._url_filter.reason_against(target) or self._policy.reason_against(target)

    def _begin(self, rows: Sequence[SiteRow], now: float) -> None:
        """Open the sites with which this worker begins."""
        for sources in batches(self.frontier, [[row] for row in rows], URLS_AT_ONCE):
            some = [row for its in sources for row in its]
            stored = [row.id for row in some if not row.is_new]
            starts = dict(zip(stored, self.frontier.load_sites(stored), strict=True)) if stored else {}
            for row in some:
                self.session.beat()
                self._open_site(row, now, starts.get(row.id))
        for row in rows:
            self.session.beat()
            self.session.adopt_links(row, now)

    def _load_policy(self, rows: Sequence[SiteRow], now: float) -> None:
        for sources in batches(self.frontier, [[row] for row in rows], URLS_AT_ONCE):
            self.session.beat()
            some = [row for its in sources for row in its]
            self._policy.load_sites(some)(now)
            self._sitemaps.load(some)()

    def _open_site(self, row: SiteRow, now: float, start: SiteStart | None) -> None:
        self.sites.open(row, now, start)
        if not row.is_new:
            self.session.rewards.recall(row.id)

    def _add_start_pages(self, rows: Iterable[SiteRow], now: float) -> None:
        listed = (row for row in rows if self.sites.is_listed(row.site))
        self._add([(row.id, row.start_url or f"{row.site}/") for row in listed], now, ChangeSet())

    def _add_roots(self, rows: Iterable[SiteRow], now: float) -> None:
        held = {row.site for row in rows}
        is_shared = self._members.is_divided  # then the other roots are added with their sites
        urls = [url for url in self._roots if not is_shared or site_of(url) in held]
        changes = ChangeSet()
        self._add([(self.sites.id_of(site_of(url), now, changes), url) for url in urls], now, changes)

    def _add_urls(self, urls: Iterable[str], now: float, changes: ChangeSet) -> None:
        """Add URLs of any sites with *changes*; those of sites that this worker does not hold are sent."""
        here: list[tuple[int, str]] = []
        away: list[Target] = []
        for url in urls:
            site_id = self.sites.opened(site_of(url))
            if site_id is None and not self._members.is_divided:
                site_id = self.sites.id_of(site_of(url), now, changes)
            if site_id is not None:
                here.append((site_id, url))
            else:
                away.append(resolve(url, "", self._options))
        if away:
            self.sites.add_sites(dict.fromkeys(target.site for target in away), now, changes)
            self.frontier.send(away, self._start_slot, now, changes)
        self._add(here, now, changes)

    def _add(self, urls: Iterable[tuple[int, str]], now: float, changes: ChangeSet) -> None:
        found = [(site_id, resolve(url, "", self._options)) for site_id, url in urls]
        for _, target in found:
            self._url_filter.select(target)
        self.frontier.add([Candidate(*one, slot=self._start_slot) for one in found], now, changes)

    # The other workers --------------------------------------------------------------------------------

    @property
    def _members(self) -> Membership:
        return self.session.members

    @property
    def worker_id(self) -> int:
        """The number of this process as a worker of the crawl."""
        return self._members.worker_id

    @property
    def has_joined(self) -> bool:
        """Whether other workers were active when this process joined the crawl."""
        return self.session.row.others > 0

    @property
    def watches_sources(self) -> bool:
        """Whether this worker raises alarms: one of them does, until the crawl is over."""
        return self._members.is_first and not self._members.is_over

    @property
    def is_round_due(self) -> bool:
        """Whether it is time for a `round`."""
        return self._rounds.is_due

    @property
    def run_s(self) -> float:
        """The seconds since a worker began or resumed the crawl while no other was active."""
        return self.clock() - self.session.row.run_started_at

    async def round(self, *, is_stopping: bool = False) -> None:
        """Exchange with the other workers by the store. A worker that *is_stopping* takes nothing more."""
        self._rounds.is_stopping = self._rounds.is_stopping or is_stopping
        if self._rounds.is_running or self.failure is not None or self.session.writer.is_closed:
            return
        try:
            await self._rounds.run()
            await self._held.open()  # many sites take longer than a worker may be silent, so rounds go on meanwhile
            await self._policy.share(self._members.others, self.session.reader.run, self.clock())
            self._wake()
        except StoreError as error:
            if not self.session.writer.is_closed:  # else the crawl was closed in the meantime
                self.abort(error)
        except Exception as error:
            if not self.session.writer.is_closed:  # likewise: the threads that read have ended
                self.abort_by_bug("the exchange with the other workers failed", error)

    def _is_idle(self) -> bool:
        return self._rests or not self.frontier.is_waiting or self._has_only_later_polls

    @property
    def _has_only_later_polls(self) -> bool:
        """Whether the crawl ends early, and only polls are left that became due since it began."""
        if self._ends_after is None or not self._held.are_all_open or self._policy.has_more:
            return False
        return self.frontier.only_revisits(self._ends_after)

    def _open_claimed(self, claimed: Claimed) -> None:
        now, rows = self.clock(), [row for row, _ in claimed.sites]
        for row, start in claimed.sites:
            self._open_site(row, now, start)
        for row in rows:
            self.session.adopt_links(row, now)
        claimed.open(now)
        self._add_start_pages(rows, now)
        self._add_roots(rows, now)
        self._wake()

    def ask_to_stop(self, reason: str) -> None:
        """Let all workers of the crawl stop for *reason*."""
        self._rounds.ask_to_stop(reason)

    # Fetching ---------------------------------------------------------------------------------------

    @property
    def has_pending(self) -> bool:
        """Whether anything will be leased sooner or later without a further event, or others work on the crawl."""
        if self.failure is not None:
            return False
        if self._members.others and not self._rounds.is_stopping:
            if self._members.is_over:  # then the elected worker goes on alone
                return self._members.is_elected and self.session.leaves_levels_too_deep
            return not self._members.is_spent
        if self._has_only_later_polls:
            return False
        return self.frontier.has_pending or not self._held.are_all_open

    @property
    def may_request(self) -> bool:
        """Whether anything may be requested now: the crawl is not paused, and this worker is certainly not lost."""
        return self._members.may_lease

    def next(self, now: float, in_flight: int = 0) -> Lease | RobotsNeeded | SitemapNeeded | None:
        """Return the URL to fetch next, or what a site needs before its pages; None if nothing may be fetched yet.

        With *in_flight* further downloads, no more than CONCURRENT_REQUESTS run at a time: rules choose better when
        the results of earlier choices are known. Raises `StoreError`.
        """
        if not self._policy.is_ready or not self.may_request:
            return None
        for site_id in self._trials.admitted(in_flight):
            self.frontier.resume(site_id, now)
        for _ in range(MAX_REJECTED):
            if self.failure is not None or self._is_full(in_flight):
                return None
            leases = self.frontier.lease(now, 1)
            if not leases:
                self._rounds.found_nothing()
                return None
            (lease,) = leases
            if (robots := self.sites.robots_needed(lease)) is not None:
                self._put_off(lease, now)
                return robots
            if self._sitemaps.wait(lease.site_id) and self.sites.robots_allow(lease):
                if not self._trials.admits(lease.site_id, in_flight):
                    self._await_trial(lease, now)
                    continue
                if (needed := self._sitemap_needed(lease, now)) is not None:
                    return needed
            reason = self._policy.reason_to_skip(lease) or self.sites.reason_against(lease)
            if reason is not None:
                self.record(Page(lease.id, lease.url, lease.level, State.REJECTED, reason=reason))
            elif self._is_foreign or self._trials.admits(lease.site_id, in_flight):
                self._trials.started(lease.site_id, lease.id)
                self._rests = False
                self._rounds.leased()
                return lease
            else:
                self._await_trial(lease, now)
            if self.clock() - now > MAX_REJECTING_S:
                break
        return None

    def _await_trial(self, lease: Lease, now: float) -> None:
        """Let the site of *lease* wait for room among the sites on trial."""
        self.frontier.release(lease, now)
        self.frontier.pause(lease.site_id, wait=Wait.TRIAL)
        self._trials.wait(lease.site_id)

    def _put_off(self, lease: Lease, now: float, wait: Wait = Wait.ROBOTS) -> None:
        """Let the site of *lease* wait for something that is needed before its pages."""
        self.frontier.release(lease, now)
        self.frontier.pause(lease.site_id, is_awaited=True, wait=wait)

    def _sitemap_needed(self, lease: Lease, now: float) -> SitemapNeeded | RobotsNeeded | None:
        """Return the sitemap that is to be requested in place of *lease*, or the robots.txt before it; None if none."""
        needed, rows = self._sitemaps.needed(lease.site_id)
        if rows:
            self.session.writer.submit(ChangeSet(*rows))
        if isinstance(needed, RobotsNeeded):
            self._put_off(lease, now)
        elif needed is not None:
            self._put_off(lease, now, Wait.SITEMAP)
            self._trials.started(lease.site_id, lease.id)
            self._sitemap_turns[lease.site_id] = lease.id
            self.sites.fetching.add(lease.site_id)
            self._rests = False
        return needed

    def next_due(self, now: float, in_flight: int = 0) -> float | None:
        """Return the seconds until `next` may return something; None if it will not without a further event."""
        if not self._policy.is_ready or not self.may_request or self._is_full(in_flight):
            return None
        return self.frontier.next_due(now)

    def renders(self, site_id: int) -> bool:
        """Return whether a browser renders the pages of a site."""
        return self.sites.row(site_id).site in self.rendered

    def waits_for_robots(self, now: float) -> bool:
        """Whether nothing can be fetched, by any worker, before the robots.txt of a further site is known."""
        if not self._policy.is_ready or self.frontier.leases or self._sitemap_turns:
            return False
        if self._policy.is_queueing:
            self._rests = False
        elif self._ends_after is not None and self.frontier.only_revisits(self._ends_after, with_paused=False):
            self._rests = True
        else:
            self._rests = self.frontier.next_due(now) is None
        return self._rests and self._members.are_idle

    def _is_full(self, in_flight: int) -> bool:
        requests = self.frontier.leases + len(self._sitemap_turns) + in_flight
        return not self._is_foreign and requests >= self._most_leases

    def sent(self, lease: Lease) -> None:
        """Note that the request for *lease* is sent now: the delay of its host counts from then, not from the lease.

        A busy process, or one that has yet to connect, sends it late. The lease of a copied request has ended.
        """
        if self.frontier.leased(lease.id) is lease:
            self.frontier.gate(lease.site_id).asked(self.clock())

    def robots_known(self, site_id: int, status: int, text: str | None, rest_s: float | None = None) -> None:
        """Store and apply the robots.txt of a site; its pages may be fetched now.

        *text* is that of the file, or the reason why there was no response (*status* 0). If it is requested again after
        *rest_s* seconds, the URLs of the site wait until then.
        """
        now = self.clock()
        address = self.sites.robots_address(site_id)
        try:
            if is_unreachable(status):
                self._stats.robots_failed(address, status, text or "", now)
            changes = ChangeSet()
            if address == self.sites.row(site_id).site:  # that of a further address is not stored
                changes.add(SiteRobots(site_id, status, text, now))
            if rest_s is not None:
                self.session.writer.submit(changes)
                self._stats.rested()
                self.frontier.pause(site_id)
                return
            self.sites.robots_known(site_id, status, text)
            self._sitemaps.robots_known(site_id, address, text if status == 200 and text else "")
            self.frontier.gate(site_id).asked(now)
            self.frontier.resume(site_id, now)
            # In one transaction: who knows the robots.txt does not read the names of sitemaps in it again.
            self._add_urls(self._policy.found_by_robots(text or ""), now, changes)
        except StoreError as error:
            self.abort(error)

    # Sitemaps ---------------------------------------------------------------------------------------

    def sitemap_sent(self, site_id: int) -> None:
        """Note that the request for a sitemap of a site is sent now."""
        if site_id in self._sitemap_turns:
            self.frontier.gate(site_id).asked(self.clock())

    def sitemap_due_at(self, site_id: int) -> float:
        """Return when a sitemap of a site may be requested again, at the earliest."""
        return self.frontier.gate(site_id).next_at

    def sitemap_refused(self, site_id: int, retry_after_s: float | None) -> None:
        """Let a site rest that asks for it in the response to the request for a sitemap."""
        self.frontier.gate(site_id).refused(self.clock(), retry_after_s)

    def may_follow_sitemap(self, site_id: int, url: str) -> bool:
        """Return whether a sitemap that redirects to *url* is requested there."""
        return self._sitemaps.may_follow(site_id, url)

    async def read_sitemap(self, site_id: int, response: WebResponse) -> SitemapContent:
        """Return the content of a sitemap, read in another thread."""
        content = partial(self._sitemaps.content, site_id, response, self.clock())
        return await self.session.reader.run(content)

    def sitemap_ended(self, site_id: int, response: SitemapResponse) -> None:
        """Store what the sitemap of a site says, or why it was not read; the site goes on."""
        page_id = self._sitemap_turns.pop(site_id, None)
        if page_id is None or self.failure is not None or self.is_closed:
            return
        now = self.clock()
        try:
            self._trials.ended(site_id, page_id, responded=response.status > 0)
            self.sites.fetching.discard(site_id)
            self.session.writer.submit(self._sitemaps.ended(site_id, response, now))
            self._stats.sitemap_ended(is_read=response.content is not None and response.content.kind != "")
            self.frontier.resume(site_id, now)
        except StoreError as error:
            self.abort(error)
        except Exception as error:
            self.abort_by_bug("a sitemap can't be stored", error)

    # Results ----------------------------------------------------------------------------------------

    def record(self, page: Page) -> Page:
        """Store *page* and end its lease; after a transient failure the URL waits again.

        Returns the page as it was stored. A page without an open lease is ignored.
        """
        lease = self._lease_of(page)
        if lease is None:
            return page
        try:
            page = Slices(self._record(lease, page)).finish()
            self._held.part(lease.site_id)
        except Exception as error:
            self._abort_for(page, error)
        return page

    async def record_in_slices(self, page: Page) -> Page:
        """Do what `record` does, in slices between which others may run; other pages wait for the last one."""
        async with self._slices:
            lease = self._lease_of(page)
            if lease is None:
                return page
            self._sliced_page = page.id
            recording = Slices(self._record(lease, page))
            try:
                if (numbers := self.frontier.reserve(len(page.links) + len(page.cross_site_links))) is not None:
                    await wrap_future(numbers)
                while self.failure is None and recording.next():
                    await sleep(0)
                if self.failure is not None:
                    return page
                page = recording.finish()
                self._held.part(lease.site_id)
            except CancelledError:
                recording.finish()
                raise
            except Exception as error:
                self._abort_for(page, error)
            finally:
                recording.drop()
                self._sliced_page = None
            self._wake()
            return page

    @property
    def is_in_slices(self) -> bool:
        """Whether a page is recorded in slices; others have to be recorded after it, by `record_in_slices`."""
        return self._slices.locked()

    def _lease_of(self, page: Page) -> Lease | None:
        """Return the lease that *page* ends; None if there is none.

        After a failure the frontier may know URLs that the store does not: nothing may follow.
        """
        if self.failure is not None or page.id == self._sliced_page:
            return None
        return self.frontier.leased(page.id)

    def _abort_for(self, page: Page, error: Exception) -> None:
        if isinstance(error, StoreError):
            self.abort(error)
        else:
            self.abort_by_bug(f"{page.url} can't be stored", error)

    def _record(self, lease: Lease, page: Page) -> Generator[None, None, Page]:
        self._has_settled = False
        now = self.clock()
        responded = None if page.state is State.REJECTED else page.status > 0 or page.state is not State.FAILED
        self._trials.ended(lease.site_id, lease.id, responded=responded)
        attempts = lease.attempts + 1
        home: SiteHome | None = None
        if lease.level == 0:
            page, home = self._homes.follow(lease, page)
            if page.moved_to is not None and not self._url_filter.select(page.moved_to):
                logger.warning(
                    "%s redirects to %s, which is not in the folder of the site: only that page is fetched; give its "
                    "address in the list of sites",
                    page.url,
                    page.moved_to.url,
                )
        rest_until = 0.0
        if page.status in REST_STATUSES:
            rest_until = self.frontier.gate(lease.site_id).refused(now, page.retry_after_s)
            self.session.writer.submit(ChangeSet(SiteRest(lease.site_id, rest_until)))
        # Scrapy's RetryMiddleware decides about the requests of foreign spiders.
        if lease.request is None and (page.is_transient or (page.state is State.REFUSED and page.status)):
            delay_s = retry_delay_s(self.retries, page.status, attempts)
            if delay_s is not None:
                self.frontier.release(lease, max(now + delay_s, rest_until), page.reason, failed=True)
                self._stats.retried(page, now)
                return page
            if attempts > 1:
                page = replace(page, state=State.FAILED, reason=f"{page.reason}, {attempts} attempts")
        earned = self.session.rewards.of(lease.site_id, page)
        self._stats.rewarded(earned.reward)
        if page.state is State.DONE:
            if earned.keys:
                page = replace(page, content_signature=signature_with(page.content_signature, earned.keys))
            self.frontier.gate(lease.site_id).succeeded()
            self.sites.observe(lease, page)
        decision = yield from self._policy.deciding(lease, page, now)
        page = fail_loop(lease, decision.page)  # nothing is stored of its target, so it must not open a site
        is_the_same = lease.previous is not None and is_unchanged(page, lease.previous)
        page = self.sites.open_cross_site(page, now, decision.changes, adds_sites=not is_the_same)
        if page is not decision.page:
            decision = replace(decision, page=page)
        if home is not None:
            decision.changes.add(home)
        acknowledging = self.frontier.acknowledging(lease, decision, now, earned)
        try:
            while acknowledging.next():
                yield
        finally:
            acknowledging.drop()
        new, page = acknowledging.finish()
        if page.state is not State.REJECTED:
            self._rounds.ended()
        if self.frontier.is_drained(lease.site_id):
            self.sites.release_watch(lease.site_id)
        self._stats.ended(lease, page, new, now)
        return page

    # The end ----------------------------------------------------------------------------------------

    def abort(self, error: CrawlersError, reason: str = "store_failed") -> None:
        """Report *error*, and end the crawl; everything stored is kept."""
        if self.failure is None:
            self._fail(error)
            self._stop(reason)

    def abort_by_bug(self, what: str, error: Exception) -> None:
        """Report an *error* that the program should not have: ending the crawl is better than losing a page."""
        logger.exception("Internal error")
        self.abort(FrontierError(f"{what}: {type(error).__name__} {error}; please report it"))

    def _fail(self, error: BaseException) -> None:
        if self.failure is None:
            self.failure = error
            level = logging.WARNING if isinstance(error, PASSING) else logging.ERROR
            logger.log(level, "%s", error)

    def resume(self) -> None:
        """Request pages, because the policy is now ready."""
        self._wake()

    def fail_for_lost_pages(self) -> bool:
        """Fail if URLs are leased although nothing is in flight, as their pages are lost; return whether any are."""
        if self.failure is not None or not self.frontier.leases:
            return False
        self._fail(
            FrontierError(
                f"fetched {counted(self.frontier.leases, 'page')}, but no Page was recorded; a spider, middleware or "
                "pipeline must return each Page, or raise DropItem: correct it, then run the same command again"
            )
        )
        return True

    @property
    def is_spent(self) -> bool:
        """Whether the page budget ends the crawl although URLs wait."""
        if self._members.others:
            return self.failure is None and self._members.is_spent and not self._members.is_over
        return self.failure is None and self.frontier.is_waiting and self.frontier.is_spent

    @property
    def has_unsettled_levels(self) -> bool:
        """Whether nothing waits any more, and levels may have to be corrected: see `settle_levels`."""
        if self.failure is not None or self._has_settled or self.frontier.is_waiting or self._members.others:
            return False
        return self.session.leaves_levels_too_deep

    async def settle_levels(self) -> None:
        """Correct the levels that the order left too deep; URLs may wait again after that."""
        if self._is_settling:
            return
        self._is_settling = True
        try:
            await self.session.settle_levels(self.sites.rows, self.clock)
        except StoreError as error:
            if not self.session.writer.is_closed:  # else the crawl was closed in the meantime
                self.abort(error)
        except Exception as error:
            self.abort_by_bug("the levels can't be corrected", error)
        else:
            self._has_settled = not self.frontier.is_waiting
            self._wake()
        finally:
            self._is_settling = False

    def close(self, reason: str, outputs: Iterable[Callable[[], None]]) -> None:
        """Commit everything and leave the crawl; the last worker writes the *outputs*, and records how it ended.

        A crawl is finished only when all outputs are written: after a kill before that, the same command continues it.
        The error of an output is reported, and the others are written nevertheless.
        """
        is_logged = self._writes(self._stats.close)  # even if the store fails
        try:
            if not isinstance(self.failure, PASSING):
                self.session.commit()
                if self.session.leave():
                    self._end(reason, outputs, is_logged=is_logged)
                else:
                    self._say_that_others_go_on()
        except StoreError as error:
            self._fail(error)
        finally:
            self.session.close_all()
            self.is_closed = True

    def _end(self, reason: str, outputs: Iterable[Callable[[], None]], *, is_logged: bool) -> None:
        self.session.database.collect_statistics()
        if reason == "finished":
            self.session.drop_surplus()
        self.session.close_writer()
        is_written = all([is_logged, *(self._writes(output) for output in outputs)])
        finished = reason == "finished" and is_written and not self.frontier.is_waiting
        is_finished = self.session.end(finished=finished, reason=reason, now=self.clock())
        self.has_ended = True
        outcome = self.session.outcome(reason, is_finished=is_finished)
        if self._is_foreign:  # missions have a summary, which begins with the same words
            logger.info("Crawl %s %s", self.session.name, outcome)

    def _say_that_others_go_on(self) -> None:
        others = max(1, self._members.others)
        still = f"{counted(others, 'other')} {'works' if others == 1 else 'work'} on it"
        logger.info("Worker %d leaves the crawl %s; %s", self.worker_id, self.session.name, still)

    def _writes(self, output: Callable[[], None]) -> bool:
        try:
            output()
        except Exception as error:
            if not isinstance(error, CrawlersError):
                logger.exception("Internal error")
            self._fail(error)
            return False
        return True
