"""The rivals: spiders as Scrapy's documentation shows them, nothing crippled and nothing added.

python -m bench.speed.rivals (plain|links|floor|ours|ours-without-links) URL CONCURRENCY
"""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import replace
from typing import Any
from urllib.parse import urljoin

from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from bench.running import run
from bench.speed.website import PAGES, paths_of


class StockSpider(CrawlSpider):
    """Follows every link of one site and yields nothing."""

    name = "stock"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def parse_page(self, response: Any) -> Any:
        return None


class LinksPipeline:
    """Stores pages and links in SQLite, one commit a page, as tutorials do."""

    def open_spider(self) -> None:
        self.connection = sqlite3.connect("stock.sqlite")
        self.connection.execute("CREATE TABLE page (url TEXT PRIMARY KEY, title TEXT)")
        self.connection.execute("CREATE TABLE link (source TEXT, target TEXT, anchor TEXT)")

    def process_item(self, item: Any) -> Any:
        self.connection.execute("INSERT OR REPLACE INTO page VALUES (?, ?)", (item["url"], item["title"]))
        rows = [(item["url"], link.url, link.text) for link in item["links"]]
        self.connection.executemany("INSERT INTO link VALUES (?, ?, ?)", rows)
        self.connection.commit()
        return item

    def close_spider(self) -> None:
        self.connection.close()


class StockLinksSpider(StockSpider):
    """Yields every page with its links, extracted again, since a rule's callback does not get them."""

    name = "stock_links"
    custom_settings = {"ITEM_PIPELINES": {LinksPipeline: 300}}  # noqa: RUF012
    extractor = LinkExtractor()

    def parse_page(self, response: Any) -> Any:
        links = self.extractor.extract_links(response)
        return {"url": response.url, "title": response.css("title::text").get(), "links": links}


class FloorSpider(Spider):
    """Fetches pages that it knows beforehand and does nothing with them: what Scrapy itself costs."""

    name = "floor"
    custom_settings = {  # noqa: RUF012 - no middlewares, as ours, and the same log
        "DOWNLOADER_MIDDLEWARES_BASE": {},
        "SPIDER_MIDDLEWARES_BASE": {},
        "LOG_FORMATTER": "crawlers.extensions.quiet_scrapy.PageLogFormatter",
        "COOKIES_ENABLED": False,
        "CONCURRENT_ITEMS": 1,
    }

    async def start(self) -> Any:
        for path in paths_of(PAGES):
            yield Request(urljoin(self.start_urls[0], path), dont_filter=True)

    def parse(self, response: Any) -> None:
        pass


class WithoutLinks:
    """This project without storing any link, to measure the cost of links."""

    def __init__(self) -> None:
        from crawlers.store.schema.rows import INSERT, written_by
        from crawlers.store.schema.tables import PageLinks, link

        written_by(link, INSERT, lambda connection, rows: None)(PageLinks)  # declared again: its rows are dropped

    def process_item(self, item: Any) -> Any:
        return replace(item, external=(), bad=())


def main() -> None:
    kind, url, concurrency = sys.argv[1], sys.argv[2], int(sys.argv[3])
    common = {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": concurrency,
        "LOG_LEVEL": "INFO",
        "LOG_FILE": f"{kind}.log",
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
    }
    if kind.startswith("ours"):
        from scrapy.settings import Settings

        from crawlers.spiders.sitegraph import SiteGraphSpider

        settings = Settings()
        settings.setmodule("crawlers.settings", priority="project")
        settings.setdict({**common, "GRAPH_FORMATS": []}, priority="cmdline")
        if kind == "ours-without-links":
            settings["ITEM_PIPELINES"].set(WithoutLinks, 100, priority="cmdline")
        run(SiteGraphSpider, settings, hosts=f"{url.rstrip('/')};{concurrency};;0")
        return
    host = url.split("/")[2].partition(":")[0]
    settings = {**common, "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency, "DOWNLOAD_DELAY": 0}
    spider = {"plain": StockSpider, "links": StockLinksSpider, "floor": FloorSpider}[kind]
    run(spider, settings, start_urls=[url], allowed_domains=[host])


if __name__ == "__main__":
    main()
