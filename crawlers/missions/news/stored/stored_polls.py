"""Reads the scheduled pages of a news crawl from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import exists, func, select

from crawlers.items import GONE, REVISIT, State
from crawlers.missions.news.article.article_evidence import SURE, StoredLabel
from crawlers.missions.news.stored.news_tables import PollRow, document, feed, feed_item, news_score, page_label, poll
from crawlers.reasons import COPIES, Reason, code_of
from crawlers.store.reading.url_counts import has_reason
from crawlers.store.schema.tables import link, page, seed, site
from crawlers.store.streaming import among

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sqlalchemy import Connection

    from crawlers.store.database import Database

_FETCHED = (State.DONE, State.REFUSED, State.FAILED)
LINKS = 100  # to a feed, which are looked at


# Whether a feed failed at its last poll, or has a problem; a long one that is read in slices has none.
FAILS = (poll.c.failures > 0) | (poll.c.problem.is_not(None) & ~has_reason(poll.c.problem, [Reason.FEED_REST]))


class QueuedSite(NamedTuple):
    """A site of a news crawl, and the URL rules by which its waiting pages are queued."""

    id: int
    name: str
    rules: str | None  # fingerprint; None = the pages are not yet queued by today's rules
    has_pages: bool  # whether any page waits


def polls_of(database: Database, sites: Collection[int]) -> list[PollRow]:
    """Return the scheduled pages of *sites*, given by number."""
    statement = (
        select(*poll.c)
        .join(news_score, news_score.c.page_id == poll.c.page_id)
        .where(news_score.c.queue == REVISIT, among(poll.c.site_id, sites))
        .order_by(poll.c.page_id)
    )
    return [PollRow(*row) for row in database.rows(statement)]


def known_items(database: Database, feed_id: int, keys: Collection[int]) -> set[int]:
    """Return those of *keys* whose items the feed announced before."""
    is_known = (feed_item.c.feed_id == feed_id, among(feed_item.c.key, keys))
    return set(database.scalars(select(feed_item.c.key).where(*is_known)))


class UnreadArticle(NamedTuple):
    """An announced page that was fetched before, but is neither a document nor a copy of one."""

    site: str
    key: int
    page_id: int
    reason: str | None
    fetched_at: float | None
    waits: bool = False  # it waits to be fetched


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


def queued_sites(database: Database, sites: Collection[int]) -> list[QueuedSite]:
    """Return *sites*, given by number."""
    waits = exists().where(page.c.site_id == site.c.id, page.c.state == int(State.WAITING))
    statement = select(site.c.id, site.c.site, site.c.rules, waits).order_by(site.c.id)
    return [QueuedSite(*row) for row in database.rows(statement.where(among(site.c.id, sites)))]


def sites_that_link(database: Database, page_id: int) -> list[str]:
    """Return the sites with pages that link to a page, the first link first."""
    statement = (
        select(site.c.site)
        .join(page, page.c.site_id == site.c.id)
        .join(link, link.c.source_id == page.c.id)
        .where(link.c.target_id == page_id)
        .order_by(link.c.source_id)
    )
    return list(dict.fromkeys(database.scalars(statement.limit(LINKS))))


def removed_feeds(database: Database, includes: Callable[[str], bool]) -> list[str]:
    """Return the URLs of the feeds that a person disabled, and of those whose source's site the crawl excludes."""
    statement = select(feed.c.url, feed.c.enabled, seed.c.site).join(seed, seed.c.id == feed.c.seed_id)
    rows = database.rows(statement.order_by(feed.c.id))
    return [url for url, is_enabled, owner in rows if not (is_enabled and includes(owner))]


def gone_pages(
    database: Database, sites: Collection[int], keys: Collection[int]
) -> list[tuple[str, int, str | None, float | None]]:
    """Return those pages with *keys* of *sites* that are not to be fetched again, nor moved.

    Of each: its site, its number, why it has none, and when it was fetched. SQLite looks each key up on each site.
    """
    columns = (site.c.site, page.c.id, page.c.reason, page.c.fetched_at)
    gone = select(*columns).join(page, page.c.site_id == site.c.id).join(news_score, news_score.c.page_id == page.c.id)
    is_gone = (news_score.c.queue == GONE, page.c.state != int(State.MOVED))
    wanted = (among(page.c.site_id, sites), among(page.c.key, keys))
    return [tuple(row) for row in database.rows(gone.where(*wanted, *is_gone).order_by(page.c.id))]


def labels_of(connection: Connection, sites: Collection[int], most: int | None = None) -> list[StoredLabel]:
    """Return the certain labels of the pages of *sites*, oldest first; at most *most*."""
    labelled_at = func.coalesce(page_label.c.labelled_at, 0.0)
    statement = (
        select(site.c.site, page.c.url, page_label.c.odds, labelled_at)
        .select_from(page_label)
        .join(page, page.c.id == page_label.c.page_id)
        .join(site, site.c.id == page_label.c.site_id)
        .where(among(page_label.c.site_id, sites), (page_label.c.odds > SURE) | (page_label.c.odds <= -SURE))
        .order_by(labelled_at, page_label.c.page_id)
    )
    return [StoredLabel(*row) for row in connection.execute(statement.limit(most))]
