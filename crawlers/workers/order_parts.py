"""The parts of a crawl's pages in an order with scores, by worker, and the cash that all workers have in common.

Each worker writes the totals of its own part. The virtual page of all workers has no row: its cash is computed from the
totals, and once in a while one worker distributes it (`hand_out`), which changes one column of the crawl.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select, update

from crawlers.ranking.page_scores import Part
from crawlers.store.schema.score_tables import order_totals
from crawlers.store.schema.tables import crawl, worker
from crawlers.workers.workers import ACTIVE, lock_crawl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    Distribute = Callable[[Mapping[int, Part]], Mapping[int, float]]


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


def hand_out(
    connection: Connection,
    crawl_id: int,
    now: float,
    every_s: float,
    distribute: Distribute,
) -> dict[int, StoredPart]:
    """Distribute the cash that all workers have in common, if nobody did so for *every_s*, and return the parts.

    *distribute* is `PageScores.hand_out`. Nothing is distributed before each active worker has stored its part.
    """
    parts = parts_of(connection, crawl_id)
    active = select(worker.c.id).where(worker.c.crawl_id == crawl_id, worker.c.state == ACTIVE)
    if not parts.keys() >= set(connection.execute(active).scalars()):
        return parts
    of_crawl = crawl.c.id == crawl_id
    given_at = select(crawl.c.given_at).where(of_crawl)
    last = connection.execute(given_at).scalar()
    if last is not None and 0.0 <= now - last < every_s:
        return parts
    lock_crawl(connection, crawl_id)
    last = connection.execute(given_at).scalar()
    parts = parts_of(connection, crawl_id)
    if last is not None and 0.0 <= now - last < every_s:
        return parts
    given = distribute({number: stored.part for number, stored in parts.items()})
    if not given:
        return parts
    text = json.dumps({str(number): cash for number, cash in given.items()})
    connection.execute(update(crawl).where(of_crawl).values(given=text, given_at=now))
    return parts_of(connection, crawl_id)


def _given(connection: Connection, crawl_id: int) -> dict[int, float]:
    text = connection.execute(select(crawl.c.given).where(crawl.c.id == crawl_id)).scalar()
    return {int(number): cash for number, cash in json.loads(text).items()} if text else {}
