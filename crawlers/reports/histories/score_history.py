"""The scores of a page in an order with scores, each part of them, and what the link to it promised."""

from __future__ import annotations

import math
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import func, select

from crawlers.items import REVISIT, State
from crawlers.mission import parts_of_all
from crawlers.ranking.link_features import FEATURES, prior_of
from crawlers.ranking.link_values import CLOSE, MOST_COMPARED, LinkValues, features_of
from crawlers.reports.histories.history import N_, Fact, Said, Topic, facts_about, said
from crawlers.store.reading.importance import standing
from crawlers.store.schema.tables import importance, link_features, page, pull, site
from crawlers.store.writing.pulls import downloads_with_links, stored_link_prior

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection, Table

    from crawlers.ranking.link_values import Features
    from crawlers.ranking.page_orders import LinkLearner

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
    """Return the importance of a page, its scores by the order of a mission, or what its link promised, with parts.

    Nothing without scores. What a link promises is not computed if the time *is_over* before that.
    """
    row = connection.execute(select(importance).where(importance.c.page_id == page_id)).one_or_none()
    if row is not None:
        return facts_about(Topic.SCORE, _importance(connection, crawl_id, row))
    for scores in parts_of_all("scores"):
        if lines := scores(connection, crawl_id, page_id, is_over):
            return facts_about(Topic.SCORE, lines)
    features = link_features_of(connection, page_id)
    if features is None:
        return []
    return facts_about(Topic.SCORE, promise(connection, crawl_id, page_id, features, is_over))


def _importance(connection: Connection, crawl_id: int, row: Any) -> list[Said]:
    lines = []
    found = standing(connection, crawl_id, row.page_id)
    if found is not None:
        if found.rank is not None:
            rank, pages = found.rank
            lines.append(
                said(
                    "importance %(importance)s, number %(rank)s of %(pages)s pages read",
                    importance=f"{found.importance:.12g}",
                    rank=rank,
                    pages=pages,
                )
            )
        lines.append(said("cash %(cash)s", cash=found.cash))
    visits = connection.execute(
        select(func.count()).where(pull.c.site_id == row.site_id, pull.c.page_id == row.page_id)
    ).scalar_one()
    if visits:
        lines.append(said("downloads counted so far: %(downloads)s", downloads=visits))
    return lines + waiting(connection, importance, row)


def waiting(connection: Connection, table: Table, row: Any) -> list[Said]:
    """Return the position of a waiting page, by scores as of their last increase, as the frontier reads them."""
    if row.queue < 0:
        return []
    columns = table.c
    is_before = (columns.site_id == row.site_id, columns.queue == row.queue, columns.score > row.score)
    before = connection.execute(select(func.count()).where(*is_before)).scalar_one()
    if row.queue == REVISIT:
        return [said("waits to be fetched again: %(before)s such pages of its site have a higher score", before=before)]
    first = N_("waits to be fetched for the first time: %(before)s such pages of its site have a higher score")
    return [said(first, before=before)]


def link_features_of(connection: Connection, page_id: int) -> Features | None:
    """Return the stored features of the link by which a page was found; None if there are none."""
    text = connection.execute(select(link_features.c.features).where(link_features.c.page_id == page_id)).scalar()
    return None if text is None else features_of(text)


def promise(
    connection: Connection, crawl_id: int, page_id: int, features: Features, is_over: Callable[[], bool]
) -> list[Said]:
    """Return what the link to a page promised before its first download, or promises now if it waits."""
    values = LinkValues(prior_of(stored_link_prior(connection, crawl_id)))
    of_prior = math.exp(sum(values.parts(features.tolist())))
    first = first_pull(connection, page_id)
    if not teach(connection, crawl_id, values, first, is_over):
        return [said("what its link promises is learnt from too many pages to be computed now")]
    expected = f"{values.values(features[None])[0]:.3g}"
    value = math.exp(values.scores(features[None])[0])
    parts = (
        *factors(values.parts(features.tolist())),
        said("the link prior alone gives %(factor)s", factor=f"x {of_prior:.3g}"),
        said("its value for comparison is %(value)s: the less is known of it, the higher", value=f"{value:.3g}"),
    )
    if first is not None:
        return [said("its link promised %(number)s new links", parts, number=expected)]
    return [
        said("its link promises %(number)s new links", parts, number=expected),
        *_rank(connection, page_id, values),
    ]


def first_pull(connection: Connection, page_id: int) -> int | None:
    """Return the number of the first download of a page; None if there was none."""
    return connection.execute(select(func.min(pull.c.id)).where(pull.c.page_id == page_id)).scalar()


def teach(
    connection: Connection,
    crawl_id: int,
    values: LinkLearner,
    before: int | None,
    is_over: Callable[[], bool],
) -> bool:
    """Let *values* learn from the downloads of a crawl *before* one of them, or from all; False: the time was over."""
    pulls = downloads_with_links(site.c.crawl_id == crawl_id, pull.c.reward, link_features.c.features)
    with closing(connection.execute(pulls if before is None else pulls.where(pull.c.id < before))) as rows:
        for reward, features in rows:
            if is_over():
                return False
            values.learn([] if features is None else features_of(features).tolist(), reward)
    return True


def factors(parts: Sequence[float]) -> tuple[Said, ...]:
    """Return the factors of what is expected by kind of feature, from the weights of the features."""
    weights: dict[str, float] = {}
    for feature, weight in zip(FEATURES, parts, strict=True):
        weights[feature.kind] = weights.get(feature.kind, 0.0) + weight
    return tuple(
        said("%(factor)s by %(kind)s", factor=f"x {math.exp(weight):.3g}", kind=_KINDS[kind])
        for kind, weight in sorted(weights.items(), key=lambda one: -abs(one[1]))
        if weight
    )


def _rank(connection: Connection, page_id: int, values: LinkValues) -> list[Said]:
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
        return [said("not compared yet: %(number)s links of its site that were found before wait", number=earlier)]
    scores = dict(zip(features, values.scores(np.stack([*features.values()])).tolist(), strict=True))
    least = max(scores.values()) - CLOSE
    close = [number for number, score in scores.items() if score > least]
    if page_id == close[0]:
        return [said("next of its site: found first of the links that promise most (%(number)s)", number=len(close))]
    own = (-scores[page_id], page_id)
    before = sum((-score, number) < own for number, score in scores.items())
    return [said("%(before)s waiting links of its site promise more, or are less known", before=before)]
