"""What the store knows of the importance of pages: shares of the cash that passed through them.

Only crawls with an order of `KEEPERS` know it. Shares are rounded as the measures of graphs are, so that what depends
on the processor stays out of files.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import text

from crawlers.algorithms.opic import OPIC
from crawlers.algorithms.page_orders import ORDERS, OrderOptions
from crawlers.storage.graph_model import DECIMALS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from crawlers.storage.database import Database

KEEPERS = tuple(name for name, make in ORDERS.items() if isinstance(make(OrderOptions()).scores, OPIC))

_TOTALS = """
    SELECT c.value, t.totals FROM order_totals t JOIN crawler_setting c ON c.crawl_id = t.crawl_id
    WHERE t.crawl_id = :crawl AND c.name = 'ORDER'"""
_CRAWL = "SELECT crawl_id FROM site WHERE id = :site"
# Pages that were read are in queue 1; "queue >= 0" lets SQLite see that the index of those that wait has them all.
_OF_SITE = "SELECT page_id, history FROM importance WHERE site_id = :site AND queue = 1 AND queue >= 0"
_OF_CRAWL = "importance i JOIN site s ON s.id = i.site_id WHERE s.crawl_id = :crawl"
_RANK = f"""
    SELECT count(*) FILTER (WHERE i.history > :history) + 1, count(*) FILTER (WHERE i.queue = 1)
    FROM {_OF_CRAWL}"""  # noqa: S608 - constants of ours
_ROW = "SELECT cash, history, queue FROM importance WHERE page_id = :page"
# The pages themselves are looked at only where they may be among the first.
_CHOSEN = f"""
    SELECT i.page_id, i.history, i.history FROM {_OF_CRAWL} {{sites}} AND i.history > 0 AND i.history >= coalesce(
        (SELECT i.history FROM {_OF_CRAWL} {{sites}} ORDER BY i.history DESC LIMIT 1 OFFSET :last), 0)"""  # noqa: S608
_LISTED = """
    WITH chosen (page_id, score, history) AS ({chosen}), inward AS (
        SELECT target_id, count(*) AS pages FROM link
        WHERE target_id IN (SELECT page_id FROM chosen) AND source_id <> target_id GROUP BY target_id
    )
    SELECT chosen.score, chosen.history, p.url, s.site, p.title, p.level, p.status, p.found_at, p.fetched_at,
        (SELECT count(*) FROM page_change c WHERE c.page_id = p.id), coalesce(inward.pages, 0)
    FROM chosen JOIN page p ON p.id = chosen.page_id JOIN site s ON s.id = p.site_id
    LEFT JOIN inward ON inward.target_id = p.id
    ORDER BY chosen.score DESC, p.url {collation} LIMIT :number"""


class Totals(NamedTuple):
    """What a crawl knows of the cash of all its pages together."""

    history: float
    offsets: tuple[float, float]  # by queue: what the virtual page gave to every page of it

    def share(self, history: float) -> float:
        """The importance of a page of this *history*."""
        return round(history / self.history, DECIMALS)


class Standing(NamedTuple):
    """How important a page is among those of its crawl."""

    importance: float
    rank: int  # from 1; equally important pages share it
    pages: int  # that were read
    cash: float


class TopPage(NamedTuple):
    """One of the most important pages; times in seconds since 1970."""

    importance: float | None  # None: the crawl keeps none
    url: str
    site: str
    title: str | None
    level: int
    status: int | None
    first_seen: float
    last_seen: float | None
    changes: int
    in_degree: int  # number of other pages that link here


def totals_of(connection: Connection, crawl_id: int) -> Totals | None:
    """The totals of a crawl; None if its order keeps no importance, or nothing was read yet."""
    row = connection.execute(text(_TOTALS), {"crawl": crawl_id}).one_or_none()
    if row is None or row.value not in KEEPERS:
        return None
    _, _, history, _, *offsets = json.loads(row.totals)  # see OPIC.totals
    return Totals(history, (offsets[0], offsets[1])) if history > 0.0 else None


def shares_of_site(database: Database, site_id: int) -> Iterator[tuple[int, float]] | None:
    """The importance of each page of a site that was read, by its number; None if the crawl keeps none.

    Not rounded: they may be added up.
    """
    with database.read() as connection:
        crawl_id = connection.execute(text(_CRAWL), {"site": site_id}).scalar()
        totals = None if crawl_id is None else totals_of(connection, crawl_id)
    return None if totals is None else _shares(database, site_id, totals.history)


def _shares(database: Database, site_id: int, total: float) -> Iterator[tuple[int, float]]:
    with database.read() as connection:
        streamed = connection.execution_options(stream_results=True)
        for page_id, history in streamed.execute(text(_OF_SITE), {"site": site_id}):
            yield page_id, history / total


def standing(connection: Connection, crawl_id: int, page_id: int) -> Standing | None:
    """How important a page is; None if the crawl keeps no importance, or the page will not be fetched (again)."""
    totals = totals_of(connection, crawl_id)
    row = connection.execute(text(_ROW), {"page": page_id}).one_or_none()
    if totals is None or row is None or row.queue < 0:
        return None
    rank, pages = connection.execute(text(_RANK), {"crawl": crawl_id, "history": row.history}).one()
    return Standing(totals.share(row.history), rank, pages, row.cash + totals.offsets[row.queue])


def keeps_importance(database: Database, crawl_id: int) -> bool:
    """Whether the importance of any page of the crawl is known."""
    with database.read() as connection:
        return totals_of(connection, crawl_id) is not None


def top_pages(database: Database, crawl_id: int, number: int, sites: Sequence[int] = ()) -> Iterator[TopPage]:
    """The *number* most important pages of a crawl, or of those of its *sites*, the first one first; equal ones by URL.

    Nothing if the crawl keeps no importance. The database sorts; nothing is held here. To count who links to them it
    reads all links of the store once.
    """
    of_sites = f"AND i.site_id IN ({', '.join(map(str, sites))})" if sites else ""
    chosen = _CHOSEN.format(sites=of_sites)
    with database.read() as connection:
        if totals_of(connection, crawl_id) is not None:
            for _, page in listed_pages(connection, crawl_id, chosen, number, crawl=crawl_id, last=number - 1):
                yield page


def listed_pages(
    connection: Connection, crawl_id: int, chosen: str, number: int, **values: object
) -> Iterator[tuple[float, TopPage]]:
    """The *number* pages of the highest scores, with these, the first one first; equal ones by URL.

    *chosen* is a query, with *values*, of numbers of pages, their scores, and what they paid (null: nobody knows).
    """
    totals = totals_of(connection, crawl_id)
    collation = "" if connection.dialect.name == "sqlite" else 'COLLATE "C"'
    statement = text(_LISTED.format(chosen=chosen, collation=collation))
    streamed = connection.execution_options(stream_results=True)
    for score, history, *about in streamed.execute(statement, {"number": number, **values}):
        importance = None if totals is None or history is None else totals.share(history)
        yield score, TopPage(importance, *about)
