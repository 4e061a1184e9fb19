"""The tables of orders with scores, and of changes that revisits found."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from sqlalchemy import Index, Table

from crawlers.store.schema.rows import (
    DELETE,
    INSERT,
    INSERT_NEW,
    UPSERT,
    VISITS,
    BigInt,
    Hash,
    Row,
    RowId,
    SmallInt,
    WholeFloat,
    table,
    writes,
)
from crawlers.store.schema.tables import metadata


class PageChangeRow(NamedTuple):
    """An earlier version of a page that a revisit found changed; it was last seen at `last_seen`."""

    page_id: BigInt
    changed_at: Annotated[float, "when the change was seen"]
    last_seen: Annotated[float | None, "when the page was last seen as this row says"]
    state: Annotated[SmallInt, "state until then"]
    status: Annotated[SmallInt | None, "HTTP status until then"]
    content_hash: Annotated[Hash | None, "hash of the body until then"]


page_change = table("page_change", metadata, PageChangeRow, INSERT, key=2, sqlite_with_rowid=False)


class LinkChangeRow(NamedTuple):
    """An earlier count of a link; 0 = the link did not exist, and was first seen at `changed_at`."""

    source_id: BigInt
    target_id: BigInt
    changed_at: Annotated[float, "when the change was seen"]
    last_seen: Annotated[float | None, "when the link was last seen as this row says"]
    count: Annotated[int, "links until then; 0: none"]  # type: ignore[assignment]  # hides the method of tuples


link_change = table("link_change", metadata, LinkChangeRow, INSERT, key=3, sqlite_with_rowid=False)

SCORE_ROWS: dict[str, type[Any]] = {}  # the row types of the orders, by table name
REVISITED: list[Table] = []  # the tables of orders by which pages are fetched again


def score_table(name: str, kind: type[Row], *, revisits: bool = True, visits: str | None = None) -> Table:
    """Return the table of an order's pages: the queue and score of each page, and the values behind it.

    The first fields of *kind* are the same for all orders: `page_id`; `site_id`; `queue`, where 0 = never fetched,
    1 = waits for a revisit, -1 = neither; `score`, as of its last increase: the page with the highest score of a queue
    is next.

    If pages are fetched again at times that the mission says, the table *visits* has these: `due_at`, and `polled_at`
    of the visit before.
    """
    made = table(name, metadata, kind, UPSERT, key=1)
    if visits is not None:
        made.info[VISITS] = visits
    if revisits:
        REVISITED.append(made)
    Index(f"{name}_waiting", made.c.site_id, made.c.queue, made.c.score.desc(), made.c.page_id)
    SCORE_ROWS[name] = kind
    return made


class ImportanceRow(NamedTuple):
    """The values of AOPIC."""

    page_id: RowId
    site_id: int
    queue: SmallInt
    score: float
    cash: Annotated[float, "what it holds, less the share of the virtual page"]
    history: Annotated[float, "cash that passed through it"]
    visited: Annotated[float, "tick of its latest visit"]
    alias: Annotated[WholeFloat, "→ `page.id` of the page that gets its cash; 0: itself"]


importance = score_table("importance", ImportanceRow)


class LinkTextRow(NamedTuple):
    """The texts of internal links."""

    source_id: BigInt
    target_id: BigInt
    context_id: BigInt


link_text = table("link_text", metadata, LinkTextRow, INSERT_NEW, key=3, sqlite_with_rowid=False)


class OrderTotalsRow(NamedTuple):
    """The totals of an order over all pages, or over those of a worker."""

    crawl_id: int
    worker_id: Annotated[int, "→ `worker.id`; 0: all pages"]
    totals: Annotated[str, "JSON"]
    base: Annotated[str, "JSON: base of the scores of these pages"]


order_totals = table("order_totals", metadata, OrderTotalsRow, UPSERT, key=2)


@writes(order_totals, DELETE)
class EndedTotals(NamedTuple):
    """The totals of a worker that ended, if a later one continues alone."""

    crawl_id: int
    worker_id: int
