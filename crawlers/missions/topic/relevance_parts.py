"""The scores of a page of a topic crawl, each part of them, and what similar links had led to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select

from crawlers.items import GONE
from crawlers.missions.topic.topic_file import weights_of
from crawlers.missions.topic.topic_scores import LinkRelevance, TopicScores
from crawlers.missions.topic.topic_tables import relevance, topic_page
from crawlers.missions.topic.vectors import DEFAULT_STRATEGY, STRATEGIES
from crawlers.ranking.link_values import MOST_COMPARED, NO_FEATURES, features_of
from crawlers.reports.histories.history import Said, said
from crawlers.reports.histories.score_history import factors, first_pull, link_features_of, teach, waiting
from crawlers.store.schema.tables import link_features, order_totals, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection


def relevance_parts(connection: Connection, crawl_id: int, page_id: int, is_over: Callable[[], bool]) -> list[Said]:
    """Return the relevance of a page, with its parts; nothing in crawls of other missions."""
    row = connection.execute(select(relevance).where(relevance.c.page_id == page_id)).one_or_none()
    return [] if row is None else _relevance(connection, crawl_id, row, is_over)


def _relevance(connection: Connection, crawl_id: int, row: Any, is_over: Callable[[], bool]) -> list[Said]:
    totals = select(order_totals.c.totals).where(order_totals.c.crawl_id == crawl_id)
    weights = weights_of(connection, crawl_id) or STRATEGIES[DEFAULT_STRATEGY]
    scores = TopicScores(weights)
    scores.apply_totals([json.loads(part) for part in connection.execute(totals).scalars()], 0.0)  # of every worker
    scores.recall(row.page_id, row.queue, (row.anchor, row.level, row.rank))
    anchor, distance, rank = scores.parts(row.page_id)
    if row.queue == GONE and weights.gamma:  # as when it was read, and in the report `topic-pages`: TR was compared
        then = (row.score - weights.alpha * anchor - weights.beta * distance) / weights.gamma  # with a smaller one
        scores.recall_totals([scores.totals()[0] * rank / then])
        rank = then
    lines = [
        said(
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
        lines.append(said("similarity to the topic %(similarity)s", similarity=f"{similarity:.4f}"))
    return lines if weights.delta else lines + waiting(connection, relevance, row)


def learnt_relevance(
    connection: Connection,
    crawl_id: int,
    page_id: int,
    learnt: LinkRelevance,
    is_over: Callable[[], bool],
) -> list[Said]:
    """Return what similar links had led to before the first download of a page, or until now if it waits."""
    first = first_pull(connection, page_id)
    if not teach(connection, crawl_id, learnt, first, is_over):
        return [said("what its link promises is learnt from too many pages to be computed now")]
    features = link_features_of(connection, page_id)
    if features is None:
        features = NO_FEATURES
    (found,) = learnt.relevances(features[None])
    (value,) = learnt.compared(np.array([page_id]), features[None])
    average = said("%(factor)s is that of an average page", factor=f"{learnt.average:.3g}")
    about = said(
        "plus %(delta)s x %(learnt)s (what similar links led to) = %(value)s",
        [average, *factors(learnt.parts(features.tolist()))],
        delta=f"{learnt.page_scores.weights.delta:g}",
        learnt=f"{found:.4f}",
        value=f"{value:.4f}",
    )
    return [about, *(_rank_by_value(connection, page_id, learnt) if first is None else ())]


def _rank_by_value(connection: Connection, page_id: int, values: LinkRelevance) -> list[Said]:
    """Return how many pages of its site come before a waiting page of a topic crawl; nothing of other pages."""
    scores = values.page_scores
    its_site = select(page.c.site_id).where(page.c.id == page_id).scalar_subquery()
    names = [getattr(relevance.c, name) for name in scores.columns]
    waiting = (
        select(relevance.c.page_id, link_features.c.features, relevance.c.queue, *names)
        .outerjoin(link_features, link_features.c.page_id == relevance.c.page_id)
        .where(relevance.c.site_id == its_site, relevance.c.queue >= 0)
        .order_by(relevance.c.score.desc(), relevance.c.page_id)
        .limit(MOST_COMPARED)
    )
    ids, rows = [], []
    for number, text, queue, *record in connection.execute(waiting):
        scores.recall(number, queue, record)
        ids.append(number)
        rows.append(NO_FEATURES if text is None else features_of(text))
    if page_id not in ids:
        return []
    found = dict(zip(ids, values.compared(np.array(ids), np.stack(rows)).tolist(), strict=True))
    own = (-found[page_id], page_id)
    before = sum((-value, number) < own for number, value in found.items())
    return [said("%(before)s waiting pages of its site come before it", before=before)]
