"""What people see of a news crawl and its sources at a glance: articles, feeds and alarms."""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING

from sqlalchemy import case, func, select

from crawlers.missions.news.feeds.sources import SourceOwners
from crawlers.missions.news.news_items import ANNOUNCERS
from crawlers.missions.news.stored.alarms import FAILS, list_alarms, open_alarms
from crawlers.missions.news.stored.news_tables import document, feed, poll
from crawlers.plurals import counted
from crawlers.reasons import Reason, sentence
from crawlers.reports.crawl_summary import MissionSummary
from crawlers.store.schema.tables import crawl, page, seed, site
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawlers.reports.catalogue.report import Cells
    from crawlers.store.database import Database
    from crawlers.store.reading.crawl_results import CrawlResults, SiteResult
    from crawlers.store.reading.queries import NamedCrawl


def source_figures(database: Database) -> list[Cells]:
    """Return the enabled seeds and the sources of news crawls, by number; a source owns the pages of its domain.

    The cells: its number, its site, whether it is enabled, its documents in all crawls, when the latest of them was
    stored, its enabled feeds, and its open alarms.
    """
    # Sources of news crawls have start URLs.
    named = (
        select(site.c.seed_id)
        .join(crawl, crawl.c.id == site.c.crawl_id)
        .where(crawl.c.mission == "news", site.c.start_url.is_not(None))
    )
    sources = select(seed.c.id, seed.c.site, seed.c.enabled, seed.c.hosts).order_by(seed.c.id)
    feeds = select(feed.c.url, feed.c.enabled, seed.c.site).join(seed, seed.c.id == feed.c.seed_id)
    # Grouped by site first, which uses an index.
    by_site = select(document.c.site_id, func.count().label("number"), func.max(document.c.stored_at).label("latest"))
    stored = by_site.group_by(document.c.site_id).subquery()
    documents = select(site.c.site, stored.c.number, stored.c.latest).join(site, site.c.id == stored.c.site_id)
    rows = database.rows(sources.where(seed.c.enabled | seed.c.id.in_(named)))
    owners = SourceOwners((row.site, (row.hosts or "").split()) for row in rows)
    number: Counter[str | None] = Counter()
    latest: dict[str | None, float] = {}
    for name, count, stored_at in database.rows(documents):
        owner = owners.of(name)
        number[owner] += count
        latest[owner] = max(stored_at, latest.get(owner, 0.0))
    known = database.rows(feeds)
    enabled = Counter(owner for _, is_enabled, owner in known if is_enabled)
    owner_of_feed = {url: owner for url, _, owner in known}
    alarms = Counter(
        owner_of_feed.get(one.subject) or owners.of(site_of(one.subject))
        for one in list_alarms(database)
        if one.ended_at is None
    )
    return [
        (*row[:3], number[row.site], latest.get(row.site), enabled[row.site], alarms[row.site] or None) for row in rows
    ]


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
        select(page.c.url, FAILS, poll.c.problem)
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
