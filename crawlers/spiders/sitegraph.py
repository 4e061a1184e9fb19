"""The exact graph of pages and links of each listed site (RCCrawler)."""

from __future__ import annotations

from crawlers.spiders.base import SiteSpider


class SiteGraphSpider(SiteSpider):
    """`scrapy crawl sitegraph -a hosts=hosts.txt`: breadth first, duplicates folded, one graph per site."""

    name = "sitegraph"
    can_be_shared = True
    reads_sitemaps = True
