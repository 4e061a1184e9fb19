"""Large parts of the web, by the importance of pages, computed as they are fetched (AOPIC)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.spiders.base import SiteSpider
from crawlers.urls.scope import Scope

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class BroadSpider(SiteSpider):
    """`scrapy crawl broad -a hosts=hosts.txt -s SCOPE=all -s PAGE_BUDGET=20000`.

    Follows links across the sites of SCOPE, and revisits pages as their cash grows. So it ends only by PAGE_BUDGET,
    TIMEOUT_SECONDS or STOP_FILE.
    """

    name = "broad"
    can_be_shared = True
    revisits = True
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        **SiteSpider.custom_settings,
        "RULE": "best",
        "ORDER": "aopic",
        "GRAPH_FORMATS": [],  # `scrapy graph` writes graphs of whole sites when they are needed
        "RESULT_TABLES": [],
    }

    def prepare(self, settings: BaseSettings) -> None:
        self.site_limits = self.sites(self.hosts, settings)
        self.scope = Scope(settings.get("SCOPE"), [limits.site for limits in self.site_limits])
        self._reader = self.reader(settings)
