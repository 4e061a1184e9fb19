"""The scores of a page in an order with scores, and each part of them."""

from __future__ import annotations

import json
import math
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import func, select

from crawlers.algorithms.ranking.link_features import FEATURES, features_of
from crawlers.algorithms.ranking.link_values import CLOSE, MOST_COMPARED
from crawlers.algorithms.ranking.news_scores import ARCHIVE, FIT, FRESH, LISTS
from crawlers.algorithms.ranking.page_scores import REVISIT
from crawlers.algorithms.ranking.topic_scores import TopicScores
from crawlers.algorithms.topic.vectors import DEFAULT_STRATEGY, STRATEGIES, Weights
from crawlers.algorithms.urls.resolution import site_of
from crawlers.items import State
from crawlers.reports.histories.history import Fact, Line, Topic, line, said
from crawlers.reports.link_worths import values_at_first
from crawlers.reports.url_rule_trial import by_prior, rules_at
from crawlers.storage.importance import standing
from crawlers.storage.schema.score_tables import importance, news_score, order_totals, relevance, topic_page
from crawlers.storage.schema.tables import crawler_setting, link_features, page, pull, site
from crawlers.storage.topic.topics import TOPIC

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Table

    from crawlers.algorithms.ranking.link_values import LinkValues

PULLS_AT_ONCE = 1_000

_NEWS_QUEUES = {
    ARCHIVE: said("lists and archives"),
    FIT: said("URLs that are articles by a rule or probably"),
    LISTS: said("lists that probably show new articles"),
    FRESH: said("announced or recent pages"),
}


_KINDS = {
    "all links": said("what links bring on all sites"),
    "site": said("its site"),
    "group": said("links at this place to this folder"),
    "place": said("its place on the page"),
    "path": said("the elements around it"),
    "directory": said("the folder that it leads to"),
    "page": said("the page on which it was found"),
    "anchor": said("the words of its text"),
    "anchor on site": said("the words of its text on this site"),
    "url": said("the words of its URL"),
    "url on site": said("the words of its URL on this site"),
    "anchor length": said("the length of its text"),
    "level": said("its level"),
}


def score_facts(
    connection: Connection, crawl_id: int, page_id: int, is_over: Callable[[], bool] = lambda: False
) -> list[Fact]:
    """Return the importance of a page, its relevance to a topic, or what its link promised, with the parts of that.

    Nothing without scores. What a link promises is not computed if the time *is_over* before that.
    """
    features = connection.execute(select(link_features.c.features).where(link_features.c.page_id == page_id)).scalar()
    if features is not None:
        return [Fact(Topic.SCORE, one) for one in _promise(connection, crawl_id, page_id, features, is_over)]
    row = connection.execute(select(importance).where(importance.c.page_id == page_id)).one_or_none()
    if row is not None:
        return [Fact(Topic.SCORE, one) for one in _importance(connection, crawl_id, row)]
    row = connection.execute(select(relevance).where(relevance.c.page_id == page_id)).one_or_none()
    if row is not None:
        return [Fact(Topic.SCORE, one) for one in _relevance(connection, crawl_id, row)]
    row = connection.execute(select(news_score).where(news_score.c.page_id == page_id)).one_or_none()
    return [] if row is None else [Fact(Topic.SCORE, one) for one in _news(connection, crawl_id, row)]


def _promise(connection: Connection, crawl_id: int, page_id: int, text: str, is_over: Callable[[], bool]) -> list[Line]:
    """Return what the link to a page promised before its first download, or promises now if it waits."""
    values = values_at_first(connection, crawl_id)
    own = select(func.min(pull.c.id)).where(pull.c.page_id == page_id)
    first = connection.execute(own).scalar()
    before = [pull.c.id < first] if first is not None else []
    pulls = (
        select(pull.c.reward, link_features.c.features)
        .join(link_features, link_features.c.page_id == pull.c.page_id)
        .join(site, site.c.id == pull.c.site_id)
        .where(site.c.crawl_id == crawl_id, *before)
        .order_by(pull.c.id)
    )
    with closing(connection.execution_options(yield_per=PULLS_AT_ONCE).execute(pulls)) as rows:
        for reward, features in rows:
            if is_over():
                return [line("what its link promises is learnt from too many pages to be computed now")]
            values.learn(features_of(features).tolist(), reward)
    row = features_of(text)
    expected = f"{values.values(row[None])[0]:.3g}"
    weights: dict[str, float] = {}
    for feature, weight in zip(FEATURES, values.parts(row.tolist()), strict=True):
        weights[feature.kind] = weights.get(feature.kind, 0.0) + weight
    greatest = sorted(weights.items(), key=lambda one: -abs(one[1]))
    parts = tuple(
        line("%(factor)s by %(kind)s", factor=f"x {math.exp(weight):.3g}", kind=_KINDS[kind])
        for kind, weight in greatest
        if weight
    )
    if first is not None:
        return [Line(said("its link promised %(number)s new links", number=expected), parts)]
    return [
        Line(said("its link promises %(number)s new links", number=expected), parts),
        *_rank(connection, page_id, values),
    ]


def _rank(connection: Connection, page_id: int, values: LinkValues) -> list[Line]:
    """Return how many links of its site come before that to a waiting page; nothing of other pages."""
    its_site = select(page.c.site_id).where(page.c.id == page_id).scalar_subquery()
    waiting = (
        select(page.c.id, link_features.c.features)
        .join(link_features, link_features.c.page_id == page.c.id)
        .where(page.c.site_id == its_site, page.c.state == int(State.WAITING))
        .order_by(page.c.id)
        .limit(MOST_COMPARED)
    )
    features = {number: features_of(text) for number, text in connection.execute(waiting)}
    if page_id not in features:
        earlier = len(features)
        return [line("not compared yet: %(number)s links of its site that were found before wait", number=earlier)]
    scores = dict(zip(features, values.scores(np.stack([*features.values()])).tolist(), strict=True))
    least = max(scores.values()) - CLOSE
    close = [number for number, score in scores.items() if score > least]
    if page_id == close[0]:
        return [line("next of its site: found first of the links that promise most (%(number)s)", number=len(close))]
    own = (-scores[page_id], page_id)
    before = sum((-score, number) < own for number, score in scores.items())
    return [line("%(before)s waiting links of its site promise more, or are less known", before=before)]


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


def _relevance(connection: Connection, crawl_id: int, row: Any) -> list[Line]:
    recorded = select(crawler_setting.c.value).where(
        crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == TOPIC
    )
    totals = select(order_totals.c.totals).where(order_totals.c.crawl_id == crawl_id)
    topic = connection.execute(recorded).scalar()
    weights = STRATEGIES[DEFAULT_STRATEGY] if topic is None else Weights(*json.loads(topic)[2])
    scores = TopicScores(weights)
    scores.share([json.loads(part) for part in connection.execute(totals).scalars()], 0.0)  # of every worker
    scores.recall(row.page_id, row.queue, (row.anchor, row.level, row.rank))
    anchor, distance, rank = scores.parts(row.page_id)
    lines = [
        line(
            "score %(score)s = %(alpha)s x %(anchor)s (text of links) + %(beta)s x %(near)s (1 over its distance "
            "%(distance)s) + %(gamma)s x %(rank)s (TimelyRank)",
            score=f"{scores.score(row.page_id):.4f}",
            alpha=weights.alpha,
            anchor=f"{anchor:.4f}",
            beta=weights.beta,
            near=f"{distance:.4f}",
            distance=row.level + 1,
            gamma=weights.gamma,
            rank=f"{rank:.4f}",
        )
    ]
    similarity = connection.execute(
        select(topic_page.c.similarity).where(topic_page.c.page_id == row.page_id)
    ).scalar_one_or_none()
    if similarity is not None:
        lines.append(line("similarity to the topic %(similarity)s", similarity=f"{similarity:.4f}"))
    return lines + _waiting(connection, relevance, row)


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
