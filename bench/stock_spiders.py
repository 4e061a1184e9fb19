"""The rivals: spiders as Scrapy's documentation shows them, nothing crippled and nothing added.

    python -m bench.stock_spiders (plain|links) URL CONCURRENCY [DATABASE]
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.httpobj import urlparse_cached


class StockSpider(CrawlSpider):
    """Follows every link of one site and yields nothing."""

    name = "stock"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def parse_page(self, response):
        return None


class LinksPipeline:
    """Stores page and links in SQLite, a commit a page, as tutorials do."""

    def open_spider(self):
        self.connection = sqlite3.connect(DATABASE)
        self.connection.execute("CREATE TABLE page (url TEXT PRIMARY KEY, title TEXT)")
        self.connection.execute("CREATE TABLE link (source TEXT, target TEXT, anchor TEXT)")

    def process_item(self, item):
        self.connection.execute("INSERT OR REPLACE INTO page VALUES (?, ?)", (item["url"], item["title"]))
        rows = [(item["url"], link.url, link.text) for link in item["links"]]
        self.connection.executemany("INSERT INTO link VALUES (?, ?, ?)", rows)
        self.connection.commit()
        return item

    def close_spider(self):
        self.connection.close()


class StockLinksSpider(StockSpider):
    """Yields every page with its links, extracted again, since a rule's callback does not get them."""

    name = "stock_links"
    custom_settings = {"ITEM_PIPELINES": {LinksPipeline: 300}}
    extractor = LinkExtractor()

    def parse_page(self, response):
        links = self.extractor.extract_links(response)
        return {"url": response.url, "title": response.css("title::text").get(), "links": links}


DATABASE = ""


def main() -> None:
    kind, url, concurrency = sys.argv[1:4]
    global DATABASE
    DATABASE = sys.argv[4] if len(sys.argv) > 4 else ""
    process = AsyncCrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": int(concurrency),
            "CONCURRENT_REQUESTS_PER_DOMAIN": int(concurrency),
            "DOWNLOAD_DELAY": 0,
            "LOG_LEVEL": "INFO",
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
        }
    )
    spider = {"plain": StockSpider, "links": StockLinksSpider}[kind]
    crawler = process.create_crawler(spider)
    started = {}
    crawler.signals.connect(lambda: started.update(at=time.perf_counter(), cpu=time.process_time()), signals.spider_opened, weak=False)

    def closed() -> None:
        started["wall"] = time.perf_counter() - started["at"]
        started["cpu_s"] = time.process_time() - started["cpu"]

    crawler.signals.connect(closed, signals.spider_closed, weak=False)
    host = urlparse_cached(type("R", (), {"url": url})).hostname if False else url.split("/")[2].split(":")[0]
    process.crawl(crawler, start_urls=[url], allowed_domains=[host])
    process.start()
    stats = crawler.stats.get_stats()
    print(json.dumps({"pages": stats["response_received_count"], "seconds": started["wall"], "cpu_s": started["cpu_s"]}))


if __name__ == "__main__":
    main()
