"""The sites of a run, with the rules of their robots.txt and the watches for traps."""

from __future__ import annotations

import logging
import math
from collections import Counter, OrderedDict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from crawlers.items import ExternalLink, State
from crawlers.pages.retries import RestPolicy
from crawlers.pages.robots_groups import is_unreachable
from crawlers.reasons import Reason
from crawlers.sites.robots_rules import RobotsRules
from crawlers.store.reading.queries import fetched_pages, finder_of, latest_pages, named_from, robots_of
from crawlers.store.schema.tables import SiteHome
from crawlers.urls.resolution import site_of
from crawlers.urls.trap_watch import MAX_PATTERNS, MAX_SIGNATURES, MIN_REPEATS, TrapWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawlers.crawl.session import CrawlSession
    from crawlers.frontier.values import Lease, SiteStart
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.items import Page, SiteLimits
    from crawlers.store.reading.queries import Finder
    from crawlers.store.sites.site_rows import SiteRow
    from crawlers.store.writing.change_set import ChangeSet


MAX_FILES, MAX_LINES = 5_000, 500_000  # lines of all files, some 300 bytes each


class RobotsCache:
    """The rules of robots.txt by address: of at most MAX_FILES with at most MAX_LINES, but always of the latest."""

    def __init__(self) -> None:
        self._rules: OrderedDict[str, RobotsRules] = OrderedDict()
        self._lines = 0

    def get(self, address: str) -> RobotsRules | None:
        """Return the rules of *address*; None if they are not in memory."""
        rules = self._rules.get(address)
        if rules is not None:
            self._rules.move_to_end(address)
        return rules

    def keep(self, address: str, rules: RobotsRules) -> list[str]:
        """Add or replace the rules of *address*; return the addresses whose rules were dropped for them."""
        if (old := self._rules.pop(address, None)) is not None:
            self._lines -= old.size
        self._rules[address] = rules
        self._lines += rules.size
        dropped = []
        while len(self._rules) > MAX_FILES or (self._lines > MAX_LINES and len(self._rules) > 1):
            last, old = self._rules.popitem(last=False)
            self._lines -= old.size
            dropped.append(last)
        return dropped


logger = logging.getLogger(__name__)

MAX_WATCHES = 1_000  # watches for traps in memory, 3 to 5 MB each at most; others are rebuilt from the store
# Under an order without levels, all sites share the memory of ten of these, and the oldest watches are dropped.
SHARED_WATCHES, MAX_SHARING = 10, 5_000
MIN_SHARE = 0.01  # 500 texts; with those since the last verdict, some 0.1 MB
REPLAYED = 2 * MIN_REPEATS  # pages from which a watch is rebuilt at most, under an order without levels
STAGE_PAGES = 500  # pages of a site between two verdicts, under an order without levels
LONGEST_REST = 48  # first rests, 4 hours by default: until a robots.txt that was given up is requested again
MAX_AGE_S = 86_400.0  # RFC 9309 section 2.4: a robots.txt should not be used longer than a day


class RobotsNeeded(NamedTuple):
    """The robots.txt of an address of a site must be fetched before its pages; see `Crawl.record_robots`."""

    site_id: int
    address: str  # scheme://host[:port]


class SitePolicies:
    """The open sites of a run by id.

    *robots_token* is the product token for which rules of robots.txt apply. *listed* are the sites of the host list,
    also those that this process has not opened.
    """

    def __init__(
        self,
        session: CrawlSession,
        settings: SettingValues,
        robots_token: str,
        watch_traps: bool,
        listed: Iterable[SiteLimits] = (),
    ) -> None:
        self._session = session
        self.obeys_robots = settings.getbool("ROBOTSTXT_OBEY")
        self._robots_token = robots_token
        self._addresses = session.addresses
        self._longest_delay_s = settings.getfloat("ROBOTS_MAX_DELAY_SECONDS")
        self._longest_rest_s = LONGEST_REST * (settings.getfloat("ROBOTS_REST_SECONDS") or RestPolicy().first_s)
        self._is_full = False
        self._watches_traps = watch_traps and settings.getbool("TRAPS_ENABLED")
        self._listed = {limits.site for limits in listed}
        for limits in listed:
            self._addresses.set(limits.site, (limits.site, *limits.aliases), limits.site)
        self._rows: dict[int, SiteRow] = {}
        self._ids: dict[str, int] = {}
        self._sources: dict[int, set[int]] = {}  # the open sites of sources with several, by the leading site
        self._elsewhere: set[str] = set()  # sites of the crawl that are not open here, as far as they were needed
        self._has_robots: set[str] = set()  # addresses with a known robots.txt
        self._asked: dict[int, str] = {}  # addresses whose robots.txt was needed last, by site
        self.fetching: set[int] = set()  # sites whose robots.txt or sitemap was requested, and is not known yet
        self._ask_again_at: dict[str, float] = {}  # for inaccessible ones
        self._rules = RobotsCache()  # others are parsed again from their rows
        self._watches: OrderedDict[int, TrapWatch] = OrderedDict()  # the most recently used ones
        self._observed: Counter[int] = Counter()  # pages in the watch of a site
        self._unwatched: set[int] = set()  # sites whose watch was dropped
        # Pages that other parts than endless ones name on a level of a site, by site, with the level.
        self._named: dict[int, tuple[int, Collection[int]]] = {}
        self._finders: dict[int, Finder | None] = {}  # of leased pages that may belong to traps

    def open(self, row: SiteRow, now: float, start: SiteStart | None = None) -> None:
        """Open a site, in the frontier as well, which reads its *start* from the store if that is not given."""
        self._rows[row.id] = row
        self._ids[row.site] = row.id
        if row.source_id is not None:
            self._sources.setdefault(row.source_id, {row.source_id}).add(row.id)
        self._elsewhere.discard(row.site)
        self._addresses.set(row.site, row.addresses, row.address)
        if row.robots_status is not None:
            # A clock that was set back since then must not extend the age.
            is_recent = 0.0 <= now - (row.robots_at or 0.0) < MAX_AGE_S
            if is_recent and not is_unreachable(row.robots_status):
                self._keep(row.site, RobotsRules(row.robots_status, row.robots_text, self._robots_token))
        self._session.frontier.open_site(row, now, start)
        self._apply_delay(row.id, row.site)
        if row.asked_at is not None:
            # While robots.txt can't be read, that is no wish of the host: another run requests it at once.
            has_no_robots = row.robots_status is not None and is_unreachable(row.robots_status)
            rest_until = -math.inf if row.rest_until is None or has_no_robots else row.rest_until
            site = self._session.frontier.site(row.id)
            site.gate.resume(min(row.asked_at, now), rest_until, now)  # a clock that was set back must not make it wait
            self._session.frontier.schedule.reschedule(site, now)

    def close(self, site_id: int) -> None:
        """Forget a site that the frontier has closed; it may be opened again."""
        row = self._rows.pop(site_id)
        del self._ids[row.site]
        self._sources.pop(row.source_id or row.id, None)  # which is closed as a whole
        self._elsewhere.add(row.site)
        self._has_robots.difference_update(row.addresses)
        for address in row.addresses:
            self._ask_again_at.pop(address, None)
        self._asked.pop(site_id, None)
        self.release_watch(site_id)
        self._unwatched.discard(site_id)

    def id_of(self, site: str, now: float, changes: ChangeSet) -> int:
        """Return the id of *site* (scheme://host[:port]) in this crawl.

        A new site is opened. Its row is added to *changes*, which must have a page of the site, too: nobody would know
        how to begin with a site that a kill left without pages.
        """
        if site not in self._ids:
            self.open(self._session.add_site(site, self._ids, changes), now)
        return self._ids[site]

    def source(self, site_id: int) -> int:
        """Return the number of the site that leads the source of an open site."""
        return self._rows[site_id].source_id or site_id

    def is_open(self, site_id: int) -> bool:
        """Return whether the site with that id is open."""
        return site_id in self._rows

    def sites_of(self, source: int) -> list[int]:
        """Return the open sites of a source, in order."""
        return sorted(number for number in self._sources.get(source, {source}) if number in self._rows)

    @property
    def sources(self) -> list[list[int]]:
        """The open sites of each source that has several."""
        return [its for source in self._sources if len(its := self.sites_of(source)) > 1]

    @property
    def rows(self) -> list[SiteRow]:
        """All open sites."""
        return list(self._rows.values())

    def row(self, site_id: int) -> SiteRow:
        """Return the site with that id, with its limits."""
        return self._rows[site_id]

    def is_in_host_list(self, site: str) -> bool:
        """Return whether the host list names *site*."""
        return site in self._listed

    def is_site_of_crawl(self, address: str) -> bool:
        """Return whether *address* is that of a site of the crawl, even of one that is not open."""
        site = self._addresses.site(address)
        return site in self._listed or self._is_known(site) or address in self._session.row.excluded

    def _is_known(self, site: str) -> bool:
        return site in self._ids or site in self._elsewhere

    def home_moved(self, site_id: int, address: str) -> SiteHome:
        """Let the pages of a site be requested from *address*, to which its home page redirects; return the row."""
        row = self._rows[site_id]
        homes = (*(home for home in row.home_addresses if home != address), address)
        row = self._rows[site_id] = replace(row, home_addresses=homes)
        self._addresses.set(row.site, row.addresses, row.address)
        return SiteHome(site_id, " ".join(homes))

    def open_cross_site(self, page: Page, now: float, changes: ChangeSet, *, adds_sites: bool = True) -> Page:
        """Open the sites of the scope to which *page* leads, and return it; rows are added to *changes*.

        Links to other sites become external ones: to those that the host list omits, those beyond the most sites, and
        without *adds_sites*, all new ones: of an unchanged page, no links are stored that could begin a site.
        """
        names = dict.fromkeys(target.site for target, _ in page.cross_site_links)
        if page.moved_to is not None:
            names[page.moved_to.site] = None
        are_open = self.add_sites(names, now, changes) if adds_sites else not self._unknown(names)[0]
        return page if are_open else self._without_closed_sites(page)

    def add_sites(self, names: Iterable[str], now: float, changes: ChangeSet) -> bool:
        """Make *names* sites of the crawl, as far as possible; return whether all are.

        They are opened, or if several workers work on the crawl, added to *changes* as sites that nobody holds.
        """
        unknown, number = self._unknown(names)
        new = [name for name in unknown if name not in self._session.row.excluded]
        room = max(0, self._session.most_sites - number)
        for name in new[:room]:
            if self._session.claims.is_divided:
                changes.extend(self._session.add_site_elsewhere(name))
                self._elsewhere.add(name)
            else:
                self.id_of(name, now, changes)
        if len(new) > room:
            self._warn_of_most_sites(new[room])
        return len(new) == len(unknown) <= room

    def _unknown(self, names: Iterable[str]) -> tuple[list[str], int]:
        """Return those of *names* that are not sites of this run of the crawl, and the number of those that are."""
        unknown = [name for name in names if not self._is_known(name)]
        if not unknown or not self._session.claims.is_divided:
            return unknown, len(self._ids)
        # Other workers discover sites, too.
        found, number = self._session.sites_elsewhere(
            [name for name in unknown if name not in self._session.row.excluded]
        )
        self._elsewhere.update(found)
        return [name for name in unknown if name not in found], number

    def _warn_of_most_sites(self, name: str) -> None:
        if not self._is_full:
            logger.warning(
                "%s and other new sites are not opened, because a crawl has at most %d sites; links to them are stored "
                "as external ones. Further occurrences are not logged",
                name,
                self._session.most_sites,
            )
        self._is_full = True

    def _without_closed_sites(self, page: Page) -> Page:
        """Return *page* with the links to sites that are not open as external ones."""
        links = list(page.cross_site_links)
        if page.moved_to is not None and not self._is_known(page.moved_to.site):
            links.append((page.moved_to, 1))
            reason = Reason.REDIRECT_TO_OTHER_SITE.of(page.moved_to.url)
            page = replace(page, state=State.REFUSED, reason=reason, moved_to=None)
        outside = [(target, count) for target, count in links if not self._is_known(target.site)]
        external = [(ExternalLink(to.url, to.key, to.site, "", "", "", "", ""), count) for to, count in outside]
        return replace(
            page,
            cross_site_links=[(target, count) for target, count in links if self._is_known(target.site)],
            external=[*page.external, *external],
        )

    # robots.txt -------------------------------------------------------------------------------------

    def robots_needed(self, lease: Lease) -> RobotsNeeded | None:
        """Return the robots.txt that is needed before the leased URL is requested; None if none is."""
        return self.robots_needed_of(lease.site_id, self._address_of(lease))

    def robots_needed_of(self, site_id: int, address: str) -> RobotsNeeded | None:
        """Return the robots.txt of an *address* of a site, if it is needed before a request there."""
        if self._session.clock() >= self._ask_again_at.get(address, math.inf):
            del self._ask_again_at[address]
            self._has_robots.discard(address)
        if not self.obeys_robots or address in self._has_robots:
            return None
        self._asked[site_id] = address
        return RobotsNeeded(site_id, address)

    def _address_of(self, lease: Lease) -> str:
        """Return the address of the site from which the leased URL is requested."""
        site = self._rows[lease.site_id].site
        if not self._addresses:
            return site
        address = site_of(lease.url)
        return address if self._addresses.site(address) == site else site

    def begin_robots(self, site_id: int) -> bool:
        """Return whether the robots.txt of a site is still needed; it is `fetching` from now on."""
        is_needed = site_id in self._asked
        if is_needed:
            self.fetching.add(site_id)
        return is_needed

    def robots_address(self, site_id: int) -> str:
        """Return the address of the site whose robots.txt was needed last."""
        return self._asked.get(site_id, self._rows[site_id].site)

    def record_robots(self, site_id: int, status: int, text: str | None) -> None:
        """Apply the robots.txt that the site needed from now on; if it is inaccessible, for a limited time."""
        address = self.robots_address(site_id)
        self._asked.pop(site_id, None)
        self.fetching.discard(site_id)
        self._keep(address, RobotsRules(status, text, self._robots_token))
        if is_unreachable(status):
            self._ask_again_at[address] = self._session.clock() + self._longest_rest_s
        self._apply_delay(site_id, address)

    def robots_against(self, address: str, url: str) -> str | None:
        """Return why robots.txt of *address* forbids *url*, or None."""
        rules = self._rules_of(address) if self.obeys_robots else None
        return rules.reason_against(url) if rules is not None else None

    def robots_allow(self, lease: Lease) -> bool:
        """Return whether robots.txt allows the leased URL."""
        return self.robots_against(self._address_of(lease), lease.url) is None

    def knows_robots(self, address: str) -> bool:
        """Return whether the robots.txt of *address* is known to be readable, or not."""
        return address in self._has_robots

    def open_site_id(self, address: str) -> int | None:
        """Return the id of the site to which *address* belongs; None if it is not open."""
        return self._ids.get(self._addresses.site(address) if self._addresses else address)

    def _keep(self, address: str, rules: RobotsRules) -> None:
        self._has_robots.add(address)
        for dropped in self._rules.keep(address, rules):
            if dropped not in self._ids:
                self._has_robots.discard(dropped)  # it is not stored, so it is requested again

    def _rules_of(self, address: str) -> RobotsRules | None:
        if self._lacks_rules(address):
            self._read_rules(address)()
        return self._rules.get(address)

    def _lacks_rules(self, address: str) -> bool:
        return address in self._has_robots and self._rules.get(address) is None

    def _read_rules(self, address: str) -> Callable[[], None]:
        self._session.writer.flush()
        stored = robots_of(self._session.database, self._ids[address])

        def take_up() -> None:
            if stored is not None:
                self._keep(address, RobotsRules(*stored, self._robots_token))

        return take_up

    def _apply_delay(self, site_id: int, address: str) -> None:
        """Apply the Crawl-delay to the gate of the site, up to ROBOTS_MAX_DELAY_SECONDS."""
        if self.obeys_robots and (rules := self._rules_of(address)) is not None and rules.crawl_delay_s:
            delay_s = min(rules.crawl_delay_s, self._longest_delay_s)
            self._session.frontier.site(site_id).gate.ask_for_delay(delay_s)

    # Traps ------------------------------------------------------------------------------------------

    def verdict(self, lease: Lease) -> str | Callable[[], Callable[[], None]] | None:
        """Return why the leased URL must not be fetched after all; None if it may be.

        If that depends on the store, a query of it is returned instead. Any thread may call it before *lease* ends; it
        returns a function that takes up what was found, after which this is to be asked again.
        """
        site_id, address = lease.site_id, self._address_of(lease)
        if self.obeys_robots:
            if self._lacks_rules(address):
                return partial(self._read_rules, address)
            if (reason := self.robots_against(address, lease.url)) is not None:
                return reason
        if not self._watches_traps or lease.is_revisit:  # a page that was fetched before was not a trap
            return None
        if site_id not in self._watches and self._stored_pages(site_id) is not None:
            return partial(self._read_watch, site_id)
        watch = self._watch(site_id)
        reason = watch.verdict(lease.url, self._stage(site_id, lease.level))
        if reason is None:
            return None
        if lease.id not in self._finders and lease.id not in self._named_on(site_id, lease.level - 1):
            return partial(self._read_finder, lease, watch)
        return None if self._is_named_elsewhere(lease, watch) else reason

    def _is_named_elsewhere(self, lease: Lease, watch: TrapWatch) -> bool:
        """Return whether a sitemap, or a page that does not belong to a trap itself, names a URL of a trap."""
        finder = self._finders.pop(lease.id, None)
        if lease.id in self._named_on(lease.site_id, lease.level - 1):
            return True
        if finder is None or finder.url is None or finder.site_id != lease.site_id or finder.is_in_sitemap:
            return True
        return not watch.is_suspect(finder.url)

    def _named_on(self, site_id: int, level: int) -> Collection[int]:
        known_level, named = self._named.get(site_id, (level, ()))
        return named if known_level == level or not self._session.goes_by_level else ()

    def _read_finder(self, lease: Lease, watch: TrapWatch) -> Callable[[], None]:
        database, site_id, level = self._session.database, lease.site_id, lease.level - 1
        named: Collection[int] | None = None
        if self._session.goes_by_level and self._named.get(site_id, (None,))[0] != level:
            self._session.writer.flush()
            named = named_from(database, site_id, level, lambda url: not watch.is_suspect(url))
        finder = finder_of(database, lease.id)
        if finder is None:
            self._session.writer.flush()
            finder = finder_of(database, lease.id)

        def take_up() -> None:
            if named is not None:
                self._named[site_id] = level, named
            self._finders[lease.id] = finder

        return take_up

    def new_parts(self, lease: Lease, page: Page) -> Collection[int]:
        """Return the keys of the new URLs outside of endless parts to which a *page* in such a part leads."""
        if not self._watches_traps or lease.is_revisit:
            return ()
        others = self._watch(lease.site_id).leads_outside(lease.url, (target for target, _ in page.links))
        return self._session.frontier.discovery.first_found(lease.site_id, others, lease.level + 1) if others else ()

    def observe(self, lease: Lease, page: Page) -> None:
        if self._watches_traps and not lease.is_revisit:  # else its text would look like a copy of itself
            watch, stage = self._watch(lease.site_id), self._stage(lease.site_id, lease.level)
            watch.observe(lease.url, stage, page.content_signature)
            self._observed[lease.site_id] += 1

    def _stage(self, site_id: int, level: int) -> int:
        """Return the level; under an order without levels, a number that grows every STAGE_PAGES pages."""
        return level if self._session.goes_by_level else self._observed[site_id] // STAGE_PAGES

    def release_watch(self, site_id: int) -> None:
        """Drop the watch of a site without waiting pages; it can be rebuilt from the store."""
        if site_id in self._watches:
            self._unwatch(site_id)

    def _unwatch(self, site_id: int) -> None:
        del self._watches[site_id]
        del self._observed[site_id]
        self._named.pop(site_id, None)
        self._unwatched.add(site_id)

    def _watch(self, site_id: int) -> TrapWatch:
        watch = self._watches.get(site_id)
        if watch is not None:
            self._watches.move_to_end(site_id)
            return watch
        self._read_watch(site_id)()
        return self._watches[site_id]

    def _stored_pages(self, site_id: int) -> Callable[[], list[tuple[str, int, int]]] | None:
        """Return the query for the pages from which the watch of a site is rebuilt; None if it begins with none."""
        database, is_new = self._session.database, self._rows[site_id].is_new
        if self._session.goes_by_level and (not is_new or site_id in self._unwatched):
            return partial(fetched_pages, database, site_id)
        if not is_new and site_id not in self._unwatched:
            return partial(latest_pages, database, site_id, REPLAYED)
        return None

    def _read_watch(self, site_id: int) -> Callable[[], None]:
        by_level, observed = self._session.goes_by_level, 0
        if by_level:  # verdicts depend on the web alone
            watch = TrapWatch()
        else:
            share = min(1.0, max(MIN_SHARE, SHARED_WATCHES / len(self._rows)))
            watch = TrapWatch(int(share * MAX_SIGNATURES), int(share * MAX_PATTERNS))
        if (read := self._stored_pages(site_id)) is not None:
            self._session.writer.flush()
            for observed, (url, level, signature) in enumerate(read(), 1):
                watch.observe(url, level if by_level else (observed - 1) // STAGE_PAGES, signature)

        def take_up() -> None:
            if site_id in self._watches:
                return  # a page of the site came in the meantime
            while len(self._watches) >= (MAX_WATCHES if by_level else MAX_SHARING):
                self._unwatch(next(iter(self._watches)))
            self._watches[site_id], self._observed[site_id] = watch, observed

        return take_up
