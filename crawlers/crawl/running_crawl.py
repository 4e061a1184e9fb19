"""A running crawl: its parts, its rounds, what hosts answer besides pages, and how it ends. Independent of Scrapy."""

from __future__ import annotations

import logging
import math
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from crawlers.crawl.control import PASSING, naming
from crawlers.crawl.held_sites import HeldSites
from crawlers.crawl.leasing import Leasing, PageRecording
from crawlers.crawl.open_sites import OpenSites, StartUrls, Trials
from crawlers.crawl.session import CrawlSession
from crawlers.crawl.site_files import RobotsPolicy, SiteSitemaps
from crawlers.crawl.site_traps import SiteTraps
from crawlers.crawl.stats import CrawlStats, CsvLogs
from crawlers.errors import CrawlersError, FrontierError, StoreError
from crawlers.inputs.setting_readers import RenderedSites, log_paths, normalization, url_selection
from crawlers.pages.retries import RetryPolicy, robots_rests
from crawlers.pages.robots_groups import is_unreachable
from crawlers.plurals import counted
from crawlers.reasons import Reason
from crawlers.sites.robots_rules import robots_token, sitemaps_of_robots
from crawlers.store.schema.tables import PrivateSeedHost, SeedHostRow, SiteCertificate, SiteRest, SiteRobots
from crawlers.store.sites.site_opening import StoredSelection, networks_of_seeds
from crawlers.store.worker_rows import STOP
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.addresses import AddressGuard
from crawlers.urls.url_filter import UrlFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlers.crawl.control import CrawlControl
    from crawlers.crawl.run import Run
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.frontier.frontier import Frontier
    from crawlers.inputs.program import CrawlOrigin
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.items import Target
    from crawlers.store.schema.rows import Row

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class HostAnswers:
    """Stores and applies them."""

    session: CrawlSession
    mission: Run
    sites: OpenSites
    robots: RobotsPolicy
    starts: StartUrls
    sitemaps: SiteSitemaps
    stats: CrawlStats
    _certificates: set[str] = field(default_factory=set)  # addresses whose certificates were checked
    _badly_certified: set[int] = field(default_factory=set)  # sites with a bad one

    def record_robots(self, site_id: int, status: int, text: str | None, rest_s: float | None = None) -> None:
        """Store and apply the robots.txt of a site; its pages may be fetched now.

        *text* is that of the file, or the reason why there was no response (*status* 0). If it is requested again after
        *rest_s* seconds, the URLs of the site wait until then.
        """
        now = self.session.clock()
        address = self.robots.address(site_id)
        try:
            if is_unreachable(status):
                self.stats.count_robots_failure(address, status, text or "", now)
            if rest_s is not None:
                self.robots_waits(site_id, status, text, rest_s)
                self.stats.inc_value("robots/rests")
                self.session.frontier.schedule.pause(site_id)
                return
            changes = ChangeSet()
            if address == self.sites.rows[site_id].site:  # that of a further address is not stored
                changes.add(SiteRobots(site_id, status, text, now))
            self.robots.record(site_id, status, text)
            named = sitemaps_of_robots(text, address) if status == 200 and text else []
            self.sitemaps.record_robots(site_id, address, named)
            self.session.frontier.site(site_id).gate.record_request(now)
            self.session.frontier.schedule.resume(site_id, now)
            # In one transaction: who knows the robots.txt does not read the names of sitemaps in it again.
            self.starts.add(self.mission.found_by_robots(named), now, changes)
        except StoreError as error:
            self.session.control.abort(error)

    def certificate_received(self, address: str, problem_of_it: Callable[[], str | None] | None) -> None:
        """Store what is wrong with the certificate of an *address* of a site, once in a run; None: it was verified."""
        if address in self._certificates:  # as for all but one of the responses of a site
            return
        site_id = self.sites.open_site_id(address)
        if site_id is None or site_id in self._badly_certified:
            return
        self._certificates.add(address)
        problem = None if problem_of_it is None else problem_of_it()
        if problem is not None:
            self._badly_certified.add(site_id)
        self._store(SiteCertificate(site_id, problem))

    def _store(self, *rows: Row) -> None:
        try:
            self.session.writer.submit(ChangeSet(*rows))
        except StoreError as error:
            self.session.control.abort(error)

    def store_networks(self, host: str, networks: frozenset[str]) -> None:
        """Store where a host that a person named was found, before anything of it."""
        kind = PrivateSeedHost if networks else SeedHostRow
        self._store(kind(self.session.row.id, host, ",".join(sorted(networks))))

    def robots_waits(self, site_id: int, status: int, text: str | None, wait_s: float) -> None:
        """Store why the robots.txt of a site could not be read, and that it is requested again in *wait_s* seconds."""
        if self.robots.address(site_id) != self.sites.rows[site_id].site:
            return
        now = self.session.clock()
        self._store(SiteRobots(site_id, status, text, now), SiteRest(site_id, now + wait_s))


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
        self.control = control
        self.is_closed = False
        self.has_ended = False  # this process recorded the end of the crawl, or of this run
        self._is_in_round = False
        most = math.inf if spec.is_foreign else settings.getint("CONCURRENT_REQUESTS")
        self.trials = Trials(most)
        options = normalization(settings)
        selection = None if spec.is_foreign else url_selection(settings)
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
        with ExitStack() as on_error:
            on_error.callback(session.close_all)
            on_error.callback(self._never_began)
            self._stats = CrawlStats(count, CsvLogs(*logs.values()), warns_of_home_pages=not spec.is_foreign)
            self.mission: Run = spec.open(session)
            self.sites = OpenSites(session, spec.sites)
            self.robots = RobotsPolicy(session, self.sites, settings, self.robots_token)
            watches_traps = not spec.is_foreign and settings.getbool("TRAPS_ENABLED")
            self.traps = SiteTraps(session, self.sites, is_enabled=watches_traps)
            self.starts = StartUrls(session, self.sites, self._url_filter)
            self.sitemaps = SiteSitemaps(
                *(session, self.sites, self.robots, self.trials, self._stats, self._url_filter),
                is_enabled=spec.reads_sitemaps,
            )
            of_mission = (session, self.mission, self.sites)
            self.answers = HostAnswers(*of_mission, self.robots, self.starts, self.sitemaps, self._stats)
            refuses_private = settings.getbool("REFUSE_PRIVATE_ADDRESSES")
            self.addresses = AddressGuard(spec.seeds, refuses=refuses_private, note=self.answers.store_networks)
            with session.database.read() as connection:
                self.addresses.recall(networks_of_seeds(connection, session.row.id))
            of_sites = (*of_mission, self.robots, self.traps)
            self._held = HeldSites(*of_sites, self.starts, self.trials, self.sitemaps, self.addresses)
            self.recording = PageRecording(
                *(*of_mission, self.traps, self.starts, self.trials, self._stats, self.retries)
            )
            ends_after = session.row.run_started_at if spec.ends_early else None
            self.leasing = Leasing(*of_sites, self.sitemaps, self.trials, self.recording, most, ends_after)
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

    def _share(self) -> None:
        """Share the crawl with others from the next round on: what this worker holds, it holds until it gives it up."""
        from crawlers.workers.shared import Shared

        of_mission = (self.session, self.mission, self.sites, self._held)
        self.session.claims = Shared(*of_mission, self.leasing.is_idle, self.leasing.ends_after)

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
        return self.session.claims.last.is_first and not self.session.claims.last.is_over

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
            with naming(self.mission, "step"):
                await self.mission.step(self.session.claims.last.others, self.clock())
            self.control.resume()
        except Exception as error:
            if not self.session.writer.is_closed:  # else the crawl was closed, and the threads that read have ended
                self.control.abort_for("the exchange with the other workers failed", error)

    async def _exchange(self) -> None:
        self._is_in_round = True
        try:
            await self.session.claims.round()
            if self.session.claims.last.others and not self.session.claims.is_shared:
                self._share()
                await self.session.claims.round()
        finally:
            self._is_in_round = False
        if self.session.claims.last.control == STOP and not self.session.worker.is_stopping:
            self.session.worker.is_stopping = True
            logger.info("Crawl %s was asked to stop", self.session.name)
            self.control.stop(self.session.claims.last.reason or Reason.SHUTDOWN)
        await (
            self.session.claims.open()
        )  # many sites take longer than a worker may be silent, so rounds go on meanwhile

    # The end ----------------------------------------------------------------------------------------

    def fail_for_lost_pages(self) -> bool:
        """Fail if URLs are leased although nothing is in flight, as their pages are lost; return whether any are."""
        pages = len(self.frontier.leases)
        if self.control.failure is not None or not pages:
            return False
        self.control.fail(
            FrontierError(
                f"fetched {counted(pages, 'page')}, but no Page was recorded; a spider, middleware or "
                "pipeline must return each Page, or raise DropItem: correct it, then run the same command again"
            )
        )
        return True

    @property
    def is_budget_exhausted(self) -> bool:
        """Whether the page budget ends the crawl although URLs wait."""
        if (last := self.session.claims.last).others:
            return self.control.failure is None and last.is_budget_exhausted and not last.is_over
        return self.control.failure is None and self.frontier.schedule.is_waiting and self.frontier.budget.is_exhausted

    def close(self, reason: str, outputs: Iterable[Callable[[], None]]) -> None:
        """Commit everything and leave the crawl; the last worker writes the *outputs*, and records how it ended.

        A crawl is finished only when all outputs are written: after a kill before that, the same command continues it.
        The error of an output is reported, and the others are written nevertheless.
        """
        is_logged = self._writes(self._stats.logs.flush)  # even if the store fails
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
        self.frontier.forget()  # the memory is for graphs
        if (reader := self.session.spec.reader) is not None:
            reader.resolver.clear()
        is_written = all([is_logged, *(self._writes(output) for output in outputs)])
        finished = reason == Reason.FINISHED and is_written and not self.frontier.schedule.is_waiting
        is_finished = self.session.end(finished=finished, reason=reason, now=self.clock())
        self.has_ended = True
        outcome = self.session.outcome(reason, is_finished=is_finished)
        if self.session.spec.is_foreign:  # missions have a summary, which begins with the same words
            logger.info("Crawl %s %s", self.session.name, outcome)

    def _say_that_others_go_on(self) -> None:
        others = max(1, self.session.claims.last.others)
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
