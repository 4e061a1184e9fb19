"""The watches for traps, endless parts of sites, of the open sites of a run."""

from __future__ import annotations

from collections import Counter, OrderedDict
from functools import partial
from typing import TYPE_CHECKING

from crawlers.bandits.site_rules import signature_with
from crawlers.store.reading.queries import finder_of, latest_pages, named_from, signed_pages
from crawlers.urls.trap_watch import MAX_PATTERNS, MAX_SIGNATURES, MIN_REPEATS, TrapWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawlers.crawl.open_sites import OpenSites
    from crawlers.crawl.session import CrawlSession
    from crawlers.frontier.values import Lease
    from crawlers.items import Page
    from crawlers.store.reading.queries import Finder

MAX_WATCHES = 1_000  # watches for traps in memory, 3 to 5 MB each at most; others are rebuilt from the store
# Under an order without levels, all sites share the memory of ten of these, and the oldest watches are dropped.
SHARED_WATCHES, MAX_SHARING = 10, 5_000
MIN_SHARE = 0.01  # 500 texts; with those since the last verdict, some 0.1 MB
REPLAYED = 2 * MIN_REPEATS  # pages from which a watch is rebuilt at most, under an order without levels
STAGE_PAGES = 500  # pages of a site that may be in traps between two verdicts, under an order without levels


class SiteTraps:
    """Watches *sites* for traps, if it *is_enabled*."""

    def __init__(self, session: CrawlSession, sites: OpenSites, *, is_enabled: bool) -> None:
        self._session = session
        self._sites = sites
        self._is_enabled = is_enabled
        self._watches: OrderedDict[int, TrapWatch] = OrderedDict()  # the most recently used ones
        self._observed: Counter[int] = Counter()  # pages in the watch of a site
        self._unwatched: set[int] = set()  # sites whose watch was dropped
        # Pages that other parts than endless ones name on a level of a site, by site, with the level.
        self._named: dict[int, tuple[int, Collection[int]]] = {}
        self._finders: dict[int, Finder | None] = {}  # of leased pages that may belong to traps

    def forget_site(self, site_id: int) -> None:
        """Forget a site that is being closed."""
        self.release_watch(site_id)
        self._unwatched.discard(site_id)

    def verdict(self, lease: Lease) -> str | Callable[[], Callable[[], None]] | None:
        """Return why the leased URL belongs to a trap, or None, or a query as `RobotsPolicy.verdict` does."""
        site_id = lease.site_id
        if not self._is_enabled or lease.previous is not None:  # a page that was fetched before was not a trap
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

    def observe(self, lease: Lease, page: Page, keys: Collection[int] = ()) -> int:
        """Take note of a *page* that was read; return its content signature, another one if it has new links.

        These are the *keys* that the mission counts, else those of the new URLs outside of endless parts to which a
        page in such a part leads.
        """
        site_id = lease.site_id
        if not page.content_signature:  # it can't be in a trap
            return 0
        if not self._is_enabled or lease.previous is not None:  # its text would look like a copy of itself
            return signature_with(page.content_signature, keys)
        watch = self._watch(site_id)
        if not keys and (others := watch.leads_outside(lease.url, page.links)):
            keys = self._session.frontier.discovery.first_found(site_id, others, lease.level + 1)
        signature = signature_with(page.content_signature, keys) if keys else page.content_signature
        watch.observe(lease.url, self._stage(site_id, lease.level), signature)
        self._observed[site_id] += 1
        return signature

    def _stage(self, site_id: int, level: int) -> int:
        """Return the level; under an order without levels, a number that grows every STAGE_PAGES pages."""
        return level if self._session.goes_by_level else self._observed[site_id] // STAGE_PAGES

    def release_watch(self, site_id: int) -> None:
        """Drop the watch of a site without waiting pages; it can be rebuilt from the store."""
        if self._watches.pop(site_id, None) is not None:
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

    def _stored_pages(self, site_id: int) -> Callable[[], Iterable[tuple[str, int, int]]] | None:
        """Return the query for the pages from which the watch of a site is rebuilt; None if it begins with none."""
        database, is_new = self._session.database, self._sites.rows[site_id].is_new
        if self._session.goes_by_level and (not is_new or site_id in self._unwatched):
            return partial(signed_pages, database, site_id)
        if not is_new and site_id not in self._unwatched:
            return partial(latest_pages, database, site_id, REPLAYED)
        return None

    def _read_watch(self, site_id: int) -> Callable[[], None]:
        by_level, observed = self._session.goes_by_level, 0
        if by_level:  # verdicts depend on the web alone
            watch = TrapWatch()
        else:
            share = min(1.0, max(MIN_SHARE, SHARED_WATCHES / len(self._sites.rows)))
            watch = TrapWatch(int(share * MAX_SIGNATURES), int(share * MAX_PATTERNS))
        if (read := self._stored_pages(site_id)) is not None:
            self._session.writer.flush()
            for observed, (url, level, signature) in enumerate(read(), 1):
                watch.observe(url, level if by_level else (observed - 1) // STAGE_PAGES, signature)

        def take_up() -> None:
            if site_id in self._watches:
                return  # a page of the site came in the meantime
            while len(self._watches) >= (MAX_WATCHES if by_level else MAX_SHARING):
                self.release_watch(next(iter(self._watches)))
            self._watches[site_id], self._observed[site_id] = watch, observed

        return take_up
