"""What the store knows of the pages of a news crawl that come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.storage.news_tables import feed_item, news_score, page_label, poll
from crawlers.storage.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawlers.storage.database import Database


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
        .where(site.c.crawl_id == crawl_id, news_score.c.queue == 1)
        .order_by(poll.c.page_id)
    )
    with database.read() as connection:
        return [PollRow(*row) for row in connection.execute(statement)]


def known_items(database: Database, feed_id: int, keys: Collection[int]) -> set[int]:
    """Which of the items of these *keys* the feed announced before."""
    statement = select(feed_item.c.key).where(feed_item.c.feed_id == feed_id, feed_item.c.key.in_(keys))
    with database.read() as connection:
        return set(connection.execute(statement).scalars())


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
