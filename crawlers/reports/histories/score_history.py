"""The scores of a page in an order with scores, and each part of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from crawlers.algorithms.ranking.link_relevance import LinkRelevance
from crawlers.algorithms.ranking.news_scores import ARCHIVE, FIT, FRESH, LISTS
from crawlers.algorithms.ranking.page_scores import REVISIT
from crawlers.algorithms.ranking.topic_scores import TopicScores
from crawlers.algorithms.topic.vectors import DEFAULT_STRATEGY, STRATEGIES
from crawlers.algorithms.urls.resolution import site_of
from crawlers.reports.histories.history import Fact, Line, Topic, line, said
from crawlers.reports.histories.link_history import learnt_relevance, link_features_of, promise
from crawlers.reports.url_rule_trial import by_prior, rules_at
from crawlers.storage.importance import standing
from crawlers.storage.schema.score_tables import importance, news_score, order_totals, relevance, topic_page
from crawlers.storage.schema.tables import page, pull
from crawlers.storage.topic.topics import weights_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Table

_NEWS_QUEUES = {
    ARCHIVE: said("lists and archives"),
    FIT: said("URLs that are articles by a rule or probably"),
    LISTS: said("lists that probably show new articles"),
    FRESH: said("announced or recent pages"),
}


def score_facts(
    connection: Connection, crawl_id: int, page_id: int, is_over: Callable[[], bool] = lambda: False
) -> list[Fact]:
    """Return the importance of a page, its relevance to a topic, or what its link promised, with the parts of that.

    Nothing without scores. What a link promises is not computed if the time *is_over* before that.
    """
    row = connection.execute(select(importance).where(importance.c.page_id == page_id)).one_or_none()
    if row is not None:
        return [Fact(Topic.SCORE, one) for one in _importance(connection, crawl_id, row)]
    row = connection.execute(select(relevance).where(relevance.c.page_id == page_id)).one_or_none()
    if row is not None:
        return [Fact(Topic.SCORE, one) for one in _relevance(connection, crawl_id, row, is_over)]
    features = link_features_of(connection, page_id)
    if features is not None:
        return [Fact(Topic.SCORE, one) for one in promise(connection, crawl_id, page_id, features, is_over)]
    row = connection.execute(select(news_score).where(news_score.c.page_id == page_id)).one_or_none()
    return [] if row is None else [Fact(Topic.SCORE, one) for one in _news(connection, crawl_id, row)]


def _importance(connection: Connection, crawl_id: int, row: Any) -> list[Line]:
    lines = []
    found = standing(connection, crawl_id, row.page_id)
    if found is not None:
        if found.rank is not None:
            rank, pages = found.rank
            lines.append(
                line(
                    "importance %(importance)s, number %(rank)s of %(pages)s pages read",
                    importance=f"{found.importance:.12g}",
                    rank=rank,
                    pages=pages,
                )
            )
        lines.append(line("cash %(cash)s", cash=found.cash))
    visits = connection.execute(
        select(func.count()).where(pull.c.site_id == row.site_id, pull.c.page_id == row.page_id)
    ).scalar_one()
    if visits:
        lines.append(line("downloads counted so far: %(downloads)s", downloads=visits))
    return lines + _waiting(connection, importance, row)


def _relevance(connection: Connection, crawl_id: int, row: Any, is_over: Callable[[], bool]) -> list[Line]:
    totals = select(order_totals.c.totals).where(order_totals.c.crawl_id == crawl_id)
    weights = weights_of(connection, crawl_id) or STRATEGIES[DEFAULT_STRATEGY]
    scores = TopicScores(weights)
    scores.share([json.loads(part) for part in connection.execute(totals).scalars()], 0.0)  # of every worker
    scores.recall(row.page_id, row.queue, (row.anchor, row.level, row.rank))
    anchor, distance, rank = scores.parts(row.page_id)
    lines = [
        line(
            "score %(score)s = %(alpha)s x %(anchor)s (text of links) + %(beta)s x %(near)s (1 over its distance "
            "%(distance)s) + %(gamma)s x %(rank)s (TimelyRank)",
            score=f"{scores.score(row.page_id):.4f}",
            alpha=f"{weights.alpha:g}",
            anchor=f"{anchor:.4f}",
            beta=f"{weights.beta:g}",
            near=f"{distance:.4f}",
            distance=row.level + 1,
            gamma=f"{weights.gamma:g}",
            rank=f"{rank:.4f}",
        )
    ]
    if weights.delta:
        lines += learnt_relevance(connection, crawl_id, row.page_id, LinkRelevance(scores), is_over)
    similarity = connection.execute(
        select(topic_page.c.similarity).where(topic_page.c.page_id == row.page_id)
    ).scalar_one_or_none()
    if similarity is not None:
        lines.append(line("similarity to the topic %(similarity)s", similarity=f"{similarity:.4f}"))
    return lines if weights.delta else lines + _waiting(connection, relevance, row)


def _news(connection: Connection, crawl_id: int, row: Any) -> list[Line]:
    lines = _waiting(connection, news_score, row)
    url = connection.execute(select(page.c.url).where(page.c.id == row.page_id)).scalar_one()
    if lines and not rules_at(connection, site_of(url)):
        probability = by_prior(connection, crawl_id, url)
        if probability is not None:
            lines.append(
                line("by the prior, an article with a probability of %(probability)s", probability=f"{probability:.2f}")
            )
    if lines and row.queue in _NEWS_QUEUES:
        lines.append(
            line(
                "in the queue of %(kind)s, received %(opic)s of the importance of others",
                kind=_NEWS_QUEUES[row.queue],
                opic=row.opic,
            )
        )
    return lines


def _waiting(connection: Connection, table: Table, row: Any) -> list[Line]:
    """Return the position of a waiting page, by scores as of their last increase, as the frontier reads them."""
    if row.queue < 0:
        return []
    columns = table.c
    before = connection.execute(
        select(func.count()).where(
            columns.site_id == row.site_id, columns.queue == row.queue, columns.score > row.score
        )
    ).scalar_one()
    if row.queue == REVISIT:
        return [line("waits to be fetched again: %(before)s such pages of its site have a higher score", before=before)]
    return [
        line(
            "waits to be fetched for the first time: %(before)s such pages of its site have a higher score",
            before=before,
        )
    ]
