"""The URLs that feeds announce in a news crawl, including those of pages that were fetched before."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from crawlers.missions.news.plan.news_scores import BEFORE_ARTICLES, FRESH
from crawlers.missions.news.stored.stored_polls import known_items, pages_without_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Set

    from crawlers.frontier.frontier import Frontier
    from crawlers.frontier.values import Lease, PageVisit
    from crawlers.missions.news.news_items import Announced
    from crawlers.missions.news.plan.polls import Polls
    from crawlers.missions.news.stored.stored_polls import UnreadArticle
    from crawlers.store.database import Database
    from crawlers.store.writing.writer import Writer

MAX_REMEMBERED = 200_000  # announced URLs
MAX_UNSURE = 10_000  # pages that may not be committed yet


class StoredItems(NamedTuple):
    """The stored facts about the items of a feed."""

    known: Set[int]  # keys of the items that the feed announced before
    unread: Sequence[UnreadArticle]  # pages of the other items that were fetched, and are not documents
    submitted: int  # change sets, when the query was made


class Announcements:
    """The announcements of the crawl *crawl_id* in *database*, which *commits*, the writer, writes."""

    def __init__(self, database: Database, crawl_id: int, commits: Writer, frontier: Frontier, polls: Polls) -> None:
        self._database = database
        self._crawl_id = crawl_id
        self._commits = commits
        self._frontier = frontier
        self._polls = polls
        self._announced: dict[int, None] = {}  # keys, the most recent last
        # By key, the most recent last: the number of change sets that were submitted before the page was read.
        self._read: dict[int, int] = {}

    def __contains__(self, key: int) -> bool:
        """Return whether a feed announced the URL with that *key* in this run."""
        return key in self._announced

    def led_to(self, lease: Lease) -> bool:
        """Return whether the leased URL was announced, or appeared on a polled page."""
        if lease.key in self._announced:
            return True
        # Possible feeds, which were only linked, wait before all articles.
        return lease.queue == FRESH and self._frontier.hint(lease.id) != BEFORE_ARTICLES

    def look_up(self, feed_id: int | None, items: Iterable[Announced]) -> Callable[[], StoredItems]:
        """Return the query for `new_of` and `read_again`, which may run in any thread.

        *feed_id* is the page of a feed that was read before; None if none of its items can be known.
        """
        keys = {item.target.key: item.target.site for item in items}
        uncommitted = frozenset(key for key in keys if key in self._read)
        submitted = self._commits.submitted

        def read() -> StoredItems:
            known: Set[int] = known_items(self._database, feed_id, keys) if keys and feed_id else frozenset()
            new: dict[str, list[int]] = {}
            for key, site in keys.items():
                if key not in known:
                    new.setdefault(site, []).append(key)
            if uncommitted - known:
                self._commits.wait_for(submitted)
            unread = (
                one
                for site, its in new.items()
                for one in pages_without_document(self._database, self._crawl_id, site, its)
            )
            return StoredItems(known, list(unread), submitted)

        return read

    def new_of(self, items: Iterable[Announced], stored: StoredItems) -> list[Announced]:
        """Return those of the *items* of a feed that it announces for the first time."""
        self._announce(item.target.key for item in items)
        return [item for item in items if item.target.key not in stored.known]

    def _announce(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._announced.pop(key, None)
            self._announced[key] = None
        while len(self._announced) > MAX_REMEMBERED:
            del self._announced[next(iter(self._announced))]

    def was_read(self, key: int) -> None:
        """Record that the page with that *key* was fetched, and is not a document; it is submitted after this."""
        self._read.pop(key, None)
        self._read[key] = self._commits.submitted
        if len(self._read) > MAX_UNSURE:
            oldest, following = islice(self._read, 2)
            self._commits.wait_for(self._read[following])  # so many pages ago that it need not wait
            del self._read[oldest]

    def read_again(self, feed_id: int | None, items: Iterable[Announced], stored: StoredItems, now: float) -> None:
        """Fetch again those new *items* whose pages were fetched before the announcement without becoming documents.

        Pages that are polled as lists are no articles.
        """
        if any(self._read.get(item.target.key, -1) >= stored.submitted for item in items):
            stored = self.look_up(feed_id, items)()  # some were read since the look-up
        self.fetch_again([one for one in stored.unread if not self._polls.is_list(one.page_id)], now)

    def fetch_again(self, pages: Sequence[UnreadArticle], now: float) -> None:
        """Fetch *pages* again that are announced, and were not read as articles since."""
        self._announce(one.key for one in pages)  # targets of redirects are announced by them
        by_site: dict[str, list[PageVisit]] = {}
        for one in pages:
            if not one.waits:
                by_site.setdefault(one.site, []).append((one.page_id, one.reason, one.fetched_at))
        for site, its in by_site.items():
            self._frontier.fetch_again(site, its, now)
