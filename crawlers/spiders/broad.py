"""Large parts of the web, by the importance of pages, computed as they are fetched (AOPIC)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawlers.crawl.spec import CrawlSpec


class BroadSpider(SiteSpider):
    """`scrapy crawl broad -a hosts=hosts.txt -s SCOPE=all -s PAGE_BUDGET=20000`.

    Follows links across the sites of SCOPE, and revisits pages as their cash grows. So it ends only by PAGE_BUDGET,
    TIMEOUT_SECONDS or STOP_FILE.
    """

    name = "broad"
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        **SiteSpider.custom_settings,
        "RULE": "best",
        "ORDER": "aopic",
        "GRAPH_FORMATS": [],  # `scrapy graph` writes graphs of whole sites when they are needed
        "RESULT_TABLES": [],
    }

    def crawl_spec(self, settings: BaseSettings) -> CrawlSpec:
        from crawlers.crawl.spec import crawl_of
        from crawlers.urls.scope import Scope

        sites = self.sites(self.hosts, settings)
        scope = Scope(settings.get("SCOPE"), [limits.site for limits in sites])
        return crawl_of(self.name, sites, settings, scope, revisits=True)
