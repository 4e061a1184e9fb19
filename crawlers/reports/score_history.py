"""Describes the scores of a page in an order with scores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from crawlers.algorithms.ranking.topic_scores import TopicScores
from crawlers.algorithms.topic.vectors import STRATEGIES, Weights
from crawlers.storage.importance import standing
from crawlers.storage.schema.score_tables import importance, order_totals, relevance, topic_page
from crawlers.storage.schema.tables import crawler_setting, pull
from crawlers.storage.topic.topics import TOPIC

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table


def score_history(connection: Connection, crawl_id: int, page_id: int) -> list[str]:
    """Return lines about the importance of a page, or its relevance to a topic; none in crawls without scores."""
    row = connection.execute(select(importance).where(importance.c.page_id == page_id)).one_or_none()
    if row is not None:
        return _importance(connection, crawl_id, row)
    row = connection.execute(select(relevance).where(relevance.c.page_id == page_id)).one_or_none()
    return [] if row is None else _relevance(connection, crawl_id, row)


def _importance(connection: Connection, crawl_id: int, row: Any) -> list[str]:
    lines = []
    found = standing(connection, crawl_id, row.page_id)
    if found is not None:
        if found.rank is not None:
            rank, pages = found.rank
            lines.append(f"  importance {found.importance:.12g}, number {rank} of {pages} pages read")
        lines.append(f"  cash {found.cash:.6g}")
    visits = connection.execute(
        select(func.count()).where(pull.c.site_id == row.site_id, pull.c.page_id == row.page_id)
    ).scalar_one()
    if visits:
        lines.append(f"  downloads counted so far: {visits}")
    return lines + _waiting(connection, importance, row)


def _relevance(connection: Connection, crawl_id: int, row: Any) -> list[str]:
    recorded = select(crawler_setting.c.value).where(
        crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == TOPIC
    )
    totals = select(order_totals.c.totals).where(order_totals.c.crawl_id == crawl_id)
    topic = connection.execute(recorded).scalar()
    weights = STRATEGIES["mixed"] if topic is None else Weights(*json.loads(topic)[2])
    scores = TopicScores(weights)
    scores.recall_totals(json.loads(connection.execute(totals).scalar_one()))
    scores.recall(row.page_id, row.queue, (row.anchor, row.level, row.rank))
    anchor, distance, rank = scores.parts(row.page_id)
    lines = [
        f"  score {scores.score(row.page_id):.4f} = {weights.alpha:g} x {anchor:.4f} (text of links)"
        f" + {weights.beta:g} x {distance:.4f} (1 over its distance {row.level + 1})"
        f" + {weights.gamma:g} x {rank:.4f} (TimelyRank)"
    ]
    similarity = connection.execute(
        select(topic_page.c.similarity).where(topic_page.c.page_id == row.page_id)
    ).scalar_one_or_none()
    if similarity is not None:
        lines.append(f"  similarity to the topic {similarity:.4f}")
    return lines + _waiting(connection, relevance, row)


def _waiting(connection: Connection, table: Table, row: Any) -> list[str]:
    """Return the position of a waiting page, by scores as of their last increase, as the frontier reads them."""
    if row.queue < 0:
        return []
    columns = table.c
    before = connection.execute(
        select(func.count()).where(
            columns.site_id == row.site_id, columns.queue == row.queue, columns.score > row.score
        )
    ).scalar_one()
    kind = "waits to be fetched again" if row.queue else "waits to be fetched for the first time"
    return [f"  {kind}: {before} such pages of its site have a higher score"]
