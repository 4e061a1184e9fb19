"""Turns each page that became a document into a `Document` item for feeds. Must follow the store pipeline."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crawlers.items import Page
from crawlers.missions.news.news_items import CHANGED, NEW, news_of
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector


@dataclass(frozen=True, slots=True)
class Document:
    """An article that was just stored, or a new version of it. Fields that the page does not state are empty."""

    url: str
    canonical_url: str
    title: str
    text: str  # paragraphs, one per line
    published: str  # ISO 8601, with the time zone that the page gives
    authors: tuple[str, ...]
    section: str
    language: str
    image: str
    site: str
    stored_at: str  # ISO 8601, UTC: this version
    version: int  # from 1
    extractor: str  # rule, json-ld or blocks
    description: str
    keywords: tuple[str, ...]
    modified: str  # like `published`: its latest change according to the page
    is_free: bool | None  # False: behind a paywall; None: the page does not say


class DocumentPipeline:
    """All other items pass unchanged; feeds exclude them by `item_classes`."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        assert crawler.stats is not None
        return cls(crawler.stats)

    def process_item(self, item: Any) -> Any:
        news = news_of(item) if isinstance(item, Page) else None
        if news is None or not news.outcome:
            return item
        if news.outcome == NEW:
            self._stats.inc_value("news/documents")
        elif news.outcome == CHANGED:
            self._stats.inc_value("news/changed")
        else:
            self._stats.inc_value("news/duplicates")
            return item
        article = news.article
        assert article is not None
        stated = {name: one for name, one in asdict(article).items() if name not in ("published_at", "modified_at")}
        stored_at = datetime.fromtimestamp(news.stored_at, UTC).isoformat(timespec="seconds")
        return Document(url=item.url, site=site_of(item.url), stored_at=stored_at, version=news.version, **stated)
