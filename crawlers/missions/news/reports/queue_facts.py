"""The score of a waiting page of a news crawl, and the queue in which it waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.missions.news.plan.news_scores import ARCHIVE, FIT, FRESH, LISTS
from crawlers.missions.news.reports.url_rule_trial import by_prior, rules_at
from crawlers.missions.news.stored.news_tables import news_score
from crawlers.reports.histories.history import Said, said
from crawlers.reports.histories.score_history import waiting
from crawlers.store.schema.tables import page
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

_NEWS_QUEUES = {
    ARCHIVE: said("lists and archives"),
    FIT: said("URLs that are articles by a rule or probably"),
    LISTS: said("lists that probably show new articles"),
    FRESH: said("announced or recent pages"),
}


def queue_facts(connection: Connection, crawl_id: int, page_id: int, is_over: Callable[[], bool]) -> list[Said]:
    """Return where a page waits; nothing in crawls of other missions."""
    row = connection.execute(select(news_score).where(news_score.c.page_id == page_id)).one_or_none()
    return [] if row is None else _news(connection, crawl_id, row)


def _news(connection: Connection, crawl_id: int, row: Any) -> list[Said]:
    lines = waiting(connection, news_score, row)
    url = connection.execute(select(page.c.url).where(page.c.id == row.page_id)).scalar_one()
    if lines and not rules_at(connection, site_of(url)):
        probability = by_prior(connection, crawl_id, url)
        if probability is not None:
            lines.append(
                said("by the prior, an article with a probability of %(probability)s", probability=f"{probability:.2f}")
            )
    if lines and row.queue in _NEWS_QUEUES:
        lines.append(
            said(
                "in the queue of %(kind)s, received %(opic)s of the importance of others",
                kind=_NEWS_QUEUES[row.queue],
                opic=row.opic,
            )
        )
    return lines
