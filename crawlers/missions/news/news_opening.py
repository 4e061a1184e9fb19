"""Specifies and opens a news crawl: its sources, and the parts of its run."""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from crawlers.crawl.spec import crawl_of
from crawlers.errors import ConfigError
from crawlers.inputs.setting_readers import chosen_rule, needs_of, normalization
from crawlers.missions.news import ARTICLES
from crawlers.missions.news.article.news_reader import NewsReader
from crawlers.missions.news.articles import ArticlePolicy, earlier_documents
from crawlers.missions.news.dedup.document_copies import Duplicates
from crawlers.missions.news.feeds.announcements import Announcements
from crawlers.missions.news.feeds.feed_registry import FeedRegistry
from crawlers.missions.news.feeds.sources import SourceLeaders, SourceOwners
from crawlers.missions.news.feeds.sources_file import read_sources
from crawlers.missions.news.news_items import FEED, SITEMAP
from crawlers.missions.news.news_run import NewsRun
from crawlers.missions.news.news_sites import NewsSites
from crawlers.missions.news.plan.news_scores import BEFORE_ARTICLES, FIT
from crawlers.missions.news.plan.poll_plan import PollLimits
from crawlers.missions.news.plan.polls import Polls
from crawlers.missions.news.stored.iterations import counted_page
from crawlers.missions.news.stored.stored_sources import removed_feeds, save_sources, stored_sources
from crawlers.missions.news.urls.requeue import Requeue
from crawlers.missions.news.urls.stored_rules import content_rules
from crawlers.missions.news.urls.url_classifier import UrlClassifier
from crawlers.pages.pool import ExtractionPool
from crawlers.store.database import Database
from crawlers.urls.resolution import resolve
from crawlers.urls.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlers.crawl.session import CrawlSession
    from crawlers.crawl.spec import CrawlSpec
    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.items import Target
    from crawlers.missions.news.feeds.sources import Source

logger = logging.getLogger(__name__)

EXTRACTION_TIMEOUT_S = 30.0  # of a page, which occupies a process for as long
EXTRACTION_MODULES = tuple(f"crawlers.missions.news.article.{name}" for name in ("article_reader", "news_reader"))
DEADLINE_S = 43_200.0  # between the publication of an article and its storage
MOST_HUBS = 20  # pages of a site that are polled besides its feeds: front pages of sections


def news_crawl(name: str, path: str | None, settings: SettingValues) -> CrawlSpec:
    """Return the specification of a crawl of the sources in the file *path*, or in the store. Raises `ConfigError`."""
    _check(settings)  # before anything is saved
    sources = read_or_stored_sources(path, settings)
    sites = [source.limits for source in sources]
    hosts = {host for source in sources for host in (source.domain, *source.hosts)}
    pool = ExtractionPool(settings.getint("EXTRACTION_PROCESSES"), EXTRACTION_TIMEOUT_S, modules=EXTRACTION_MODULES)
    return crawl_of(
        name,
        sites,
        settings,
        Scope.of_hosts(hosts, [limits.site for limits in sites]),
        open=partial(open_news, sources, settings, pool),
        roots=tuple(known_feeds(sources)),
        leader_of=SourceLeaders(sources).of,
        gives={ARTICLES: True},
        ends_early=settings.getbool("NEWS_ONCE"),
        start_hint=BEFORE_ARTICLES,  # home pages and feeds come before all articles
    )


def _check(settings: SettingValues) -> None:
    """Raise `ConfigError` for mistakes that would otherwise be found only after the sources are stored."""
    chosen_rule(settings)
    if needs_of(settings.get("ORDER")) != ARTICLES:
        raise ConfigError(
            f"ORDER={settings.get('ORDER')} has no queues for articles, archives and polls of feeds, which news needs; "
            "use fit"
        )
    if settings.getfloat("FEED_MIN_SECONDS") > settings.getfloat("FEED_MAX_SECONDS"):
        raise ConfigError("FEED_MIN_SECONDS is more than FEED_MAX_SECONDS; give a smaller one")


def read_or_stored_sources(path: str | None, settings: SettingValues) -> list[Source]:
    """Return the sources of the file, which are stored, or those of the store. Raises `ConfigError`."""
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


def known_feeds(sources: Iterable[Source]) -> dict[str, str]:
    """Return the kinds of the feeds and sitemaps of *sources* by URL, feeds first."""
    sources = list(sources)
    feeds = {url: FEED for source in sources for url in source.feeds}
    return feeds | {url: SITEMAP for source in sources for url in source.sitemaps}


def open_news(
    sources: Sequence[Source], settings: SettingValues, pool: ExtractionPool, session: CrawlSession
) -> NewsRun:
    """Return the run of the crawl of *sources*; it knows no site before `load_sites`."""
    database, crawl_id, writer, frontier = session.database, session.row.id, session.writer, session.frontier
    reader = session.spec.reader
    assert reader is not None
    assert reader.scope is not None
    scope, forms = reader.scope.excluding(session.row.excluded), normalization(settings)

    def target(base: str, path: str = "") -> Target:
        return resolve(base, path, forms)

    def page_at(url: str, but: int) -> int | None:
        found = target(url)
        is_other = found.key != but and classifier.slot_of(found).queue == FIT  # a section may be called /print/
        return frontier.discovery.page_of(found) if is_other else None

    classifier = UrlClassifier(settings.get("NEWS_RULES"))
    homes = [source.limits.start_url or f"{source.limits.site}/" for source in sources]
    known = known_feeds(sources)
    feeds = FeedRegistry(
        target,
        homes=homes,
        known=known,
        removed=removed_feeds(database, scope.holds),
        left_out=scope.excluded,
        owners=SourceOwners((source.limits.site, source.hosts) for source in sources),
    )
    limits = PollLimits(settings.getfloat("FEED_MIN_SECONDS"), settings.getfloat("FEED_MAX_SECONDS"), DEADLINE_S)
    polls = Polls(settings.getfloat("FEED_POLLS_PER_SECOND"), limits, MOST_HUBS)
    articles = ArticlePolicy(
        classifier,
        Duplicates(database, writer),
        database,
        {source.domain: source.language for source in sources if source.language},
        page_at,
        earlier_documents(database, crawl_id),
    )
    given: dict[str, list[int]] = {}
    for one in map(target, known):
        given.setdefault(one.site, []).append(one.key)
    requeue = Requeue(classifier, frontier, writer, session.reader.run)
    announcements = Announcements(database, crawl_id, writer, frontier, polls)
    return NewsRun(
        NewsSites(database, writer, frontier, classifier, requeue, polls, feeds, announcements, given),
        articles,
        scope,
        NewsReader(
            replace(reader, scope=scope),
            classifier,
            content_rules(database),
            pool,
            session.reader.run,
        ),
        counted=partial(counted_page, crawl_id, settings.getint("NEWS_ITERATION_PAGES")),
        recheck_s=settings.getfloat("NEWS_RECHECK_HOURS") * 3600.0,
        in_thread=session.reader.run,
    )
