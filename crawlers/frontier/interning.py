"""Gives every found URL its page: recognises the known ones, writes the new ones.

The hot path of a crawl. A page has some 70 links, about 6 of them new: what is known costs one look-up
in a dict, everything else happens once a URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.urls import spelling_rank
from crawlers.frontier.journal import Entry
from crawlers.frontier.seen import MAX_LEVEL, TAKEN, TOO_DEEP, id_of, pack, rank, rank_of, spelling_of
from crawlers.items import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlers.algorithms.page_orders import PageOrder
    from crawlers.frontier.base import Lease
    from crawlers.frontier.journal import Journal
    from crawlers.frontier.site_queue import SiteQueue
    from crawlers.items import Target
    from crawlers.storage.unit import Unit

ARBITRARY_SPELLING = 2  # see urls.spelling_rank: of these, the least URL is asked for
TOO_DEEP_REASON = "too deep"


class Interner:
    """Known URLs of all sites, within *cache_urls* of memory; what is not there is asked of the journal."""

    def __init__(
        self,
        journal: Journal,
        order: PageOrder,
        admit: Callable[[Target], str | None],
        cache_urls: int,
    ) -> None:
        self._journal = journal
        self._order = order
        self._admit = admit
        self._generation_urls = max(cache_urls // 2, 1)
        self._cached = 0  # keys of the young generation
        self._sites: list[SiteQueue] = []
        self.head_urls = 1000

    def intern(
        self,
        site: SiteQueue,
        found: list[tuple[Target, int]],
        level: int,
        hops: int,
        found_on: int | None,
        now: float,
        unit: Unit,
        request: str | None = None,
    ) -> tuple[dict[int, int], int]:
        """Return {page id: number of links to it} of the *found* targets, and how many of them are new."""
        level = min(level, MAX_LEVEL)
        seen = site.seen
        young = seen.young
        if not seen.is_complete:
            missing = [target.key for target, _ in found if seen.get(target.key) is None]
            if missing:
                self._recall(site, missing)
        nearness = rank(level, hops)
        counts: dict[int, int] = {}
        new = 0
        for target, count in found:
            value = young.get(target.key) or seen.get(target.key)
            if value is None:
                value = self._new(site, target, level, hops, found_on, now, unit, request)
                new += 1
            elif not value & TAKEN:
                self._improve(site, value, target, level, hops, nearness, now, unit)
            page_id = id_of(value)
            counts[page_id] = counts.get(page_id, 0) + count
        self._cached += new
        if self._cached > self._generation_urls:
            self._age()
        return counts, new

    def _new(
        self,
        site: SiteQueue,
        target: Target,
        level: int,
        hops: int,
        found_on: int | None,
        now: float,
        unit: Unit,
        request: str | None,
    ) -> int:
        page_id = self._journal.new_id()
        spelling = spelling_rank(target)
        priority = self._order.priority(level, hops)
        reason = self._admit(target)
        flags = TAKEN if reason else 0
        if reason is None and site.max_level is not None and level > site.max_level:
            reason = f"{TOO_DEEP_REASON}: level {level}, the limit is {site.max_level}"
            flags = TOO_DEEP
        state = State.REJECTED if reason else State.WAITING
        unit.new_pages.append(
            [
                page_id,
                site.id,
                target.key,
                target.url,
                spelling,
                level,
                hops,
                priority,
                int(state),
                reason,
                request,
                found_on,
                now,
                now,
            ]
        )
        site.counts[state] = site.counts.get(state, 0) + 1
        value = site.seen.young[target.key] = pack(page_id, rank(level, hops), spelling, flags)
        if state is State.WAITING:
            site.pending += 1
            if spelling == ARBITRARY_SPELLING:
                site.best_url[page_id] = target.url
            site.push(
                Entry(priority, page_id, target.key, target.url, level, hops, 0, request), self.head_urls
            )
        return value

    def _improve(
        self,
        site: SiteQueue,
        value: int,
        target: Target,
        level: int,
        hops: int,
        nearness: int,
        now: float,
        unit: Unit,
    ) -> None:
        """A URL that waits (or was too deep) is found again: nearer, or better spelled.

        The spelling that is asked for must not depend on which page was parsed first: of those found
        nearest, the best by `spelling_rank`, then the least.
        """
        known = rank_of(value)
        if nearness > known:
            return
        page_id = id_of(value)
        spelling = spelling_rank(target)
        if nearness == known:
            best = spelling_of(value)
            if spelling > best or (
                spelling == best
                and (spelling != ARBITRARY_SPELLING or target.url >= site.best_url.get(page_id, ""))
            ):
                return
        if value & TOO_DEEP:
            if site.max_level is not None and level > site.max_level:
                return
            site.counts[State.REJECTED] -= 1
            site.counts[State.WAITING] = site.counts.get(State.WAITING, 0) + 1
            site.pending += 1
        priority = self._order.priority(level, hops)
        site.seen.young[target.key] = pack(page_id, nearness, spelling, 0)
        site.best_url[page_id] = target.url
        unit.waiting_pages.append([page_id, target.url, spelling, level, hops, priority, None, 0, now])
        site.push(Entry(priority, page_id, target.key, target.url, level, hops, 0, None), self.head_urls)

    # The cache --------------------------------------------------------------------------------------

    def recall_all(self, site: SiteQueue) -> None:
        """Warm the cache with all that a resumed site knows, if it fits."""
        self._sites.append(site)
        total = sum(site.counts.values())
        if self._cached + total <= self._generation_urls:
            self._recall(site, None)
        else:
            site.seen.is_complete = False

    def _recall(self, site: SiteQueue, keys: Iterable[int] | None) -> None:
        young = site.seen.young
        before = len(young)
        for known in self._journal.known(site.id, keys):
            flags = TOO_DEEP if known.is_too_deep else 0 if known.waits else TAKEN
            young[known.key] = pack(known.id, rank(known.level, known.hops), known.spelling, flags)
            if known.url is not None:
                site.best_url[known.id] = known.url
        self._cached += len(young) - before

    def _age(self) -> None:
        # The journal must be able to answer for every URL that is forgotten here or at the next call.
        self._journal.flush()
        for site in self._sites:
            site.seen.age()
        self._cached = 0

    def value(self, site: SiteQueue, entry: Entry) -> int | None:
        """What is known of a queued URL, from the cache or else from the journal."""
        value = site.seen.get(entry.key)
        if value is None:
            self._recall(site, [entry.key])
            value = site.seen.get(entry.key)
        return value

    def spelling(self, site: SiteQueue, key: int) -> int:
        value = site.seen.get(key)
        return spelling_of(value) if value is not None else ARBITRARY_SPELLING

    def untaken(self, site: SiteQueue, lease: Lease) -> int:
        return pack(lease.id, rank(lease.level, lease.hops), self.spelling(site, lease.key), 0)
