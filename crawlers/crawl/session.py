"""One run of a crawl: its database, writer, frontier and rows.

All mistakes that the user can make are found here, before the first request and before anything is written.
"""

from __future__ import annotations

import logging
from asyncio import wrap_future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.bandits.site_rules import REWARDS
from crawlers.crawl.claims import Alone
from crawlers.errors import ConfigError, FrontierError, StoreError, StoreUnavailable, StoreUnreachable
from crawlers.frontier.budget import PullBudget
from crawlers.frontier.frontier import Frontier
from crawlers.frontier.sql_store import SqlFrontierStore
from crawlers.frontier.values import Candidate
from crawlers.inputs.setting_readers import (
    check_order,
    chosen_order,
    chosen_patience,
    chosen_rule,
    normalization,
    recorded,
    registry_entry,
)
from crawlers.items import SiteLimits
from crawlers.options import RECORDED
from crawlers.plurals import counted, plural
from crawlers.ranking.page_orders import LEARNING
from crawlers.reasons import Reason, end_of
from crawlers.store.database import SILENCE_S, Database, StoreCheck, is_missing
from crawlers.store.reader_threads import ReaderThreads
from crawlers.store.reading import crawls
from crawlers.store.reading.crawl_settings import replaced_crawl
from crawlers.store.reading.queries import sites_of
from crawlers.store.reading.run_command import ANOTHER, Command
from crawlers.store.schema.tables import site
from crawlers.store.sites.site_opening import (
    SiteList,
    SiteRow,
    count_excluded,
    count_sites,
    discovered_site,
    known_sites,
    open_site_ids,
)
from crawlers.store.worker import Worker
from crawlers.store.worker_rows import WorkerLock
from crawlers.store.writing.pulls import downloads_of, last_pulls, pulls_of, stored_link_prior
from crawlers.store.writing.reserved_ids import ReservedIds
from crawlers.store.writing.writer import Writer
from crawlers.urls.resolution import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from crawlers.bandits.site_rules import SiteRule
    from crawlers.crawl.claims import Claims
    from crawlers.crawl.control import CrawlControl
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.inputs.program import CrawlOrigin
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.items import Target
    from crawlers.ranking.link_features import LinkPrior
    from crawlers.store.sites.site_opening import StoredSelection
    from crawlers.store.writing.change_set import ChangeSet


logger = logging.getLogger(__name__)


LEAST_SILENCE_S = 2.0  # of a busy server that runs
MOST_SITES = 100_000  # of a crawl; links to further ones are stored as external links
URLS_PER_WAITING_URL = 120  # known URLs in memory for each one that waits in memory
SITE_BLOCK = 500  # numbers of discovered sites that are reserved at a time


class CrawlSession:
    """Open from construction until `close_all`. Raises `ConfigError`.

    A process that rejoins a crawl creates neither a store nor a crawl: a lost one is a `StoreError`.

    *reason_against* returns why a new URL must not be fetched, or None; *selection* why a stored one is not selected.
    """

    def __init__(
        self,
        settings: SettingValues,
        mission: CrawlSpec,
        control: CrawlControl,
        clock: Callable[[], float],
        reason_against: Callable[[Target], str | None],
        selection: StoredSelection,
        origin: CrawlOrigin,
    ) -> None:
        self.control = control
        self.clock = clock
        self.options = normalization(settings)
        self.addresses = mission.addresses
        rule = chosen_rule(settings)
        check_order(settings.get("ORDER"), mission.name, mission.gives, rule)
        make_order = partial(chosen_order, settings, mission.gives, revisits=mission.revisits)
        registry_entry(REWARDS, "REWARD", settings.get("REWARD"))  # a wrong one is refused also where it has no effect
        self._settings = settings
        self.spec = mission
        self.last_pulls: Mapping[int, int] | None = None  # that the rules know, by worker; None: they need none
        self.most_sites = MOST_SITES
        self.name = settings.get("CRAWL") or mission.name
        deadline_s = settings.getfloat("WORKER_DEADLINE_SECONDS")
        # Thrice this time, see `Database`, is less than the usual deadline.
        silence_s = max(LEAST_SILENCE_S, min(SILENCE_S, deadline_s / 4))
        link_prior = _link_prior(settings, origin)
        self.database = _opened(settings.get("DATABASE_URL"), silence_s, origin.rejoins)
        self.reader = ReaderThreads()
        self._lock: WorkerLock | None = None
        self._writer: Writer | None = None
        try:
            command = self._command(selection, origin, learns_links=link_prior is not None)
            self.row = crawls.begin(self.database, command, clock(), hold=self._hold, link_prior=link_prior)
            if link_prior is not None:
                with self.database.read() as connection:
                    make_order = partial(make_order, stored_link_prior(connection, self.row.id))
            order = self.order = make_order()
            self.goes_by_level = order.finishes_each_priority  # all pages of a level are read before the next begins
            # Then the pages of a site do not depend on others, and nothing more happens to those that were read.
            self._are_separate = mission.scope is None or self.order.scores is None
            self._has_grown = self.row.has_grown
            self.worker = Worker(self.database, self.row, self.lock, deadline_s, clock)
            self._check_store = StoreCheck(self.database)
            self._writer = self.writer = Writer(
                self.database,
                batch_s=settings.getfloat("STORE_BATCH_SECONDS"),
                check=self._check_store,
                fence=self.worker.fence,
            )
            self._site_ids = ReservedIds(self.writer, site, SITE_BLOCK)
            if not mission.sites or (mission.scope is not None and mission.scope.is_open):
                self._site_ids.reserve(SITE_BLOCK)  # more of them will be discovered
            self.frontier = self._new_frontier(rule, reason_against)
            self.claims: Claims = Alone(self.worker, self.frontier, self.writer, self.row.granted)
        except BaseException as error:
            self.close_all()
            if origin.rejoins is None and isinstance(error, StoreError) and not isinstance(error, StoreUnavailable):
                raise ConfigError(f"DATABASE_URL={error}") from error
            raise

    def _command(self, selection: StoredSelection, origin: CrawlOrigin, *, learns_links: bool) -> Command:
        mission = self.spec
        sites = SiteList(
            [self._site_row(site_limits) for site_limits in mission.sites],
            [self._site_row(SiteLimits(name)) for name in mission.root_sites],
            mission.keeping(),
            mission.leader_of,
            selection,
        )
        settings = {name: self._settings.get(name) for name in RECORDED if learns_links or name != "LINK_PRIOR"}
        settings |= {**recorded(self.options), "PAGE_BUDGET": mission.page_budget, **mission.recorded}
        manifest = origin.manifest(settings, mission.sites)
        of_processes = (not mission.is_foreign, origin.processes, origin.rejoins)
        return Command(self.name, mission.name, manifest, sites, *of_processes)

    def _new_frontier(self, rule: SiteRule, reason_against: Callable[[Target], str | None]) -> Frontier:
        mission, cache_urls = self.spec, self._settings.getint("FRONTIER_CACHE_URLS")
        return Frontier(
            SqlFrontierStore(self.database, self.writer, self.row.id, looks_back=not self.goes_by_level),
            self.order,
            PullBudget(
                rule,
                mission.page_budget,
                chosen_patience(self._settings),
                records=mission.has_rewards or mission.page_budget > 0,
                worker_id=self.row.worker_id,
            ),
            reason_against=reason_against,
            cache_urls=cache_urls,
            head_urls=max(1, cache_urls // URLS_PER_WAITING_URL),
            is_divided=self.row.is_divided and self.order.scores is not None,
        )

    def _hold(self, worker_id: int) -> None:
        self._lock = WorkerLock(self.database, worker_id)

    @property
    def lock(self) -> WorkerLock:
        """The lock of this worker, from `crawls.begin` on."""
        assert self._lock is not None
        return self._lock

    def _site_row(self, limits: SiteLimits) -> SiteRow:
        return SiteRow(
            0,
            limits.site,
            limits.parallel if limits.parallel is not None else self._settings.getint("SITE_PARALLEL"),
            limits.max_level if limits.max_level is not None else self._default_level(),
            limits.delay_s if limits.delay_s is not None else self._settings.getfloat("SITE_DELAY_SECONDS"),
            limits.start_url,
            folder=limits.folder,
            aliases=limits.aliases,
        )

    def _default_level(self) -> int | None:
        value = self._settings.get("MAX_LEVEL")
        return int(value) if value not in (None, "", "None") else None

    def warn_of_other_sites(self) -> None:
        """Warn if the host list names other sites than that of an earlier run of the crawl."""
        missing, urls = count_excluded(self.database, self.row.id) if self.row.resumed else (0, 0)
        if missing or (self.row.resumed and self.row.added):
            logger.warning(
                "The unfinished crawl %s goes on with another host list: new: %s; missing and left alone until they "
                "are listed again: %s with %s waiting; for a crawl of this list alone, %s",
                self.name,
                counted(self.row.added, "site"),
                counted(missing, "site"),
                counted(urls, "URL"),
                ANOTHER,
            )

    def beginning(self) -> str:
        """Return a description of the start of the run."""
        if self.row.others:
            work = "works" if self.row.others == 1 else "work"
            others = f"{counted(self.row.others, 'other')} {work} on it in {self.database.name}"
            return f"is joined by worker {self.row.worker_id}: {others}"
        sites = len(self.site_ids())  # of which this worker may hold a part
        begins = "is resumed" if self.row.resumed else "begins"
        begins = f"{begins}: {sites} {plural(sites, 'site')} in {self.database.name}"
        if self.row.resumed or self._settings.getbool("RESULT_FOLDER_PER_CRAWL"):
            return begins
        with self.database.read() as connection:
            replaced = replaced_crawl(connection, self.row.id, Path(self._settings.get("RESULT_FOLDER")))
        more = f"; as crawl {self.row.id}, it replaces the results of crawl {replaced} when it ends"
        return begins if replaced is None else begins + more

    def outcome(self, reason: str, *, is_finished: bool) -> str:
        """Return a description of the result of the run, which ended for the *reason*."""
        if is_finished:
            return "is finished"
        ending = "ended" if reason == Reason.FINISHED else f"stopped ({end_of(reason)})"
        if self.frontier.budget.is_exhausted:
            return f"{ending}: to continue, give a larger PAGE_BUDGET, or start another crawl with CRAWL=name"
        return f"{ending}: everything is stored, and the same command resumes it"

    def recall_pulls(self) -> None:
        """Report the pulls of earlier runs and of other workers to the rules."""
        if not self.frontier.budget.records:
            return
        with self.database.read() as connection:
            self.last_pulls = last_pulls(connection, self.row.id)
        pulls = pulls_of(self.database, self.row.id, until=self.last_pulls)
        if self.row.resumed and not self.frontier.learn(pulls):
            # It ran without a budget so far.
            self.frontier.learn(downloads_of(self.database, self.row.id))

    def site_ids(self) -> list[int]:
        """Return the numbers of all sites of the crawl, in order, whichever worker holds them."""
        return open_site_ids(self.database, self.row.id)

    @property
    def leaves_levels_too_deep(self) -> bool:
        """Whether a page may have been read by a longer path first; then `correct_levels` when nothing waits."""
        return (not self.goes_by_level or self._has_grown) and self._are_separate

    async def correct_levels(self, rows: Iterable[SiteRow]) -> None:
        """Correct the levels of all pages of sites; those that are not too deep after all wait again."""
        from crawlers.store.sites.page_selection import correct_levels  # for orders that are not breadth-first

        for row in rows:
            job = partial(correct_levels, site_id=row.id, max_level=row.max_level)
            nearer = await wrap_future(self.writer.run(job))
            targets = ((self.addresses.of_site(resolve(url, "", self.options)), level) for url, level in nearer)
            self.frontier.add((Candidate(row.id, *one) for one in targets), self.clock())

    def adopt_links(self, row: SiteRow, now: float) -> None:
        """Turn external links of a site to addresses that it got later into links to its pages. Raises `StoreError`."""
        if len(row.addresses) == 1 or row.is_new:
            return
        from crawlers.store.sites.page_selection import adopt_links, own_urls  # for sites with several addresses

        found = own_urls(self.database, row.id, row.addresses)
        if not found:
            return
        self._has_grown = True
        self.writer.submit(crawls.growth_row(self.row.id))
        targets = {own.id: self.addresses.of_site(resolve(own.url, "", self.options)) for own in found}
        self.frontier.add([Candidate(row.id, targets[own.id], own.level, found_on=own.found_on) for own in found], now)
        keys = {number: target.key for number, target in targets.items()}
        self.writer.call(partial(adopt_links, site_id=row.id, keys=keys))

    def add_site(self, name: str, leaders: Mapping[str, int], changes: ChangeSet) -> SiteRow:
        """Add the rows of a discovered site to *changes*, and return it; it must not be one that the host list omits.

        *leaders* are the numbers of the open sites.
        """
        if name in self.row.excluded:
            raise FrontierError(f"{name} is a site of the crawl that the host list omits")
        leader = self.spec.leader_of(name)
        row = replace(self._site_row(SiteLimits(name)), id=self._site_ids.next_id(), is_new=True)
        changes.extend(discovered_site(self.row.id, row, self.row.worker_id, leader))
        return replace(row, source_id=leaders.get(leader or ""))

    def sites_elsewhere(self, names: Collection[str]) -> tuple[set[str], int]:
        """Return those of the *names* that are sites of the crawl, and the number of sites that the run includes."""
        with self.database.read() as connection:
            found, number = known_sites(connection, self.row.id, names), count_sites(connection, self.row.id)
        return found, number - len(self.row.excluded)

    def add_site_elsewhere(self, name: str) -> ChangeSet:
        """Return the rows of a discovered site that nobody holds; another worker may have discovered it as well."""
        row = replace(self._site_row(SiteLimits(name)), id=self._site_ids.next_id())
        return discovered_site(self.row.id, row, None, self.spec.leader_of(name))

    def commit(self) -> None:
        """Commit everything that is pending. Raises `StoreError`."""
        self.writer.flush()
        self._check_store()

    def drop_surplus(self) -> None:
        """Drop the rows that a crawl does not keep when nothing waits any more. Raises `StoreError`.

        This comes before the outputs, which can then be written again from the store with the same bytes.
        """
        if crawls.is_waiting(self.database, self.row.id):
            return
        self.writer.call(partial(crawls.drop_anchors, crawl_id=self.row.id))
        if not self._settings.getbool("SAVE_DUPLICATES") and self._are_separate:
            from crawlers.graphs.duplicate_rows import drop_duplicate_rows, duplicate_rows

            for crawled in sites_of(self.database, self.row.id):
                rows = duplicate_rows(self.database, crawled.id)
                self.writer.call(partial(drop_duplicate_rows, rows=rows))

    def end(self, *, finished: bool, reason: str, now: float) -> bool:
        """Record the end of the run; return whether the crawl is finished. Raises `StoreError`."""
        finished = finished and not crawls.is_waiting(self.database, self.row.id)
        crawls.end(self.database, self.row.id, finished=finished, reason=reason, now=now, worker_id=self.row.worker_id)
        return finished

    def close_all(self) -> None:
        """Close writer, lock and database in whatever state they are; may be called twice."""
        if self._writer is not None:
            with suppress(StoreError):
                self._writer.close()
        if self._lock is not None:
            self._lock.release(is_reachable=self._writer is None or not self._writer.has_failed)
        self.reader.close()
        self.database.close()


def _link_prior(settings: SettingValues, origin: CrawlOrigin) -> Callable[[], LinkPrior] | None:
    """Return the function that reads what an order knows of links at first; None if it learns nothing of them.

    A wrong file is refused before a store is created.
    """
    if settings.get("ORDER") not in LEARNING:
        return None
    from crawlers.inputs.link_prior_file import chosen_link_prior  # and what checks one

    if origin.rejoins is None and is_missing(settings.get("DATABASE_URL")):
        chosen_link_prior(settings)
    return partial(chosen_link_prior, settings)


def _opened(url: str, silence_s: float, rejoins: int | None) -> Database:
    """Open the store; that of the crawl *rejoins* must exist. Raises `ConfigError`, or `StoreError` if it is lost."""
    try:
        return Database(url, create=rejoins is None, silence_s=silence_s)
    except StoreUnreachable:
        raise
    except ConfigError as error:
        if rejoins is None:
            raise
        raise StoreError(f"crawl {rejoins} can't be joined: {error}") from error
