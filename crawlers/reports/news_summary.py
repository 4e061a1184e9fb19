"""The part of a crawl's summary that is about news: articles, feeds and alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import case, func, select

from crawlers.algorithms.plurals import counted
from crawlers.items import ANNOUNCERS
from crawlers.reasons import Reason, sentence
from crawlers.storage.news.alarms import open_alarms
from crawlers.storage.schema.news_tables import document, poll
from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlers.storage.database import Database

MAX_SHOWN = 3  # failing feeds and alarms that are shown


class NewsSummary(NamedTuple):
    """The results of a news crawl."""

    heading: str
    by_site: Mapping[str, int]  # articles
    lines: Sequence[str]


def news_summary(database: Database, crawl_id: int, began_at: float) -> NewsSummary:
    """Return the results of a news crawl whose latest run began at *began_at*, in seconds since 1970."""
    articles = (
        select(site.c.site, func.count(), func.sum(case((document.c.stored_at >= began_at, 1), else_=0)))
        .join(document, document.c.site_id == site.c.id)
        .where(site.c.crawl_id == crawl_id)
        .group_by(site.c.id, site.c.site)
    )
    feeds = (
        select(page.c.url, (poll.c.failures > 0) | poll.c.problem.is_not(None), poll.c.problem)
        .join(poll, poll.c.page_id == page.c.id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id, site.c.is_open, poll.c.kind.in_(ANNOUNCERS))
        .order_by(page.c.url)
    )
    with database.read() as connection:
        counts = {name: (number, new) for name, number, new in connection.execute(articles)}
        polled = connection.execute(feeds).all()
        alarms = list(open_alarms(connection, crawl_id).values())
    total, new = (sum(numbers) for numbers in zip(*counts.values(), strict=True)) if counts else (0, 0)
    failing = [f"{url}: {sentence(problem or Reason.NO_RESPONSE)}" for url, fails, problem in polled if fails]
    lines = [f"Feeds: {len(polled):,}, {len(failing):,} of them failing"] if polled else []
    lines += _some("Failing", failing)
    lines += _some("Alarm", [f"{alarm.kind}: {alarm.subject}: {alarm.message}" for alarm in alarms])
    if alarms:
        lines.append(f"Open alarms: {len(alarms):,}, listed by scrapy sites alarms")
    heading = f"{counted(total, 'article')}, {new:,} of them new in this run"
    return NewsSummary(heading, {name: number for name, (number, _) in counts.items()}, lines)


def _some(what: str, found: Sequence[str]) -> list[str]:
    more = [f"{what}: {len(found) - MAX_SHOWN:,} more"] if len(found) > MAX_SHOWN else []
    return [f"{what}: {one}" for one in found[:MAX_SHOWN]] + more
