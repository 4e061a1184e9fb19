"""What the summary of a crawl says about articles, feeds and alarms."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from sqlalchemy import case, func, select

from crawlers.missions.news.news_items import ANNOUNCERS
from crawlers.missions.news.stored.alarms import open_alarms
from crawlers.missions.news.stored.news_tables import document, poll
from crawlers.plurals import counted
from crawlers.reasons import Reason, sentence
from crawlers.reports.crawl_summary import MissionSummary
from crawlers.store.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawlers.store.database import Database
    from crawlers.store.reading.crawl_results import CrawlResults, SiteResult
    from crawlers.store.reading.queries import NamedCrawl

MAX_SHOWN = 3  # failing feeds and alarms


def news_summary(database: Database, crawl: NamedCrawl, results: CrawlResults, began_at: float) -> MissionSummary:
    """Return the articles that were found, the feeds that fail, and open alarms."""
    articles = (
        select(site.c.site, func.count(), func.sum(case((document.c.stored_at >= began_at, 1), else_=0)))
        .join(document, document.c.site_id == site.c.id)
        .where(site.c.crawl_id == crawl.id)
        .group_by(site.c.id, site.c.site)
    )
    feeds = (
        select(page.c.url, (poll.c.failures > 0) | poll.c.problem.is_not(None), poll.c.problem)
        .join(poll, poll.c.page_id == page.c.id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl.id, site.c.is_open, poll.c.kind.in_(ANNOUNCERS))
        .order_by(page.c.url)
    )
    with database.read() as connection:
        counts = {name: (number, new) for name, number, new in connection.execute(articles)}
        polled = connection.execute(feeds).all()
        alarms = list(open_alarms(connection, crawl.id).values())
    total, new = (sum(numbers) for numbers in zip(*counts.values(), strict=True)) if counts else (0, 0)
    failing = [f"{url}: {sentence(problem or Reason.NO_RESPONSE)}" for url, fails, problem in polled if fails]
    lines = [f"Feeds: {len(polled):,}, {len(failing):,} of them failing"] if polled else []
    lines += _some("Failing", failing)
    lines += _some("Alarm", [f"{alarm.kind}: {alarm.subject}: {alarm.message}" for alarm in alarms])
    if alarms:
        lines.append(f"Open alarms: {len(alarms):,}, listed by scrapy sites alarms")
    columns: dict[str, Callable[[SiteResult], int]] = {
        "articles": lambda one: counts.get(one.site, (0, 0))[0],
        **{name: attrgetter(name) for name in ("pages", "errors")},
    }
    return MissionSummary(f"{counted(total, 'article')}, {new:,} of them new in this run", columns, lines)


def _some(what: str, found: Sequence[str]) -> list[str]:
    more = [f"{what}: {len(found) - MAX_SHOWN:,} more"] if len(found) > MAX_SHOWN else []
    return [f"{what}: {one}" for one in found[:MAX_SHOWN]] + more
