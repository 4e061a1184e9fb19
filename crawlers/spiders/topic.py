"""The pages about a topic, by the text of links, distance and TimelyRank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawlers.crawl.spec import CrawlSpec


class TopicSpider(SiteSpider):
    """`scrapy crawl topic -a topic=topic.yaml`; see `missions.topic.topic_file` for its content."""

    name = "topic"
    arguments = ("topic",)
    components = {  # noqa: RUF012 - as declared
        "ITEM_PIPELINES": {"crawlers.missions.topic.edge.topic_results.TopicPipeline": 970}
    }
    topic: str | None = None
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        **SiteSpider.custom_settings,
        "RULE": "best",
        "ORDER": "topic",
        "GRAPH_FORMATS": [],  # a topic has one graph of all sites, see pipelines.topic
        "RESULT_TABLES": [],
        "FEED_EXPORT_FIELDS": {
            **{name: name for name in ("url", "title")},
            "facts": "similarity",
            **{name: name for name in ("level", "state", "status", "reason")},
        },
    }

    def crawl_spec(self, settings: BaseSettings) -> CrawlSpec:
        from crawlers.missions.topic.topic_run import topic_crawl

        return topic_crawl(self.name, self.topic, settings)
