"""Maps every found URL to its page: recognises known URLs, writes new ones.

The hot path of a crawl. A page has some 70 links, about 6 of them new: the cache is queried for all of them at
once, and functions are called only for those that are new, or may improve what is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlers.frontier.url_cache import (
    ARBITRARY_VARIANT,
    ID_SHIFT,
    MAX_LEVEL,
    PLACE_MASK,
    PLACE_SHIFT,
    REVIVABLE,
    TAKEN,
    UrlCache,
    id_of,
    pack,
    place_in,
    place_of,
)
from crawlers.frontier.values import QueueEntry
from crawlers.items import State
from crawlers.reasons import REVIVABLE_REASONS, Reason, code_of
from crawlers.store.schema.tables import NewPage, SiteAvailability, WaitingPage
from crawlers.urls.resolution import variant_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Sequence

    from crawlers.frontier.scoring import Scoring
    from crawlers.frontier.site_queue import SiteQueue
    from crawlers.frontier.site_schedule import SiteSchedule
    from crawlers.frontier.sql_store import SqlFrontierStore
    from crawlers.frontier.value_queue import LinkLearning
    from crawlers.frontier.values import Lease, Origin
    from crawlers.items import Target
    from crawlers.ranking.page_orders import PageOrder
    from crawlers.store.writing.change_set import ChangeSet

MOST_IN_DICTS = 50_000  # known URLs, 6 MB; those of larger crawls move into a table of arrays
SETTLED_VARIANT = 0  # the best rank: for a page that was requested, whose variant must no longer change


@dataclass(eq=False)
class UrlDiscovery:
    """Known URLs of the sites of *schedule*, at most *cache_urls* in memory; others are looked up in the store.

    *held* contains the numbers of pages that are waiting in the store although they are leased. *scoring* receives
    the pages that may be fetched, if the order has scores; *learning* their links, if the order learns from these. Of
    each site, *head_urls* waiting URLs are kept in memory.
    """

    store: SqlFrontierStore
    order: PageOrder
    reason_against: Callable[[Target], str | None]
    cache_urls: int
    schedule: SiteSchedule
    held: Container[int]
    scoring: Scoring | None = None
    learning: LinkLearning | None = None
    head_urls: int = 1000

    def __post_init__(self) -> None:
        self._in_dicts = min(MOST_IN_DICTS, self.cache_urls // 4)
        self._cached = 0
        self._forgotten: int | None = None  # the number of the change set after which known URLs are forgotten
        self._found: dict[int, tuple[SiteQueue, QueueEntry]] = {}  # what is queued by `queue_found`, by page

    def discover(
        self,
        site: SiteQueue,
        found: Sequence[tuple[Target, int]],
        origin: Origin,
        now: float,
        changes: ChangeSet,
    ) -> tuple[dict[int, int], int]:
        """Return the page ids of the *found* targets, by key, and the number of new ones."""
        if origin.level > MAX_LEVEL:
            origin = origin._replace(level=MAX_LEVEL)
        seen = site.seen
        known = self._look_up(site, [target.key for target, _ in found])
        before = len(seen.lately)
        nearest, hints = place_of(origin.level, origin.hops), origin.hints
        new = 0
        numbers = {}
        for target, _ in found:
            key = target.key
            value = known.get(key)
            if value is None:
                value = known[key] = self._new(site, target, origin, now, changes)
                new += 1
            else:
                if not value & TAKEN and nearest < value >> PLACE_SHIFT & PLACE_MASK:  # its place
                    value = known[key] = self._improve(site, value, target, origin, now, changes)
                if hints and self.scoring is not None and key in hints:
                    self.scoring.queued(id_of(value), hints[key])  # even while it is leased
            numbers[key] = value >> ID_SHIFT
        if len(seen.lately) > before:
            self._count_growth(seen, before)
        return numbers, new

    def _new(self, site: SiteQueue, target: Target, origin: Origin, now: float, changes: ChangeSet) -> int:
        level, hops, found_on, request, *_ = origin
        page_id = self.store.page_ids.next_id()
        url, variant = target.url, variant_rank(target)
        priority = self.order.priority(level, hops)
        flags, reason = 0, self.reason_against(target) or _depth_reason(level, site)
        if reason is not None:
            flags = REVIVABLE if code_of(reason) in REVIVABLE_REASONS else TAKEN
            if flags == TAKEN:
                url, variant = target.normalized, 0  # never requested, so that all variants are equal
        state = State.WAITING if reason is None else State.REJECTED
        if reason is not None and level == 0 and found_on is None:
            changes.add(SiteAvailability(site.id, reason))  # the home page itself will never be requested
        place = (level, hops, priority, int(state))
        changes.add(NewPage(page_id, site.id, target.key, url, variant, *place, reason, request, found_on, now, now))
        site.counts[state] = site.counts.get(state, 0) + 1
        value = site.seen.lately[target.key] = pack(page_id, level, hops, variant, flags)
        if variant >= ARBITRARY_VARIANT:
            site.seen.urls[target.key] = url
        if reason is None:
            if self.scoring is not None:
                self.scoring.add_waiting(site.id, page_id, level, origin.hints.get(target.key))
            if self.learning is not None:
                changes.add(*self.learning.add_link(page_id, site.name, target, origin))
            entry = QueueEntry(priority, page_id, target.key, url, level, hops, 0, request)
            self._found[page_id] = site, entry
        elif self.learning is not None and flags == REVIVABLE:  # the next run may select it
            changes.add(*self.learning.add_link(page_id, site.name, target, origin))
            self.learning.forget([page_id])
        return value

    def _improve(
        self, site: SiteQueue, value: int, target: Target, origin: Origin, now: float, changes: ChangeSet
    ) -> int:
        """Update a URL that waits, or may be revived, and was found again: nearer, or as near, by a better variant.

        Returns its value from now on.
        The requested variant must not depend on the order in which pages are parsed: it is the best by
        `variant_rank` of those found nearest, then the least.
        """
        level, hops, _, request, *_ = origin
        page_id, variant = id_of(value), variant_rank(target)
        place, best = place_of(level, hops, variant), place_in(value)
        is_no_better = variant < ARBITRARY_VARIANT or target.url >= site.seen.urls.get(target.key, "")
        if place > best or (place == best and is_no_better):
            return value
        reason = (self.reason_against(target) if value & REVIVABLE else None) or _depth_reason(level, site)
        if not value & REVIVABLE:
            if self._found.pop(page_id, None) is None:
                site.discard(page_id)
        elif reason is None:
            site.counts[State.REJECTED] -= 1
            site.counts[State.WAITING] = site.counts.get(State.WAITING, 0) + 1
            if self.learning is not None:
                changes.add(*self.learning.add_link(page_id, site.name, target, origin))
        state = State.WAITING if reason is None else State.REJECTED
        priority = self.order.priority(level, hops)
        flags = 0 if reason is None else REVIVABLE
        value = site.seen.lately[target.key] = pack(page_id, level, hops, variant, flags)
        if variant >= ARBITRARY_VARIANT:
            site.seen.urls[target.key] = target.url
        else:
            site.seen.urls.pop(target.key, None)
        changes.add(
            WaitingPage(page_id, target.url, variant, level, hops, priority, int(state), reason, 0, request, now)
        )
        if reason is None:
            if self.scoring is not None:
                self.scoring.add_waiting(site.id, page_id, level)
            entry = QueueEntry(priority, page_id, target.key, target.url, level, hops, 0, request)
            self._found[page_id] = site, entry
        return value

    def queue_found(self) -> list[SiteQueue]:
        """Queue the URLs that were found since the last call, by their scores of now; return their sites."""
        sites: dict[int, SiteQueue] = {}
        for site, entry in self._found.values():
            site.push(entry, self.head_urls)
            sites[site.id] = site
        self._found.clear()
        return list(sites.values())

    def new_targets(self, targets: Iterable[Target], level: int) -> list[Target]:
        """Return the new, allowed *targets* among links found on *level*, without repeats."""
        by_site: dict[str, dict[int, Target]] = {}
        for target in targets:
            by_site.setdefault(target.site, {}).setdefault(target.key, target)
        found: list[Target] = []
        for name, by_key in by_site.items():
            site = self.schedule.by_name(name)
            if site is not None and _depth_reason(min(level, MAX_LEVEL), site) is not None:
                continue
            if site is None:  # it is another worker's, or new
                known = self.store.numbers((name, key) for key in by_key)
            else:
                known = self._look_up(site, list(by_key))
            found += [one for key, one in by_key.items() if key not in known and self.reason_against(one) is None]
        return found

    def page_of(self, target: Target) -> int | None:
        """Return the number of the page at a URL that is known in memory; None if it is not."""
        site = self.schedule.by_name(target.site)
        value = site.seen.values_of([target.key]).get(target.key) if site is not None else None
        return None if value is None else id_of(value)

    def first_found(self, site_id: int, targets: Iterable[Target], level: int) -> set[int]:
        """Return the keys of those of the *targets* on a site to which no page leads on a lower level than *level*.

        The result does not depend on the order of the pages on the level before.
        """
        site = self.schedule.site(site_id)
        keys = {target.key for target in targets}
        known, nearest = self._look_up(site, list(keys)), place_of(min(level, MAX_LEVEL), 0)
        return {key for key in keys if key not in known or place_in(known[key]) >= nearest}

    def _look_up(self, site: SiteQueue, keys: list[int]) -> dict[int, int]:
        """Return what is known of the URLs of a site, by key, from the cache or the store."""
        known = site.seen.values_of(keys)
        if not site.seen.is_complete and (missing := [key for key in keys if key not in known]):
            before = len(site.seen.lately)
            self._recall(site, missing)
            known |= site.seen.values_of(missing)
            self._count_growth(site.seen, before)
        return known

    # The cache --------------------------------------------------------------------------------------

    @property
    def room(self) -> int:
        """The number of further URLs that may be known in memory."""
        return max(0, self.cache_urls - self._cached)

    def open_site(self, site: SiteQueue, known: UrlCache | None) -> None:
        """Let a site begin with its *known* URLs if there is room for them; None: they are looked up in the store."""
        if known is None or len(known) > self.room:
            site.seen.is_complete = False
        elif len(known):
            site.seen = known
            self._cached += len(known)

    def close_site(self, site: SiteQueue) -> None:
        """Forget the known URLs of a site that is closed."""
        self._cached -= len(site.seen)

    def _recall(self, site: SiteQueue, keys: Iterable[int]) -> None:
        seen = site.seen
        found = self.store.known_urls(site.id, keys)
        for key, value, url in zip(found.keys, found.values, found.urls, strict=True):
            is_held = id_of(value) in self.held
            seen.lately[key] = value | TAKEN if is_held else value
            if url is not None and not is_held:
                seen.urls[key] = url

    def mark(self, site: SiteQueue, page: QueueEntry | Lease, flags: int) -> None:
        """Remember that *page* is leased or has ended, TAKEN, or waits again, 0, as the variant that was requested."""
        seen = site.seen
        before = len(seen.lately)
        seen.urls.pop(page.key, None)
        seen.lately[page.key] = pack(page.id, page.level, page.hops, SETTLED_VARIANT, flags)
        if len(seen.lately) > before:
            self._count_growth(seen, before)

    def _count_growth(self, seen: UrlCache, before: int) -> None:
        """Count the growth of a cache that had *before* URLs in its dict."""
        self._cached += len(seen.lately) - before
        if self._cached > self._in_dicts and self._forgotten is None:
            known = len(seen)
            seen.merge_if_large()
            self._cached += len(seen) - known

    def trim(self) -> None:
        """Forget half of the known URLs, those of the largest sites first, if there are too many.

        All found URLs must be submitted. Those that are forgotten must be committed: until then the tables
        stay as they are.
        """
        if self._cached <= self.cache_urls:
            return
        if self._forgotten is None:
            self._forgotten = self.store.submitted
        if not self.store.has_committed(self._forgotten):
            return
        self._forgotten = None
        for site in sorted(self.schedule.sites.values(), key=lambda site: len(site.seen), reverse=True):
            before = len(site.seen)
            site.seen.forget()
            self._cached += len(site.seen) - before
            if 2 * self._cached <= self.cache_urls:
                return


def _depth_reason(level: int, site: SiteQueue) -> str | None:
    return None if site.max_level is None or level <= site.max_level else Reason.TOO_DEEP.of(level, site.max_level)


def waiting_row(lease: Lease, priority: float, reason: str, now: float, retry_at: float | None) -> WaitingPage:
    """Return the row of a page that was requested and waits again, until *retry_at* if it rests."""
    nearness = (lease.level, lease.hops, priority)
    state = int(State.WAITING)
    return WaitingPage(
        lease.id, lease.url, SETTLED_VARIANT, *nearness, state, reason, lease.attempts, lease.request, now, retry_at
    )
