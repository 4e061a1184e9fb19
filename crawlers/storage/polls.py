"""What the store knows of the pages of a news crawl that come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, func, select

from crawlers.algorithms.page_scores import RETURNING
from crawlers.items import State
from crawlers.storage.news_tables import document, feed_item, news_score, page_label, poll
from crawlers.storage.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawlers.storage.database import Database

MOST_KEYS = 5_000


class PollRow(NamedTuple):
    """A page that comes back; see the table `poll`."""

    page_id: int
    site_id: int
    kind: str
    due_at: float
    polled_at: float
    polls: int
    failures: int
    new_items: int
    newest_at: float | None
    rate: str
    problem: str | None


def polls_of(database: Database, crawl_id: int) -> list[PollRow]:
    """The pages of a crawl that come back, in the order of their numbers."""
    statement = (
        select(*poll.c)
        .join(site, site.c.id == poll.c.site_id)
        .join(news_score, news_score.c.page_id == poll.c.page_id)
        .where(site.c.crawl_id == crawl_id, news_score.c.queue == RETURNING)
        .order_by(poll.c.page_id)
    )
    with database.read() as connection:
        return [PollRow(*row) for row in connection.execute(statement)]


def known_items(database: Database, feed_id: int, keys: Collection[int]) -> set[int]:
    """Which of the items of these *keys* the feed announced before."""
    known: set[int] = set()
    with database.read() as connection:
        for some in _parts(keys):
            statement = select(feed_item.c.key).where(feed_item.c.feed_id == feed_id, feed_item.c.key.in_(some))
            known.update(connection.execute(statement).scalars())
    return known


def pages_without_document(
    database: Database, crawl_id: int, name: str, keys: Collection[int]
) -> list[tuple[int, str | None, float | None]]:
    """The pages of the site *name* with these *keys* that were read, but made no document and are no copy of one.

    (number, reason, when it was fetched)
    """
    statement = (
        select(page.c.id, page.c.reason, page.c.fetched_at)
        .join(site, site.c.id == page.c.site_id)
        .outerjoin(document, document.c.page_id == page.c.id)
        .where(
            site.c.crawl_id == crawl_id,
            site.c.site == name,
            page.c.key.in_(bindparam("keys", expanding=True)),
            page.c.state == int(State.DONE),
            document.c.page_id.is_(None),
            func.coalesce(page.c.reason, "").not_like("% as document %"),
        )
    )
    with database.read() as connection:
        return [
            (page_id, reason, fetched_at)
            for some in _parts(keys)
            for page_id, reason, fetched_at in connection.execute(statement, {"keys": some})
        ]


def labels_of(database: Database, crawl_id: int) -> list[tuple[str, str, float]]:
    """(site, URL, odds) of the pages that were labelled, oldest first."""
    statement = (
        select(site.c.site, page.c.url, page_label.c.odds)
        .select_from(page_label)
        .join(page, page.c.id == page_label.c.page_id)
        .join(site, site.c.id == page_label.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .order_by(page_label.c.page_id)
    )
    with database.read() as connection:
        return [(name, url, odds) for name, url, odds in connection.execute(statement)]


def _parts(keys: Collection[int]) -> Iterator[list[int]]:
    """*keys* in lists that fit into a statement: a sitemap may have 50,000."""
    known = list(keys)
    return (known[start : start + MOST_KEYS] for start in range(0, len(known), MOST_KEYS))
