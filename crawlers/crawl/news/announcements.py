"""What feeds announce in a news crawl; also of pages that were read before anybody said that they are articles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.news_scores import BEFORE_ARTICLES, FRESH
from crawlers.storage.news.stored_polls import known_items, pages_without_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlers.frontier.protocols import CrawlFrontier, Lease
    from crawlers.items import Announced
    from crawlers.storage.database import Database

MOST_REMEMBERED = 200_000  # announced URLs
MOST_UNSURE = 10_000  # pages that may not be committed; then a flush costs less than their memory


class Announcements:
    """Those of the crawl *crawl_id*. *flush* commits all that was submitted to *database*."""

    def __init__(self, database: Database, crawl_id: int, flush: Callable[[], None], frontier: CrawlFrontier) -> None:
        self._database = database
        self._crawl_id = crawl_id
        self._flush = flush
        self._frontier = frontier
        self._announced: dict[int, None] = {}  # keys, the latest ones last
        self._unsure: set[int] = set()  # keys of pages that were read since the last flush

    def __contains__(self, key: int) -> bool:
        """Whether a feed announced the URL of that *key* in this run."""
        return key in self._announced

    def led_to(self, lease: Lease) -> bool:
        """Whether the leased URL was announced, or appeared on a page that comes back."""
        if lease.key in self._announced:
            return True
        # Possible feeds, which were only linked, wait before all articles.
        return lease.group == FRESH and self._frontier.slot(lease.id) != BEFORE_ARTICLES

    def new_of(self, lease: Lease, items: Iterable[Announced]) -> list[Announced]:
        """Those of the *items* of the leased feed that it announces for the first time."""
        keys = [item.target.key for item in items]
        for key in keys:
            self._announced.pop(key, None)
            self._announced[key] = None
        while len(self._announced) > MOST_REMEMBERED:
            del self._announced[next(iter(self._announced))]
        known = known_items(self._database, lease.id, keys) if lease.is_revisit else set()
        return [item for item in items if item.target.key not in known]

    def was_read(self, key: int) -> None:
        """The page of that *key* was read, and made no document until now."""
        if len(self._unsure) >= MOST_UNSURE:
            self._commit()
        self._unsure.add(key)  # it is submitted after this

    def read_again(self, items: Iterable[Announced], now: float) -> None:
        """Have those of *items* fetched once more that were read before they were announced, and not taken."""
        keys: dict[str, list[int]] = {}
        for item in items:
            keys.setdefault(item.target.site, []).append(item.target.key)
        if not all(self._unsure.isdisjoint(its) for its in keys.values()):
            self._commit()
        for site, its in keys.items():
            pages = pages_without_document(self._database, self._crawl_id, site, its)
            if pages:
                self._frontier.fetch_again(site, pages, now)

    def _commit(self) -> None:
        self._flush()
        self._unsure.clear()
