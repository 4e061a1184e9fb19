"""Counts the documents, feeds and alarms of each news source, for the people who maintain the sources."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from crawlers.missions.news.feeds.sources import SourceOwners
from crawlers.missions.news.stored.alarms import list_alarms
from crawlers.missions.news.stored.news_tables import document, feed
from crawlers.store.schema.tables import crawl, seed, site
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from crawlers.reports.catalogue.report import Cells
    from crawlers.store.database import Database


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
    feeds = select(feed.c.seed_id, func.count()).where(feed.c.enabled).group_by(feed.c.seed_id)
    # Grouped by site first, which uses an index.
    by_site = (
        select(document.c.site_id, func.count().label("number"), func.max(document.c.stored_at).label("stored_at"))
        .group_by(document.c.site_id)
        .subquery()
    )
    stored = select(site.c.site, by_site.c.number, by_site.c.stored_at).join(site, site.c.id == by_site.c.site_id)
    with database.read() as connection:
        rows = connection.execute(sources.where(seed.c.enabled | seed.c.id.in_(named))).all()
        feed_counts = {number: count for number, count in connection.execute(feeds)}
        owner_of_feed = {
            url: name
            for url, name in connection.execute(select(feed.c.url, seed.c.site).join(seed, seed.c.id == feed.c.seed_id))
        }
        found = connection.execute(stored).all()
    owners = SourceOwners((row.site, (row.hosts or "").split()) for row in rows)
    documents: Counter[str | None] = Counter()
    latest: dict[str | None, float] = {}
    for name, count, stored_at in found:
        owner = owners.of(name)
        documents[owner] += count
        latest[owner] = max(stored_at, latest.get(owner, 0.0))
    alarms = Counter(
        owner_of_feed.get(one.subject) or owners.of(site_of(one.subject))
        for one in list_alarms(database)
        if one.ended_at is None
    )
    return [
        (*row[:3], documents[row.site], latest.get(row.site), feed_counts.get(row.id, 0), alarms[row.site] or None)
        for row in rows
    ]
