"""A running crawl: its parts, which URL is fetched next, and how it ends. Independent of Scrapy.

A scheduler asks for leases (`next`) and makes requests of them; a pipeline returns the pages (`page_recording`).
"""

from __future__ import annotations

import logging
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING

from crawlers.crawl.control import PASSING
from crawlers.crawl.held_sites import HeldSites
from crawlers.crawl.home_addresses import HomeAddresses
from crawlers.crawl.open_sites import OpenSites
from crawlers.crawl.page_recording import PageRecording
from crawlers.crawl.robots_policy import RobotsNeeded, RobotsPolicy
from crawlers.crawl.session import CrawlSession, log_paths
from crawlers.crawl.site_sitemaps import SitemapNeeded, SiteSitemaps
from crawlers.crawl.site_traps import SiteTraps
from crawlers.crawl.start_urls import StartUrls
from crawlers.crawl.stats import CrawlStats, CsvLogs
from crawlers.crawl.trials import Trials
from crawlers.errors import CrawlersError, FrontierError, StoreError
from crawlers.inputs.setting_readers import RenderedSites, normalization, url_selection
from crawlers.items import Page, State
from crawlers.pages.retries import RetryPolicy, robots_rests
from crawlers.pages.robots_groups import is_unreachable
from crawlers.plurals import counted
from crawlers.reasons import Reason
from crawlers.sites.robots_rules import robots_token
from crawlers.sites.sitemaps import sitemaps_of_robots
from crawlers.store.schema.tables import PrivateSeedHost, SeedHostRow, SiteCertificate, SiteRest, SiteRobots
from crawlers.store.sites.site_opening import StoredSelection
from crawlers.store.sites.site_rows import networks_of_seeds
from crawlers.store.worker_rows import PAUSE, STOP, Wait
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.addresses import AddressGuard
from crawlers.urls.scope import UrlSelection
from crawlers.urls.url_filter import UrlFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future

    from crawlers.crawl.control import CrawlControl
    from crawlers.crawl.run import Run
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.frontier.frontier import Frontier
    from crawlers.frontier.values import Lease
    from crawlers.inputs.program import CrawlOrigin
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.items import Target
    from crawlers.store.schema.rows import Row
    from crawlers.store.worker_rows import Round

logger = logging.getLogger(__name__)

# One call of `next` rejects at most so many URLs, and takes at most so long for it, so that the caller gets its turn.
MAX_REJECTED = 500
MAX_REJECTING_S = 0.1


class Crawl:
    """Open from construction until `close`.

    *count* adds to a stat.

    Raises `ConfigError`, `CrawlEnded`, `StoreUnavailable` and, if the process rejoins a crawl, `StoreError`.
    """

    def __init__(
        self,
        settings: SettingValues,
        spec: CrawlSpec,
        count: Callable[..., None],
        clock: Callable[[], float],
        control: CrawlControl,
        origin: CrawlOrigin,
    ) -> None:
        self.retries = RetryPolicy(
            settings.getint("RETRY_TIMES"),
            settings.getint("RETRY_REST_TIMES"),
            settings.getfloat("RETRY_BACKOFF_SECONDS"),
        )
        self.robots_rests = robots_rests(settings.getfloat("ROBOTS_REST_SECONDS"))
        self.robots_token = robots_token(settings)
        self.rendered = RenderedSites(settings, spec.sites)
        self.clock = clock
        refuses_private = settings.getbool("REFUSE_PRIVATE_ADDRESSES")
        self.addresses = AddressGuard(spec.seeds, refuses=refuses_private, note=self._store_networks)
        self.control = control
        self.is_closed = False
        self.has_ended = False  # this process recorded the end of the crawl, or of this run
        self._is_foreign = spec.is_foreign
        self._is_settling = self._has_settled = self._is_in_round = False
        self._most_leases = settings.getint("CONCURRENT_REQUESTS")
        self.trials = Trials(self._most_leases)
        self._certificates: set[str] = set()  # addresses whose certificates were checked
        self._badly_certified: set[int] = set()  # sites with a bad one
        self._in_hand: Lease | None = None  # whose URL is looked up in the store
        self._is_looking_up = False
        self._rests = False  # nothing can be leased before a robots.txt that could not be read is requested again
        options = normalization(settings)
        selection = UrlSelection() if spec.is_foreign else url_selection(settings)
        self._url_filter = UrlFilter(
            () if spec.is_foreign else settings.getlist("IGNORED_EXTENSIONS"),
            traps=not spec.is_foreign and settings.getbool("TRAPS_ENABLED"),
            selection=selection,
            folders={limits.site: limits.folder for limits in spec.sites if limits.folder},
            options=options,
        )
        logs = log_paths(settings)
        stored = StoredSelection(self._url_filter.reason_against, selection, options)
        session = self.session = CrawlSession(settings, spec, control, clock, self._reason_against, stored, origin)
        # A crawl that ends early does so when nothing waits but revisits that are due after this time.
        self._ends_after = session.row.run_started_at if spec.ends_early else None
        with ExitStack() as on_error:
            on_error.callback(session.close_all)
            on_error.callback(self._never_began)
            self._stats = CrawlStats(count, CsvLogs(*logs.values()), warns_of_home_pages=not spec.is_foreign)
            on_error.callback(self._stats.logs.close)
            self.mission: Run = spec.open(session)
            self.sites = OpenSites(session, spec.sites)
            self.robots = RobotsPolicy(session, self.sites, settings, self.robots_token)
            watches_traps = not spec.is_foreign and settings.getbool("TRAPS_ENABLED")
            self.traps = SiteTraps(session, self.sites, is_enabled=watches_traps)
            self.homes = HomeAddresses(session, self.sites, self._url_filter)
            self._starts = StartUrls(session, self.sites, self._url_filter, spec)
            self.sitemaps = SiteSitemaps(
                *(session, self.sites, self.robots, self.trials, self._stats, self._url_filter),
                is_enabled=spec.reads_sitemaps,
            )
            with session.database.read() as connection:
                self.addresses.recall(networks_of_seeds(connection, session.row.id))
            of_mission = (session, self.mission, self.sites)
            self._held = HeldSites(
                *(*of_mission, self.robots, self.traps, self._starts, self.trials, self.homes, self.sitemaps),
                self.addresses,
            )
            self.recording = PageRecording(*of_mission, self.traps, self.homes, self.trials, self._stats, self.retries)
            for number in session.site_ids():  # the same ties are decided in all workers: by these numbers, in order
                self.frontier.budget.rule.sleep(number)
            session.warn_of_other_sites()
            if session.row.is_shared:
                self._share()
            self._held.begin(session.row.sites, clock())
            session.claims.begin()
            on_error.pop_all()
        logger.info("Crawl %s %s", self.session.name, self.session.beginning())
        if self.robots.are_obeyed:
            logger.info('Rules of robots.txt apply to the crawl if they are for the user agent "%s"', self.robots_token)

    def _never_began(self) -> None:
        with suppress(StoreError):
            self.session.end(finished=False, reason=Reason.COULD_NOT_BEGIN, now=self.clock())

    @property
    def frontier(self) -> Frontier:
        """The frontier of the crawl."""
        return self.session.frontier

    def _reason_against(self, target: Target) -> str | None:
        return self._url_filter.reason_against(target) or self.mission.reason_against(target)

    # The other workers --------------------------------------------------------------------------------

    @property
    def _last(self) -> Round:
        return self.session.claims.last

    def _share(self) -> None:
        """Share the crawl with others from the next round on: what this worker holds, it holds until it gives it up."""
        from crawlers.workers.shared import Shared

        of_mission = (self.session, self.mission, self.sites, self._held)
        self.session.claims = Shared(*of_mission, self._is_idle, self._ends_after)

    @property
    def may_lease(self) -> bool:
        """Whether this worker may request anything: not while somebody asked the workers of the crawl to pause.

        If it could not reach the store for long, others may soon hold its sites.
        """
        return self._last.control != PAUSE and self.session.worker.is_sure

    def ask_to_stop(self, reason: str) -> None:
        """Let all workers of the crawl stop for *reason*."""
        self.session.worker.is_stopping = True
        with suppress(StoreError):  # then it is stopped anyway
            self.session.writer.run(partial(self.session.worker.ask_to_stop, reason))

    @property
    def has_joined(self) -> bool:
        """Whether other workers were active when this process joined the crawl."""
        return self.session.row.others > 0

    @property
    def watches_sources(self) -> bool:
        """Whether this worker raises alarms: one of them does, until the crawl is over."""
        return self._last.is_first and not self._last.is_over

    @property
    def run_s(self) -> float:
        """The seconds since a worker began or resumed the crawl while no other was active."""
        return self.clock() - self.session.row.run_started_at

    async def round(self, *, is_stopping: bool = False) -> None:
        """Write the logs, and exchange with the other workers by the store.

        A worker that *is_stopping* takes nothing more.
        """
        worker = self.session.worker
        worker.is_stopping = worker.is_stopping or is_stopping
        if self.control.failure is not None or self.session.writer.is_closed:
            return
        try:
            self._stats.logs.flush()
            if self._is_in_round:
                return
            await self._exchange()
            await self.mission.step(self._last.others, self.clock())
            self.control.resume()
        except Exception as error:
            if not self.session.writer.is_closed:  # else the crawl was closed, and the threads that read have ended
                self.control.abort_for("the exchange with the other workers failed", error)

    async def _exchange(self) -> None:
        self._is_in_round = True
        try:
            await self.session.claims.round()
            if self._last.others and not self.session.claims.is_shared:
                self._share()
                await self.session.claims.round()
        finally:
            self._is_in_round = False
        if self._last.control == STOP and not self.session.worker.is_stopping:
            self.session.worker.is_stopping = True
            logger.info("Crawl %s was asked to stop", self.session.name)
            self.control.stop(self._last.reason or Reason.SHUTDOWN)
        await (
            self.session.claims.open()
        )  # many sites take longer than a worker may be silent, so rounds go on meanwhile

    def _is_idle(self) -> bool:
        return self._rests or not self.frontier.schedule.is_waiting or self._has_only_later_revisits

    @property
    def _has_only_later_revisits(self) -> bool:
        """Whether the crawl ends early, and only revisits are left that became due since it began."""
        if self._ends_after is None or not self.session.claims.are_all_open or self.mission.has_more:
            return False
        return self.frontier.only_revisits(self._ends_after)

    # Fetching ---------------------------------------------------------------------------------------

    @property
    def has_pending(self) -> bool:
        """Whether anything will be leased sooner or later without a further event, or others work on the crawl."""
        if self.control.failure is not None:
            return False
        if self._in_hand is not None:
            return True
        if self._last.others and not self.session.worker.is_stopping:
            if self._last.is_over:  # then the elected worker goes on alone
                return self._last.is_elected and self.session.leaves_levels_too_deep
            return not self._last.is_budget_exhausted
        if self._has_only_later_revisits:
            return False
        return self.frontier.has_pending or not self.session.claims.are_all_open

    def next(self, now: float, in_flight: int = 0) -> Lease | RobotsNeeded | SitemapNeeded | None:
        """Return the URL to fetch next, or what a site needs before its pages; None if nothing may be fetched yet.

        With *in_flight* further downloads, no more than CONCURRENT_REQUESTS run at a time: rules choose better when
        the results of earlier choices are known. Raises `StoreError`.
        """
        if not self.mission.is_ready or not self.may_lease or self._is_looking_up:
            return None
        for site_id in self.trials.admit_waiting(in_flight):
            self.frontier.schedule.resume(site_id, now)
        for _ in range(MAX_REJECTED):
            if self.control.failure is not None or self._is_full(in_flight):
                return None
            leases = [self._in_hand] if self._in_hand is not None else self.frontier.lease(now, 1)
            if not leases:
                self.session.worker.has_room = True
                return None
            (lease,) = leases
            self._in_hand = None
            self._has_settled = False
            if (robots := self.robots.needed(lease)) is not None:
                self._put_off(lease, now)
                return robots
            if self.sitemaps.wait(lease.site_id) and self.robots.allows(lease):
                if not self.trials.admits(lease.site_id, in_flight):
                    self._await_trial(lease, now)
                    continue
                if (needed := self.sitemaps.take_turn(lease)) is not None:
                    is_sitemap = isinstance(needed, SitemapNeeded)
                    self._put_off(lease, now, Wait.SITEMAP if is_sitemap else Wait.ROBOTS)
                    self._rests = self._rests and not is_sitemap
                    return needed
            verdict = self.mission.reason_to_skip(lease) or self.robots.verdict(lease) or self.traps.verdict(lease)
            if isinstance(verdict, str):
                self.recording.record(Page(lease.id, lease.url, lease.level, State.REJECTED, reason=verdict))
            elif verdict is not None:
                self._look_up(lease, verdict)
                if self._is_looking_up:
                    return None
                continue
            elif self._is_foreign or self.trials.admits(lease.site_id, in_flight):
                self.trials.record_request(lease.site_id, lease.id)
                self._rests = False
                self.session.worker.leased += 1
                return lease
            else:
                self._await_trial(lease, now)
            if self.clock() - now > MAX_REJECTING_S:
                break
        return None

    def _await_trial(self, lease: Lease, now: float) -> None:
        """Let the site of *lease* wait for room among the sites on trial."""
        self.frontier.release(lease, now)
        self.frontier.schedule.pause(lease.site_id, wait=Wait.TRIAL)
        self.trials.wait(lease.site_id)

    def _put_off(self, lease: Lease, now: float, wait: Wait = Wait.ROBOTS) -> None:
        """Let the site of *lease* wait for something that is needed before its pages."""
        self.frontier.release(lease, now)
        self.frontier.schedule.pause(lease.site_id, is_awaited=True, wait=wait)

    def _look_up(self, lease: Lease, query: Callable[[], Callable[[], None]]) -> None:
        """Keep *lease* until the result of *query* is taken up; no other URL is chosen in the meantime.

        So choices do not depend on how long the look-up takes, nor on whether a killed crawl makes it again.
        """

        def take_up(found: Future[Callable[[], None]]) -> None:
            self._is_looking_up = False
            if self.control.failure is not None or self.session.writer.is_closed:
                return
            try:
                found.result()()
            except Exception as error:
                self.control.abort_for("a look-up failed", error)
            self.control.resume()

        self._in_hand, self._is_looking_up = lease, True
        self.session.reader.call(query, take_up)

    def next_due(self, now: float, in_flight: int = 0) -> float | None:
        """Return the seconds until `next` may return something; None if it will not without a further event."""
        if not self.mission.is_ready or not self.may_lease or self._is_looking_up or self._is_full(in_flight):
            return None
        return self.frontier.next_due(now) if self._in_hand is None else 0.0

    def renders(self, site_id: int) -> bool:
        """Return whether a browser renders the pages of a site."""
        return self.sites.row(site_id).site in self.rendered

    def waits_for_robots(self, now: float) -> bool:
        """Whether nothing can be fetched, by any worker, before the robots.txt of a further site is known."""
        if not self.mission.is_ready or self.frontier.leases or self.sitemaps.in_flight:
            return False
        if self.mission.is_queueing:
            self._rests = False
        elif self._ends_after is not None and self.frontier.only_revisits(self._ends_after, with_paused=False):
            self._rests = True
        else:
            self._rests = self.frontier.next_due(now) is None
        return self._rests and self._last.idle == self._last.others

    def _is_full(self, in_flight: int) -> bool:
        requests = self.frontier.leases - (self._in_hand is not None) + self.sitemaps.in_flight + in_flight
        return not self._is_foreign and requests >= self._most_leases

    def record_request(self, lease: Lease) -> None:
        """Note that the request for *lease* is sent now: the delay of its host counts from then, not from the lease.

        A busy process, or one that has yet to connect, sends it late. The lease of a copied request has ended.
        """
        if self.frontier.leased(lease.id) is lease:
            self.frontier.site(lease.site_id).gate.record_request(self.clock())

    def record_robots(self, site_id: int, status: int, text: str | None, rest_s: float | None = None) -> None:
        """Store and apply the robots.txt of a site; its pages may be fetched now.

        *text* is that of the file, or the reason why there was no response (*status* 0). If it is requested again after
        *rest_s* seconds, the URLs of the site wait until then.
        """
        now = self.clock()
        address = self.robots.address(site_id)
        try:
            if is_unreachable(status):
                self._stats.count_robots_failure(address, status, text or "", now)
            if rest_s is not None:
                self.robots_waits(site_id, status, text, rest_s)
                self._stats.inc_value("robots/rests")
                self.frontier.schedule.pause(site_id)
                return
            changes = ChangeSet()
            if address == self.sites.row(site_id).site:  # that of a further address is not stored
                changes.add(SiteRobots(site_id, status, text, now))
            self.robots.record(site_id, status, text)
            named = sitemaps_of_robots(text, address) if status == 200 and text else []
            self.sitemaps.record_robots(site_id, address, named)
            self.frontier.site(site_id).gate.record_request(now)
            self.frontier.schedule.resume(site_id, now)
            # In one transaction: who knows the robots.txt does not read the names of sitemaps in it again.
            self._starts.add(self.mission.found_by_robots(named), now, changes)
        except StoreError as error:
            self.control.abort(error)

    def certificate_received(self, address: str, problem_of_it: Callable[[], str | None]) -> None:
        """Store what is wrong with the certificate of an *address* of a site, once in a run."""
        if address in self._certificates:  # as for all but one of the responses of a site
            return
        site_id = self.sites.open_site_id(address)
        if site_id is None or site_id in self._badly_certified:
            return
        self._certificates.add(address)
        if (problem := problem_of_it()) is not None:
            self._badly_certified.add(site_id)
        self._store(SiteCertificate(site_id, problem))

    def _store(self, *rows: Row) -> None:
        try:
            self.session.writer.submit(ChangeSet(*rows))
        except StoreError as error:
            self.control.abort(error)

    def _store_networks(self, host: str, networks: frozenset[str]) -> None:
        """Store where a host that a person named was found, before anything of it."""
        kind = PrivateSeedHost if networks else SeedHostRow
        self._store(kind(self.session.row.id, host, ",".join(sorted(networks))))

    def robots_waits(self, site_id: int, status: int, text: str | None, wait_s: float) -> None:
        """Store why the robots.txt of a site could not be read, and that it is requested again in *wait_s* seconds."""
        if self.robots.address(site_id) != self.sites.row(site_id).site:
            return
        now = self.clock()
        self._store(SiteRobots(site_id, status, text, now), SiteRest(site_id, now + wait_s))

    # The end ----------------------------------------------------------------------------------------

    def fail_for_lost_pages(self) -> bool:
        """Fail if URLs are leased although nothing is in flight, as their pages are lost; return whether any are."""
        if self.control.failure is not None or not self.frontier.leases:
            return False
        self.control.fail(
            FrontierError(
                f"fetched {counted(self.frontier.leases, 'page')}, but no Page was recorded; a spider, middleware or "
                "pipeline must return each Page, or raise DropItem: correct it, then run the same command again"
            )
        )
        return True

    @property
    def is_budget_exhausted(self) -> bool:
        """Whether the page budget ends the crawl although URLs wait."""
        if (last := self._last).others:
            return self.control.failure is None and last.is_budget_exhausted and not last.is_over
        return self.control.failure is None and self.frontier.schedule.is_waiting and self.frontier.budget.is_exhausted

    @property
    def has_unsettled_levels(self) -> bool:
        """Whether nothing waits any more, and levels may have to be corrected: see `correct_levels`."""
        is_open = self._last.others or self.frontier.schedule.is_waiting or self._has_settled
        return not is_open and self.control.failure is None and self.session.leaves_levels_too_deep

    async def correct_levels(self) -> None:
        """Correct the levels that the order left too deep; URLs may wait again after that."""
        if self._is_settling:
            return
        self._is_settling = True
        try:
            await self.session.correct_levels(self.sites.rows)
        except Exception as error:
            if not (isinstance(error, StoreError) and self.session.writer.is_closed):  # else the crawl was closed
                self.control.abort_for("the levels can't be corrected", error)
        else:
            self._has_settled = not self.frontier.schedule.is_waiting
            self.control.resume()
        finally:
            self._is_settling = False

    def close(self, reason: str, outputs: Iterable[Callable[[], None]]) -> None:
        """Commit everything and leave the crawl; the last worker writes the *outputs*, and records how it ended.

        A crawl is finished only when all outputs are written: after a kill before that, the same command continues it.
        The error of an output is reported, and the others are written nevertheless.
        """
        is_logged = self._writes(self._stats.logs.close)  # even if the store fails
        try:
            if not isinstance(self.control.failure, PASSING):
                self.session.commit()
                if self.session.writer.call(self.session.worker.leave):
                    self._end(reason, outputs, is_logged=is_logged)
                else:
                    self._say_that_others_go_on()
        except StoreError as error:
            self.control.fail(error)
        finally:
            self.session.close_all()
            self.is_closed = True

    def _end(self, reason: str, outputs: Iterable[Callable[[], None]], *, is_logged: bool) -> None:
        self.session.database.collect_statistics()
        if reason == Reason.FINISHED:
            self.session.drop_surplus()
        self.session.writer.close()
        is_written = all([is_logged, *(self._writes(output) for output in outputs)])
        finished = reason == Reason.FINISHED and is_written and not self.frontier.schedule.is_waiting
        is_finished = self.session.end(finished=finished, reason=reason, now=self.clock())
        self.has_ended = True
        outcome = self.session.outcome(reason, is_finished=is_finished)
        if self._is_foreign:  # missions have a summary, which begins with the same words
            logger.info("Crawl %s %s", self.session.name, outcome)

    def _say_that_others_go_on(self) -> None:
        others = max(1, self._last.others)
        still = f"{counted(others, 'other')} {'works' if others == 1 else 'work'} on it"
        logger.info("Worker %d leaves the crawl %s; %s", self.session.worker.id, self.session.name, still)

    def _writes(self, output: Callable[[], None]) -> bool:
        try:
            output()
        except Exception as error:
            if not isinstance(error, CrawlersError):
                logger.exception("Internal error")
            self.control.fail(error)
            return False
        return True
