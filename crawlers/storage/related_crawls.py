"""Crawls that can be compared with another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from crawlers.storage.schema.tables import crawl, site

if TYPE_CHECKING:
    from crawlers.storage.database import Database

MOST_CRAWLS = 50  # the latest ones
SAMPLED_SITES = 1_000  # of a crawl of more sites, to see whether another one has them too


class RelatedCrawl(NamedTuple):
    """Another crawl, and how many of the first `SAMPLED_SITES` sites of the given one it has, too."""

    id: int
    name: str
    mission: str
    state: str
    started_at: float  # seconds since 1970
    shared_sites: int


def related_crawls(database: Database, crawl_id: int) -> list[RelatedCrawl]:
    """Return the latest other crawls: those with most sites in common first, then the latest. Raises `StoreError`."""
    sample = (
        select(site.c.site).where(site.c.crawl_id == crawl_id).order_by(site.c.site).limit(SAMPLED_SITES).subquery()
    )
    latest = select(crawl).where(crawl.c.id != crawl_id).order_by(crawl.c.id.desc()).limit(MOST_CRAWLS).subquery()
    shared = (
        select(site.c.crawl_id, func.count().label("sites"))
        .join(sample, sample.c.site == site.c.site)
        .where(site.c.crawl_id.in_(select(latest.c.id)))
        .group_by(site.c.crawl_id)
        .subquery()
    )
    number = func.coalesce(shared.c.sites, 0)
    statement = (
        select(latest.c.id, latest.c.name, latest.c.mission, latest.c.state, latest.c.started_at, number)
        .outerjoin(shared, shared.c.crawl_id == latest.c.id)
        .order_by(number.desc(), latest.c.id.desc())
    )
    return [RelatedCrawl(*row) for row in database.rows(statement)]
