"""What the summary of a crawl says about external links."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from crawlers.plurals import counted
from crawlers.reports.crawl_summary import MissionSummary
from crawlers.store.reading.crawl_results import external_results
from crawlers.store.reading.crawl_settings import settings_of
from crawlers.store.writing.pulls import totals

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.store.database import Database
    from crawlers.store.reading.crawl_results import CrawlResults, SiteResult
    from crawlers.store.reading.queries import NamedCrawl


def links_summary(database: Database, crawl: NamedCrawl, results: CrawlResults, began_at: float) -> MissionSummary:
    """Return how many external links were found, and the reward of downloads."""
    found = external_results(database, crawl.id)
    pages = sum(site.pages for site in results.sites)
    heading = f"{counted(found.urls, 'external URL')} of {counted(found.hosts, 'host')} on {counted(pages, 'page')}"
    columns: dict[str, Callable[[SiteResult], int]] = {
        "external URLs": lambda site: found.by_site.get(site.site, 0),
        **{name: attrgetter(name) for name in ("pages", "errors", "duplicates")},
    }
    pulls, earned = totals(database, crawl.id)
    reward = str(settings_of(database, crawl.id)["REWARD"]).replace("_", " ")
    return MissionSummary(heading, columns, [f"Reward: {earned:,.0f} {reward} of {counted(pulls, 'download')}"])
