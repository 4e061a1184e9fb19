"""What the summary of a crawl says about external links."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from crawlers.plurals import counted
from crawlers.reports.crawl_summary import MissionSummary
from crawlers.store.reading.crawl_settings import settings_of
from crawlers.store.schema.tables import external_link, external_url, page, site
from crawlers.store.writing.pulls import totals

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.store.database import Database
    from crawlers.store.reading.crawl_results import CrawlResults, SiteResult
    from crawlers.store.reading.queries import NamedCrawl


def links_summary(database: Database, crawl: NamedCrawl, results: CrawlResults, began_at: float) -> MissionSummary:
    """Return how many external links were found, and the reward of downloads."""
    found = _external_urls(database, crawl.id)
    pages = sum(site.pages for site in results.sites)
    heading = f"{counted(found.urls, 'external URL')} of {counted(found.hosts, 'host')} on {counted(pages, 'page')}"
    columns: dict[str, Callable[[SiteResult], int]] = {
        "external URLs": lambda site: found.by_site.get(site.site, 0),
        **{name: attrgetter(name) for name in ("pages", "errors", "duplicates")},
    }
    pulls, earned = totals(database, crawl.id)
    reward = str(settings_of(database, crawl.id)["REWARD"]).replace("_", " ")
    return MissionSummary(heading, columns, [f"Reward: {earned:,.0f} {reward} of {counted(pulls, 'download')}"])


class _ExternalUrls(NamedTuple):
    """The external links of a crawl."""

    urls: int  # different ones; variants of a URL count once, as in rewards
    hosts: int  # different hosts of these, with their ports: http and https of one host are the same
    by_site: dict[str, int]  # different URLs that each site of the crawl links to


def _external_urls(database: Database, crawl_id: int) -> _ExternalUrls:
    """Return the numbers of different external URLs of a crawl. Raises `StoreError`."""
    found = (
        select(page.c.site_id, external_link.c.url_id)
        .join(page, page.c.id == external_link.c.page_id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .distinct()
        .subquery()
    )
    by_site = (
        select(site.c.site, func.count(external_url.c.key.distinct()))
        .join(found, found.c.site_id == site.c.id)
        .join(external_url, external_url.c.id == found.c.url_id)
        .group_by(site.c.id, site.c.site)
    )
    host = func.replace(func.replace(external_url.c.site, "https://", ""), "http://", "")
    all_urls = select(func.count(external_url.c.key.distinct()), func.count(host.distinct())).where(
        external_url.c.id.in_(select(found.c.url_id))
    )
    ((urls, hosts),) = database.rows(all_urls)
    return _ExternalUrls(urls, hosts, {name: number for name, number in database.rows(by_site)})
