"""The exact graph of pages and links of each listed site (RCCrawler)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawlers.crawl.spec import CrawlSpec


class SiteGraphSpider(SiteSpider):
    """`scrapy crawl sitegraph -a hosts=hosts.txt`: breadth first, duplicates folded, one graph per site."""

    name = "sitegraph"

    def crawl_spec(self, settings: BaseSettings) -> CrawlSpec:
        from crawlers.crawl.spec import crawl_of

        sites = self.sites(self.hosts, settings)
        return crawl_of(self.name, sites, settings, reads_sitemaps=settings.getbool("SITEMAPS_ENABLED"))
