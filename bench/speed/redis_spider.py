"""A spider of scrapy-redis as its documentation shows it: follows every link, and stores URL and title of each page.

Runs in an environment of its own, see bench.speed.redis_crawls; nothing of this project is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy_redis.spiders import RedisCrawlSpider

if TYPE_CHECKING:
    from collections.abc import Iterator


class RedisSpider(RedisCrawlSpider):
    """Crawls the sites of the URLs in the list `rival:start_urls`."""

    name = "rival"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)
    custom_settings = {  # noqa: RUF012 - the configuration that its README recommends
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.PriorityQueue",
        "SCHEDULER_PERSIST": True,
        "ITEM_PIPELINES": {"scrapy_redis.pipelines.RedisPipeline": 300},
        "ROBOTSTXT_OBEY": True,
        "DOWNLOAD_DELAY": 0,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "INFO",
    }

    def parse_page(self, response: Any) -> Iterator[dict[str, Any]]:
        yield {"url": response.url, "title": response.css("title::text").get()}
