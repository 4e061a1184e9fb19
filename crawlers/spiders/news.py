"""News: articles first, once, soon after they appear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlers.spiders.base import SiteSpider

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawlers.crawl.spec import CrawlSpec

FEED_EXTENSIONS = frozenset(["atom", "gz", "json", "rdf", "rss", "txt", "xml"])  # ignored by the other missions
DOCUMENT = "crawlers.missions.news.edge.document_items.Document"  # the items that feeds contain


class NewsSpider(SiteSpider):
    """`scrapy crawl news -a sources=sources.yaml`; without the argument, the sources in the store are crawled."""

    name = "news"
    arguments = ("sources",)
    read_types = ("xml", "json", "gzip", "octet-stream", "text/plain")  # feeds and sitemaps have many types
    components = {  # noqa: RUF012 - as declared
        "EXTENSIONS": {
            "crawlers.missions.news.edge.news_extensions.NewsOutputs": 0,
            "crawlers.missions.news.edge.news_extensions.AlarmChecks": 0,
        },
        "ITEM_PIPELINES": {"crawlers.missions.news.edge.document_items.DocumentPipeline": 950},
    }
    sources: str | None = None
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        **SiteSpider.custom_settings,
        "ORDER": "fit",
        # Responses that wait for the pool count as active; beyond this many bytes Scrapy requests nothing more.
        "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 100_000_000,
        "GRAPH_FORMATS": [],  # `scrapy graph` writes graphs of whole sites when they are needed
        "RESULT_TABLES": [],
    }

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        extensions = [name for name in settings.getlist("IGNORED_EXTENSIONS") if name not in FEED_EXTENSIONS]
        settings.set("IGNORED_EXTENSIONS", extensions, priority="spider")

    @classmethod
    def feed_options(cls, settings: BaseSettings, format_: str) -> dict[str, Any]:
        """Return the options of feeds: they contain documents."""
        return {"item_classes": [DOCUMENT]}

    def crawl_spec(self, settings: BaseSettings) -> CrawlSpec:
        from crawlers.missions.news.news_opening import news_crawl

        return news_crawl(self.name, self.sources, settings)
