"""News: articles first, once, soon after they appear."""

from __future__ import annotations

import logging
import time
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import signals

from crawlers.errors import ConfigError
from crawlers.items import LEASE
from crawlers.missions.news import ARTICLES
from crawlers.spiders.base import SiteSpider
from crawlers.urls.scope import Scope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.missions.news.feeds.sources import Source
    from crawlers.missions.news.news_policy import NewsPolicy

logger = logging.getLogger(__name__)

FEED_EXTENSIONS = frozenset(["atom", "gz", "json", "rdf", "rss", "txt", "xml"])  # ignored by the other missions
DOCUMENT = "crawlers.missions.news.edge.document_items.Document"  # the items that feeds contain

EXTRACTION_TIMEOUT_S = 30.0  # of a page, which occupies a process for as long
EXTRACTION_MODULES = tuple(f"crawlers.missions.news.article.{name}" for name in ("article_reader", "news_reader"))


class NewsSpider(SiteSpider):
    """`scrapy crawl news -a sources=sources.yaml`; without the argument, the sources in the store are crawled."""

    name = "news"
    can_be_shared = True
    arguments = ("sources",)
    read_types = ("xml", "json", "gzip", "octet-stream", "text/plain")  # feeds and sitemaps have many types
    components = {  # noqa: RUF012 - as declared
        "EXTENSIONS": {
            "crawlers.missions.news.edge.news_outputs.NewsChart": 0,
            "crawlers.missions.news.edge.news_outputs.ParquetExport": 0,
            "crawlers.missions.news.edge.alarm_checks.AlarmChecks": 0,
        },
        "ITEM_PIPELINES": {"crawlers.missions.news.edge.document_items.DocumentPipeline": 950},
    }
    sources: str | None = None
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        **SiteSpider.custom_settings,
        "ORDER": "fit*opic",
        # Responses that wait for the pool count as active; beyond this many bytes Scrapy requests nothing more.
        "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 100_000_000,
        "GRAPH_FORMATS": [],  # `scrapy graph` writes graphs of whole sites when they are needed
        "RESULT_TABLES": [],
    }
    scope: Scope
    _policy: NewsPolicy

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        extensions = [name for name in settings.getlist("IGNORED_EXTENSIONS") if name not in FEED_EXTENSIONS]
        settings.set("IGNORED_EXTENSIONS", extensions, priority="spider")

    @classmethod
    def feed_options(cls, settings: BaseSettings, format_: str) -> dict[str, Any]:
        """Return the options of feeds: they contain documents."""
        return {"item_classes": [DOCUMENT]}

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._close, signals.spider_closed)
        return spider

    def prepare(self, settings: BaseSettings) -> None:
        from crawlers.missions.news.feeds.sources import SourceLeaders
        from crawlers.pages.pool import ExtractionPool

        _check(settings)  # before anything is saved
        self._sources = _sources(self.sources, settings)
        self.site_limits = [source.limits for source in self._sources]
        hosts = {host for source in self._sources for host in (source.domain, *source.hosts)}
        self.scope = Scope.of_hosts(hosts, [limits.site for limits in self.site_limits])
        self._leaders = SourceLeaders(self._sources)
        self._settings = settings
        self._pool = ExtractionPool(
            settings.getint("EXTRACTION_PROCESSES"), EXTRACTION_TIMEOUT_S, modules=EXTRACTION_MODULES
        )

    def crawl_spec(self) -> CrawlSpec:
        # Home pages and feeds come before all articles.
        from crawlers.missions.news.news_opening import known_feeds
        from crawlers.missions.news.plan.news_scores import BEFORE_ARTICLES

        spec = replace(super().crawl_spec(), roots=tuple(known_feeds(self._sources)), leader_of=self._leaders.of)
        return replace(spec, gives={ARTICLES: True}, start_slot=BEFORE_ARTICLES)

    def crawl_policy(self, session: CrawlSession) -> NewsPolicy:
        from crawlers.missions.news.article.news_reader import NewsReader
        from crawlers.missions.news.dedup.document_copies import DocumentKeys
        from crawlers.missions.news.news_opening import open_news_policy
        from crawlers.missions.news.news_settings import news_options
        from crawlers.missions.news.urls import stored_rules

        settings, database = self._settings, session.database
        self.scope = self.scope.excluding(session.row.excluded)
        policy = self._policy = open_news_policy(
            session,
            DocumentKeys(database, session.writer),
            self._sources,
            self.scope,
            news_options(settings),
            self._pool.run_patiently,
        )
        self._news = NewsReader(
            lambda news: self.reader(settings, analysis=news.analysis),
            policy.classifier,
            stored_rules.content_rules(database),
            self._pool.run,
            partial(policy.articles.copy_of, run=session.reader.run),
            session.reader.run,
        )
        return policy

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        assert response.request is not None
        lease = response.request.meta[LEASE]
        page = await self._news.read(
            self.web_response(response),
            lease.id,
            lease.level,
            self._policy.kind(lease),
            self._policy.is_announced(lease),
            self._policy.is_in_feed(lease),
            time.time(),
        )
        await self._policy.prepare(lease, page, self._run)
        yield page

    async def _close(self) -> None:
        await self._pool.close()


def _check(settings: BaseSettings) -> None:
    """Raise `ConfigError` for mistakes that would otherwise be found only after the sources are stored."""
    from crawlers.inputs.setting_readers import chosen_rule, needs_of

    chosen_rule(settings)
    if needs_of(settings.get("ORDER")) != ARTICLES:
        raise ConfigError(
            f"ORDER={settings.get('ORDER')} has no queues for articles, archives and polls of feeds, which news needs; "
            "use fit or fit*opic"
        )
    if settings.getfloat("FEED_MIN_SECONDS") > settings.getfloat("FEED_MAX_SECONDS"):
        raise ConfigError("FEED_MIN_SECONDS is more than FEED_MAX_SECONDS; give a smaller one")


def _sources(path: str | None, settings: BaseSettings) -> list[Source]:
    """Return the sources of the file, which are stored, or those of the store. Raises `ConfigError`."""
    from crawlers.missions.news.feeds.sources_file import read_sources
    from crawlers.missions.news.stored.stored_sources import save_sources, stored_sources
    from crawlers.store.database import Database

    if path:
        sources, problems = read_sources(path)
        for problem in problems:
            logger.warning("%s; the others are crawled", problem)
        with closing(Database(settings.get("DATABASE_URL"))) as database:
            save_sources(database, sources, enable=False)
            return stored_sources(database, [source.limits.site for source in sources])
    remedy = "name them with -a sources=sources.yaml, or add them with scrapy sites add URL"
    try:
        stored = Database(settings.get("DATABASE_URL"), create=False)
    except ConfigError as error:
        problem = str(error).rsplit("; ", 1)[0]  # without its remedy
        raise ConfigError(f"no sources are given, and {problem}; {remedy}") from error
    with closing(stored):
        sources = stored_sources(stored)
    if not sources:
        raise ConfigError(f"no sources are given, and {stored.name} has no enabled source; {remedy}")
    return sources
