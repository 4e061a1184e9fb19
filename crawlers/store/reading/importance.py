"""Reads the importance of pages from the store: each page's share of the cash that passed through the pages.

Only crawls with an order of `OF_IMPORTANCE` store it. Shares are rounded like the measures of graphs, so that files do
not depend on the processor.

Each worker writes the totals of its own part of the pages. The virtual page of all workers has no row: its cash is
computed from the totals, and once in a while one worker distributes it, which changes one column of the crawl.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import BigInteger, Float, column, null, select, text

from crawlers.items import Part
from crawlers.ranking.page_orders import OF_IMPORTANCE
from crawlers.store.schema.tables import crawl, order_totals, worker
from crawlers.store.worker_rows import ACTIVE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection, Subquery, TextClause

    from crawlers.store.database import Database

ENDLESS = 1e300  # stands for an infinite window, which SQLite and PostgreSQL write differently

_TOTALS = """
    SELECT c.name, c.value, t.totals FROM order_totals t JOIN crawler_setting c ON c.crawl_id = t.crawl_id
    WHERE t.crawl_id = :crawl AND c.name IN ('ORDER', 'AOPIC_WINDOW_VISITS') ORDER BY t.worker_id"""
# Cash is relative to the totals of the worker that holds the site, or held it last; without one to the only totals.
_BASES = "LEFT JOIN order_totals t ON t.crawl_id = s.crawl_id AND t.worker_id = s.worker_id"
_CASH = "(i.cash + coalesce(<base>, CASE i.queue WHEN 0 THEN :offset_new ELSE :offset_read END))"
_BASE = {
    "sqlite": "json_extract(coalesce(s.base, t.base), '$[' || i.queue || ']')",
    "postgresql": "CAST(CAST(coalesce(s.base, t.base) AS json)->>CAST(i.queue AS integer) AS double precision)",
}
# `OPIC.importance` of a page that was read; without a window it is infinite.
_WEIGHT = f"""
    CASE WHEN :ticks - i.visited >= :window THEN {_CASH} * :window / (:ticks - i.visited)
    ELSE i.history * (1 - (:ticks - i.visited) / :window) + {_CASH} END"""
_PAGES = f"importance i JOIN site s ON s.id = i.site_id {_BASES}"
# Queue 1 holds the pages that were read.
_OF_SITE = f"SELECT i.page_id, {_WEIGHT} FROM {_PAGES} WHERE i.site_id = :site AND i.queue = 1"  # noqa: S608
_OF_CRAWL = f"{_PAGES} WHERE s.crawl_id = :crawl AND i.queue = 1"
_READ = f"SELECT count(*) FROM {_OF_CRAWL}"  # noqa: S608
_SUM = f"SELECT sum({_WEIGHT}) FROM {_OF_CRAWL}"  # noqa: S608 - constants of ours
_RANK = f"SELECT count(*) FILTER (WHERE {_WEIGHT} > :weight) + 1, count(*) FROM {_OF_CRAWL}"  # noqa: S608
_ROW = f"SELECT {_CASH} AS cash, i.queue, {_WEIGHT} AS weight FROM {_PAGES} WHERE i.page_id = :page"  # noqa: S608
DECIMALS = 12  # of measures, so that the order of summation does not show in the files


class Totals(NamedTuple):
    """Totals over all pages of a crawl."""

    ticks: float  # number of downloads, revisits included
    window: float  # in ticks, over which importance is measured
    offsets: tuple[float, float]  # cash that the virtual page gave to every page, by queue, if one worker holds all
    weight: float = 0.0  # of all pages that were read

    def share(self, weight: float) -> float:
        """Return the importance of a page with this *weight*."""
        return round(weight / self.weight, DECIMALS)

    @property
    def values(self) -> dict[str, float]:
        """The parameters of the SQL expression of a page's weight."""
        return dict(zip(("ticks", "window", "offset_new", "offset_read"), (*self[:2], *self.offsets), strict=True))


class Standing(NamedTuple):
    """The importance and rank of a page among those of its crawl."""

    importance: float | None  # None = not read yet
    rank: tuple[int, int] | None  # from 1, shared by equally important pages; and the number of pages read
    cash: float


def _query(connection: Connection, statement: str) -> TextClause:
    return text(statement.replace("<base>", _BASE[connection.dialect.name]))


def totals_of(connection: Connection, crawl_id: int) -> Totals | None:
    """Return the totals of a crawl; None if its order stores no importance, or no page was read yet. O(pages)."""
    rows = connection.execute(text(_TOTALS), {"crawl": crawl_id}).all()
    settings = {row.name: row.value for row in rows}
    if settings.get("ORDER") not in OF_IMPORTANCE:
        return None
    from crawlers.ranking.opic import OPICTotals  # with numpy, which graphs of other crawls do without

    parts = [OPICTotals(*json.loads(part)) for part in dict.fromkeys(row.totals for row in rows)]
    ticks, read = sum(part.ticks for part in parts), parts[0].read
    if len(parts) > 1:  # sites may have moved from one worker to another since a part was written
        read = connection.execute(text(_READ), {"crawl": crawl_id}).scalar_one()
    window = ENDLESS if settings["ORDER"] == "opic" else float(settings["AOPIC_WINDOW_VISITS"]) * read
    totals = Totals(ticks, window, (parts[0].offset_new, parts[0].offset_read))
    weight = connection.execute(_query(connection, _SUM), {"crawl": crawl_id, **totals.values}).scalar() if read else 0
    return totals._replace(weight=weight) if weight else None


def shares_of_site(database: Database, site_id: int, totals: Totals) -> Iterator[tuple[int, float]]:
    """Yield (page number, importance) of the pages of a site that were read; not rounded, so that sums are exact."""
    with database.read() as connection:
        streamed = connection.execution_options(stream_results=True)
        for page_id, weight in streamed.execute(_query(connection, _OF_SITE), {"site": site_id, **totals.values}):
            yield page_id, weight / totals.weight


def weights_of_crawl(connection: Connection, crawl_id: int, totals: Totals, sites: Sequence[int] = ()) -> Subquery:
    """Return the query for `page_id` and `score` of the pages of a crawl, or of its *sites*, that were read.

    The score is a weight, see `Totals.share`.
    """
    of_sites = f"AND i.site_id IN ({', '.join(map(str, sites))})" if sites else ""
    weights = _query(connection, f"SELECT i.page_id, {_WEIGHT} AS score FROM {_OF_CRAWL} {of_sites}")  # noqa: S608
    bound = weights.bindparams(crawl=crawl_id, **totals.values)
    return bound.columns(column("page_id", BigInteger), column("score", Float)).subquery("weighed")


def weight_of_page(connection: Connection, totals: Totals | None) -> ColumnElement[Any]:
    """Return the weight of the page of a row of `page`; NULL if it was not read, or the crawl has no *totals*."""
    if totals is None:
        return null()
    weight = _query(connection, f"SELECT {_WEIGHT} FROM {_PAGES} WHERE i.page_id = page.id AND i.queue = 1")  # noqa: S608
    return weight.bindparams(**totals.values).columns(column("weight", Float)).scalar_subquery()


def standing(connection: Connection, crawl_id: int, page_id: int) -> Standing | None:
    """Return the standing of a page; None if the crawl stores no importance, or the page won't be fetched (again)."""
    totals = totals_of(connection, crawl_id)
    if totals is None:
        return None
    row = connection.execute(_query(connection, _ROW), {"page": page_id, **totals.values}).one_or_none()
    if row is None or row.queue < 0:
        return None
    if row.queue == 0:
        return Standing(None, None, row.cash)
    values = {"crawl": crawl_id, "weight": row.weight, **totals.values}
    rank, pages = connection.execute(_query(connection, _RANK), values).one()
    return Standing(totals.share(row.weight), (rank, pages), row.cash)


class StoredPart(NamedTuple):
    """The part of a worker as it is stored; *base* are the numbers to which the records of its pages are relative."""

    part: Part
    base: list[float]


def parts_of(connection: Connection, crawl_id: int) -> dict[int, StoredPart]:
    """Return the parts of a crawl by worker, also those of workers that ended."""
    given = _given(connection, crawl_id)
    rows = select(order_totals.c.worker_id, order_totals.c.totals, order_totals.c.base, worker.c.state)
    rows = rows.outerjoin(worker, worker.c.id == order_totals.c.worker_id).where(order_totals.c.crawl_id == crawl_id)
    parts = {}
    for number, totals, base, state in connection.execute(rows.order_by(order_totals.c.worker_id)):
        part = Part(json.loads(totals), state == ACTIVE, given.get(number, 0.0))
        parts[number] = StoredPart(part, json.loads(base))
    return parts


def _given(connection: Connection, crawl_id: int) -> dict[int, float]:
    text = connection.execute(select(crawl.c.given).where(crawl.c.id == crawl_id)).scalar()
    return {int(number): cash for number, cash in json.loads(text).items()} if text else {}
