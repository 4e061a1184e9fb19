"""The URLs that feeds announce in a news crawl, including those of pages that were fetched before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.missions.news.plan.news_scores import BEFORE_ARTICLES, FRESH, QueueSlot
from crawlers.missions.news.stored.stored_polls import known_items, pages_without_document
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Set

    from crawlers.frontier.frontier import Frontier
    from crawlers.frontier.values import Lease, PageVisit
    from crawlers.missions.news.news_items import Announced
    from crawlers.missions.news.plan.polls import Polls
    from crawlers.missions.news.stored.news_tables import PollRow
    from crawlers.missions.news.stored.stored_polls import UnreadArticle
    from crawlers.store.database import Database
    from crawlers.store.writing.writer import Writer

MAX_REMEMBERED = 200_000  # announced URLs


class StoredItems(NamedTuple):
    """The stored facts about the items of a feed."""

    new: Sequence[Announced] = ()  # items that the feed did not announce before
    unread: Sequence[UnreadArticle] = ()  # their pages that were fetched, and are not documents


class Announcements:
    """The announcements of the crawl *crawl_id* in *database*, which *commits*, the writer, writes."""

    def __init__(self, database: Database, crawl_id: int, commits: Writer, frontier: Frontier, polls: Polls) -> None:
        self._database = database
        self._crawl_id = crawl_id
        self._commits = commits
        self._frontier = frontier
        self._polls = polls
        self._announced: dict[int, None] = {}  # keys, the most recent last

    def __contains__(self, key: int) -> bool:
        """Return whether a feed announced the URL with that *key* in this run."""
        return key in self._announced

    def led_to(self, lease: Lease) -> bool:
        """Return whether the leased URL was announced, or appeared on a polled page."""
        if lease.key in self._announced:
            return True
        return lease.queue == FRESH and not self.may_be_feed(lease)

    def may_be_feed(self, lease: Lease) -> bool:
        """Return whether a page named the leased URL as a feed or sitemap: it waited before all articles."""
        return lease.queue == FRESH and self._frontier.hint(lease.id) == BEFORE_ARTICLES

    def look_up(self, feed_id: int | None, items: Sequence[Announced]) -> Callable[[], StoredItems]:
        """Announce the *items* of a feed; return the query for what the store knows of them, for any thread.

        *feed_id* is the page of a feed that was read before; None if none of its items can be known. Pages that are
        read from now on know that they are announced; the query waits until those that were read before are committed.
        """
        keys = [item.target.key for item in items]
        self._announce(keys)
        submitted = self._commits.submitted

        def read() -> StoredItems:
            known: Set[int] = known_items(self._database, feed_id, keys) if keys and feed_id else frozenset()
            new = [item for item in items if item.target.key not in known]
            by_site: dict[str, list[int]] = {}
            for item in new:
                by_site.setdefault(item.target.site, []).append(item.target.key)
            if new:
                self._commits.wait_for(submitted)
            unread = (
                one
                for site, its in by_site.items()
                for one in pages_without_document(self._database, self._crawl_id, site, its)
            )
            return StoredItems(new, list(unread))

        return read

    def _announce(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._announced.pop(key, None)
            self._announced[key] = None
        while len(self._announced) > MAX_REMEMBERED:
            del self._announced[next(iter(self._announced))]

    def read_again(self, stored: StoredItems, now: float) -> None:
        """Fetch the pages of new items again that were fetched before the announcement without becoming documents.

        Pages that are polled as lists are no articles; other polled pages are polled no more.
        """
        by_site: dict[str, list[PageVisit]] = {}
        rows: list[PollRow] = []
        for one in stored.unread:
            if self._polls.is_list(one.page_id):
                continue
            self._announce([one.key])  # targets of redirects are announced by them
            if one.waits:
                if (scoring := self._frontier.scoring) is not None:
                    scoring.queued(one.page_id, QueueSlot(FRESH, now))  # so that the next run knows it, too
            else:
                rows += self._polls.read_once(one.page_id, now)
                by_site.setdefault(one.site, []).append((one.page_id, one.reason, one.fetched_at))
        for site, its in by_site.items():
            self._frontier.fetch_again(site, its, now)
        if rows:
            self._frontier.submit(
                ChangeSet(*rows), now
            )  # behind: after a kill in between, a page is polled and fetched again
