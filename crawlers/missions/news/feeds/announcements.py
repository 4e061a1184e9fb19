"""The URLs that feeds announce in a news crawl, including those of pages that were fetched before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.items import State
from crawlers.missions.news.plan.news_scores import BEFORE_ARTICLES, FRESH, QueueSlot
from crawlers.missions.news.stored.news_tables import document, feed_item
from crawlers.reasons import COPIES, code_of
from crawlers.store.schema.tables import page, site
from crawlers.store.streaming import among
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence, Set

    from crawlers.frontier.frontier import Frontier
    from crawlers.frontier.values import Lease, PageVisit
    from crawlers.missions.news.news_items import Announced
    from crawlers.missions.news.plan.polls import Polls
    from crawlers.missions.news.stored.news_tables import PollRow
    from crawlers.store.database import Database
    from crawlers.store.writing.writer import Writer

MAX_REMEMBERED = 200_000  # announced URLs
_FETCHED = (State.DONE, State.REFUSED, State.FAILED)


class UnreadArticle(NamedTuple):
    """An announced page that was fetched before, but is neither a document nor a copy of one."""

    site: str
    key: int
    page_id: int
    reason: str | None
    fetched_at: float | None
    waits: bool = False  # it waits to be fetched


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
                for name, its in by_site.items()
                for one in pages_without_document(self._database, self._crawl_id, name, its)
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
        for name, its in by_site.items():
            self._frontier.fetch_again(name, its, now)
        if rows:
            self._frontier.submit(
                ChangeSet(*rows), now
            )  # behind: after a kill in between, a page is polled and fetched again


def known_items(database: Database, feed_id: int, keys: Collection[int]) -> set[int]:
    """Return those of *keys* whose items the feed announced before."""
    is_known = (feed_item.c.feed_id == feed_id, among(feed_item.c.key, keys))
    return set(database.scalars(select(feed_item.c.key).where(*is_known)))


def pages_without_document(database: Database, crawl_id: int, name: str, keys: Collection[int]) -> list[UnreadArticle]:
    """Return the pages of the site *name* with these *keys* that were fetched without becoming documents or copies.

    A page that redirects is represented by the page that its redirects end at, even if that waits.
    """
    columns = (site.c.site, page.c.key, page.c.id, page.c.reason, page.c.fetched_at, page.c.state, page.c.moved_to)
    pages = select(*columns, document.c.page_id.label("document")).join(site, site.c.id == page.c.site_id)
    pages = pages.outerjoin(document, document.c.page_id == page.c.id).where(site.c.crawl_id == crawl_id)
    found: dict[int, UnreadArticle] = {}
    followed: set[int] = set()
    with database.read() as connection:
        rows = connection.execute(pages.where(site.c.site == name, among(page.c.key, keys))).all()
        is_target = False
        while rows:
            for row in rows:
                waits = row.state == State.WAITING and is_target  # others wait as announced
                is_unread = waits or row.state in _FETCHED
                is_copy = code_of(row.reason) in COPIES
                if is_unread and row.document is None and not is_copy:
                    found[row.id] = UnreadArticle(row.site, row.key, row.id, row.reason, row.fetched_at, waits)
            targets = {row.moved_to for row in rows if row.state == State.MOVED} - followed
            followed |= targets
            rows = connection.execute(pages.where(among(page.c.id, targets))).all() if targets else []
            is_target = True
    return [found[page_id] for page_id in sorted(found)]
