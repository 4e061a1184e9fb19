"""The parts of a crawl's pages in an order with scores, by worker, and the cash that all workers have in common.

Each worker writes the totals of its own part. The virtual page of all workers has no row: its cash is computed from the
totals, and once in a while one worker distributes it, which changes one column of the crawl.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.ranking.page_scores import Part
from crawlers.store.schema.score_tables import order_totals
from crawlers.store.schema.tables import crawl, worker
from crawlers.store.worker_rows import ACTIVE

if TYPE_CHECKING:
    from sqlalchemy import Connection


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
