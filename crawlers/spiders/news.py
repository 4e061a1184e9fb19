"""News: articles first, once, soon after they appear."""

from __future__ import annotations

import logging
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from scrapy import signals

from crawlers.algorithms.news.poll_plan import PollLimits, PollPlan
from crawlers.algorithms.news.sources import SourceOwners
from crawlers.algorithms.news.url_classifier import UrlClassifier
from crawlers.algorithms.ranking.news_scores import SOON, NewsScores
from crawlers.algorithms.urls.resolution import resolve, site_of
from crawlers.algorithms.urls.scope import Scope
from crawlers.crawl.news.announcements import Announcements
from crawlers.crawl.news.articles import ArticlePolicy
from crawlers.crawl.news.feed_registry import FeedRegistry
from crawlers.crawl.news.news_policy import NewsPolicy
from crawlers.crawl.news.polls import Polls
from crawlers.crawl.news.requeue import Requeue
from crawlers.errors import BadUrl, ConfigError
from crawlers.extraction.article.content_rules import check_rules
from crawlers.extraction.feeds.feed_discovery import sitemaps_of_robots
from crawlers.extraction.news_reader import NewsReader
from crawlers.extraction.pool import ExtractionPool
from crawlers.inputs.rule_settings import chosen_order, chosen_rule
from crawlers.inputs.sources_file import read_sources
from crawlers.inputs.url_settings import normalization
from crawlers.items import FEED, LEASE, SITEMAP
from crawlers.spiders.base import SiteSpider
from crawlers.storage.database import Database
from crawlers.storage.news import stored_rules
from crawlers.storage.news.document_copies import Duplicates
from crawlers.storage.news.documents import has_earlier_documents
from crawlers.storage.news.iterations import Iterations
from crawlers.storage.news.redis_keys import RedisDocumentKeys, open_document_keys
from crawlers.storage.news.stored_polls import (
    labels_of,
    left_out_sites,
    moved_pages,
    pages_over,
    placed_sites,
    polls_of,
    removed_feeds,
)
from crawlers.storage.news.stored_sources import save_sources, stored_sources

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawlers.algorithms.news.sources import Source
    from crawlers.algorithms.url_rules.rule_learner import UrlRule
    from crawlers.frontier.protocols import CrawlFrontier
    from crawlers.storage.writer import Writer

logger = logging.getLogger(__name__)

FEED_EXTENSIONS = frozenset(["atom", "gz", "json", "rdf", "rss", "txt", "xml"])  # which no other mission asks for
DOCUMENT = "crawlers.pipelines.document_items.Document"  # what feeds hold, of the items of this spider


class NewsSpider(SiteSpider):
    """`scrapy crawl news -a sources=sources.yaml`; without it, of the sources in the store."""

    name = "news"
    is_news = True  # it has iterations, alarms and documents
    arguments = ("sources",)
    custom_settings = {  # noqa: RUF012 - Scrapy's convention
        **SiteSpider.custom_settings,
        "ORDER": "fit*opic",
        "FEED_TYPES": ["xml", "json", "gzip", "octet-stream", "text/plain"],
        # Answers wait for the pool while they count as active; beyond this many bytes Scrapy asks for nothing more.
        "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 100_000_000,
        "GRAPH_FORMATS": [],  # graphs of whole sites are for `scrapy graph`, when somebody wants them
    }
    roots: tuple[str, ...]
    scope: Scope
    start_place = SOON  # where home pages and feeds wait
    policy: NewsPolicy

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        extensions = [name for name in settings.getlist("IGNORED_EXTENSIONS") if name not in FEED_EXTENSIONS]
        settings.set("IGNORED_EXTENSIONS", extensions, priority="spider")
        feeds = {uri: {"item_classes": [DOCUMENT], **options} for uri, options in settings.getdict("FEEDS").items()}
        if feeds:  # one above: Scrapy sets what the command line said once more before the crawl
            settings.set("FEEDS", feeds, priority=(settings.getpriority("FEEDS") or 0) + 1)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._close, signals.spider_closed)
        return spider

    def prepare(self, settings: BaseSettings) -> None:
        _check(settings)  # before anything is saved
        sources = _sources(getattr(self, "sources", None), settings)
        self.site_limits = [source.limits for source in sources]
        self._known = {url: FEED for source in sources for url in source.feeds}
        self._known |= {url: SITEMAP for source in sources for url in source.sitemaps}
        self.roots = tuple(self._known)
        self._owners = SourceOwners((source.limits.site, source.hosts) for source in sources)
        self._languages = {source.domain: source.language for source in sources if source.language}
        hosts = {host for source in sources for host in (source.domain, *source.hosts)}
        self.scope = Scope.of_hosts(hosts, [limits.site for limits in self.site_limits])
        self._settings = settings
        self._pool = ExtractionPool(
            settings.getint("EXTRACTION_PROCESSES"), settings.getfloat("EXTRACTION_TIMEOUT_SECONDS")
        )

    def crawl_opened(
        self,
        database: Database,
        crawl_id: int,
        writer: Writer,
        frontier: CrawlFrontier,
        delays: Mapping[int, float],
    ) -> None:
        """The store is open: take up what earlier runs learnt. Raises `ConfigError`."""
        settings = self._settings

        def keep(domain: str, rules: Sequence[UrlRule]) -> Sequence[UrlRule]:
            stored_rules.replace_learnt(database, domain, rules)
            return [one.rule for one in stored_rules.list_rules(database, domain)] if uses_rules else []

        uses_rules = settings.getbool("NEWS_RULES_ENABLED")
        classifier = UrlClassifier(
            stored_rules.rules_by_domain(database) if uses_rules else {},
            keep if settings.getbool("NEWS_LEARN_RULES") else None,
            fit_factor=settings.getfloat("FIT_FACTOR"),
            else_factor=settings.getfloat("FIT_ELSE_FACTOR"),
        )
        classifier.recall(labels_of(database, crawl_id))
        limits = PollLimits(
            settings.getfloat("FEED_MIN_SECONDS"),
            settings.getfloat("FEED_MAX_SECONDS"),
            settings.getfloat("FEED_DEADLINE_SECONDS"),
        )
        polls = Polls(PollPlan(settings.getfloat("FEED_POLLS_PER_SECOND"), limits), settings.getint("NEWS_HUBS"))
        for site_id, delay_s in delays.items():
            polls.set_delay(site_id, delay_s)
        polls.recall(polls_of(database, crawl_id), time.time())
        self._keys = open_document_keys(settings.get("DOCUMENT_KEYS_URL"), database, writer.flush)
        duplicates = Duplicates(database, self._keys, writer.flush, settings.getint("DUPLICATE_DISTANCE"))
        articles = ArticlePolicy(
            classifier,
            duplicates,
            database,
            self._languages,
            has_earlier=has_earlier_documents(database, crawl_id),
        )
        left_out = left_out_sites(database, crawl_id)
        self.scope.leave_out(left_out)
        sites = placed_sites(database, crawl_id)
        requeue = Requeue(classifier, frontier)
        writer.submit(requeue.recall(sites))
        options = normalization(settings)
        homes = [limits.start_url or f"{limits.site}/" for limits in self.site_limits]
        self._feeds = FeedRegistry(
            lambda base, path: resolve(base, path, options),
            homes=homes,
            known=self._known,
            removed=removed_feeds(database, self.scope.holds),
            left_out=left_out,
            owners=self._owners,
        )
        numbers = {site.name: site.id for site in sites}
        starts, roots = (
            [(numbers[site_of(url)], resolve(url, "", options).key) for url in urls if site_of(url) in numbers]
            for urls in (homes, self.roots)
        )
        for key, target in moved_pages(database, [*starts, *roots]):
            self._feeds.moved(key, target)
        for site, over in pages_over(database, roots):
            frontier.fetch_again(site, [over], time.time())  # a feed that was removed, and is wanted again
        self.policy = NewsPolicy(
            classifier,
            requeue,
            polls,
            self._feeds,
            Announcements(database, crawl_id, writer.flush, frontier),
            articles,
            Iterations(
                database,
                crawl_id,
                settings.getint("NEWS_ITERATION_PAGES"),
                settings.getfloat("NEWS_ITERATION_MINUTES") * 60.0,
            ),
            recheck_s=settings.getfloat("NEWS_RECHECK_HOURS") * 3600.0,
        )
        self._news = NewsReader(
            lambda news: self.reader(settings, analysis=news.analysis),
            classifier,
            stored_rules.content_rules(database),
            self._pool.run,
            articles.is_known,
        )

    async def parse(self, response: Response) -> AsyncIterator[Any]:  # type: ignore[override]
        assert response.request is not None
        lease = response.request.meta[LEASE]
        yield await self._news.read(
            self.answer(response),
            lease.id,
            lease.level,
            self.policy.kind(lease),
            self.policy.is_announced(lease),
            self.policy.is_in_feed(lease),
            time.time(),
        )

    def _is_ours(self, url: str) -> bool:
        try:
            return self.scope.holds(site_of(url))
        except BadUrl:
            return False

    async def _close(self) -> None:
        await self._pool.close()
        if hasattr(self, "_keys"):
            self._keys.close()

    def found_by_robots(self, text: str) -> list[str]:
        """The sitemaps that a robots.txt names, of sites of the crawl, and that nobody removed."""
        return [url for url in sitemaps_of_robots(text) if self._is_ours(url) and self._feeds.found(url)]


def _check(settings: BaseSettings) -> None:
    """Raises `ConfigError` for what the scheduler would refuse only when the sources are saved."""
    chosen_rule(settings)
    if not isinstance(chosen_order(settings).scores, NewsScores):
        raise ConfigError(
            f"ORDER={settings.get('ORDER')} knows nothing of articles; scrapy crawl news needs fit or fit*opic"
        )
    if settings.getfloat("FEED_MIN_SECONDS") > settings.getfloat("FEED_MAX_SECONDS"):
        raise ConfigError("FEED_MIN_SECONDS is more than FEED_MAX_SECONDS; give a smaller one")
    if settings.getint("DUPLICATE_DISTANCE") > 64:
        raise ConfigError("DUPLICATE_DISTANCE is out of range; a fingerprint has 64 bits, of which 12 may differ")
    if url := settings.get("DOCUMENT_KEYS_URL"):
        RedisDocumentKeys(url).close()


def _sources(path: str | None, settings: BaseSettings) -> list[Source]:
    """Those of the file, which the store has from now on; or those of the store. Raises `ConfigError`."""
    if path:
        sources, problems = read_sources(path, check_rules)
        for problem in problems:
            logger.warning("%s; the others are crawled", problem)
        with closing(Database(settings.get("DATABASE_URL"))) as database:
            save_sources(database, sources, enable=False)
            _check_rules(database, settings)
            return stored_sources(database, [source.limits.site for source in sources])
    remedy = "name them with -a sources=sources.yaml, or add them with scrapy sites add URL"
    try:
        stored = Database(settings.get("DATABASE_URL"), create=False)
    except ConfigError as error:
        raise ConfigError(f"no sources are given, and none can be read from the store ({error}); {remedy}") from error
    with closing(stored):
        _check_rules(stored, settings)
        sources = stored_sources(stored)
    if not sources:
        raise ConfigError(f"no sources are given, and {stored.name} holds no enabled one; {remedy}")
    return sources


def _check_rules(database: Database, settings: BaseSettings) -> None:
    if settings.getbool("NEWS_RULES_ENABLED"):
        stored_rules.check_stored_rules(database)
