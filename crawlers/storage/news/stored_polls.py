"""Reads the scheduled pages of a news crawl from the store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from sqlalchemy import bindparam, exists, func, select, text

from crawlers.algorithms.ranking.page_scores import GONE, REVISIT
from crawlers.items import State
from crawlers.storage.schema.news_tables import PollRow, document, feed, feed_item, page_label, poll
from crawlers.storage.schema.score_tables import news_score
from crawlers.storage.schema.tables import page, seed, site

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from crawlers.storage.database import Database

MOST_KEYS = 5_000
# The rows of JSON are the outer loop: each is one step down the index.
_WANTED = {
    "sqlite": """
        json_each(:wanted) AS w CROSS JOIN page AS p
        ON p.site_id = json_extract(w.value, '$[0]') AND p.key = json_extract(w.value, '$[1]')""",
    "postgresql": """
        jsonb_array_elements(CAST(:wanted AS jsonb)) AS w(value) JOIN page AS p
        ON p.site_id = CAST(w.value->>0 AS integer) AND p.key = CAST(w.value->>1 AS bigint)""",
}
_OVER = f"""
    SELECT site.site, p.id, p.reason, p.fetched_at FROM {{wanted}}
    JOIN site ON site.id = p.site_id JOIN news_score AS s ON s.page_id = p.id
    WHERE s.queue = {GONE} AND p.state <> {int(State.MOVED)} ORDER BY p.id"""  # noqa: S608 - constants of ours

_MOVED = f"""
    SELECT p.key, t.site_id, t.key FROM {{wanted}} JOIN page AS t ON t.id = p.moved_to
    WHERE p.state = {int(State.MOVED)}"""  # noqa: S608

T = TypeVar("T")


class PlacedSite(NamedTuple):
    """A site of a news crawl, and by which rules its waiting pages have their places."""

    id: int
    name: str
    rules: str | None  # None: they are yet to be placed by those of today
    waits: bool  # whether any page waits


def polls_of(database: Database, crawl_id: int) -> list[PollRow]:
    """The pages of a crawl that come back, of sites that are not left out, in the order of their numbers."""
    statement = (
        select(*poll.c)
        .join(site, site.c.id == poll.c.site_id)
        .join(news_score, news_score.c.page_id == poll.c.page_id)
        .where(site.c.crawl_id == crawl_id, site.c.is_open, news_score.c.queue == REVISIT)
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


def placed_sites(database: Database, crawl_id: int) -> list[PlacedSite]:
    """Return the sites of a crawl that its latest run includes."""
    waiting = exists().where(page.c.site_id == site.c.id, page.c.link_group == 0, page.c.state == int(State.WAITING))
    statement = select(site.c.id, site.c.site, site.c.rules, waiting).where(site.c.crawl_id == crawl_id, site.c.is_open)
    with database.read() as connection:
        return [PlacedSite(*row) for row in connection.execute(statement.order_by(site.c.id))]


def left_out_sites(database: Database, crawl_id: int) -> list[str]:
    """Return the sites of a crawl that its latest run excludes."""
    statement = select(site.c.site).where(site.c.crawl_id == crawl_id, ~site.c.is_open).order_by(site.c.id)
    with database.read() as connection:
        return list(connection.execute(statement).scalars())


def removed_feeds(database: Database, takes: Callable[[str], bool]) -> list[str]:
    """The URLs of the feeds that a person took out, and of those whose source is at no site that the crawl *takes*."""
    statement = select(feed.c.url, feed.c.enabled, seed.c.site).join(seed, seed.c.id == feed.c.seed_id)
    with database.read() as connection:
        rows = connection.execute(statement.order_by(feed.c.id))
        return [url for url, is_enabled, owner in rows if not (is_enabled and takes(owner))]


def pages_over(
    database: Database, wanted: Collection[tuple[int, int]]
) -> list[tuple[str, tuple[int, str | None, float | None]]]:
    """Of the pages *wanted*, by number of site and key, those that are over, and did not move.

    (site, (number, reason, when it was fetched))
    """
    statement = text(_OVER.format(wanted=_WANTED[database.engine.dialect.name]))
    with database.read() as connection:
        rows = connection.execute(statement, {"wanted": json.dumps(list(wanted))})
        return [(name, (page_id, reason, fetched_at)) for name, page_id, reason, fetched_at in rows]


def moved_pages(database: Database, wanted: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Of the pages *wanted*, by number of site and key, and of those that they led to: (key, key of where it moved)."""
    statement = text(_MOVED.format(wanted=_WANTED[database.engine.dialect.name]))
    found: dict[int, int] = {}
    with database.read() as connection:
        while wanted := [one for one in wanted if one[1] not in found]:
            rows = connection.execute(statement, {"wanted": json.dumps(wanted)}).all()
            found.update((key, target) for key, _, target in rows)
            wanted = [(site_id, target) for _, site_id, target in rows]
    return list(found.items())


def labels_of(database: Database, crawl_id: int) -> Iterator[tuple[str, str, float]]:
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
        rows = connection.execution_options(yield_per=1_000).execute(statement)
        yield from ((name, url, odds) for name, url, odds in rows)


def _parts(keys: Collection[T]) -> Iterator[list[T]]:
    """*keys* in lists that fit into a statement: a sitemap may have 50,000."""
    known = list(keys)
    return (known[start : start + MOST_KEYS] for start in range(0, len(known), MOST_KEYS))
