"""Creates the policy of a news crawl from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.news.poll_plan import PollPlan
from crawlers.algorithms.news.sources import SourceOwners
from crawlers.algorithms.news.url_classifier import UrlClassifier
from crawlers.algorithms.urls.resolution import resolve, site_of
from crawlers.crawl.news.announcements import Announcements
from crawlers.crawl.news.articles import ArticlePolicy
from crawlers.crawl.news.feed_registry import FeedRegistry
from crawlers.crawl.news.news_policy import NewsPolicy
from crawlers.crawl.news.polls import Polls
from crawlers.crawl.news.requeue import Requeue
from crawlers.items import FEED, SITEMAP
from crawlers.storage.news import stored_rules
from crawlers.storage.news.document_copies import Duplicates
from crawlers.storage.news.documents import has_earlier_documents
from crawlers.storage.news.iterations import Iterations
from crawlers.storage.news.stored_polls import (
    gone_pages,
    included_sites,
    labels_of,
    moved_pages,
    polls_of,
    removed_feeds,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crawlers.algorithms.news.sources import Source
    from crawlers.algorithms.urls.scope import Scope
    from crawlers.frontier.protocols import CrawlFrontier
    from crawlers.inputs.news_settings import NewsOptions
    from crawlers.storage.database import Database
    from crawlers.storage.news.document_keys import DocumentKeys
    from crawlers.storage.news.stored_polls import QueuedSite
    from crawlers.storage.writer import Writer


def known_feeds(sources: Iterable[Source]) -> dict[str, str]:
    """Return the kinds of the feeds and sitemaps of *sources* by URL, feeds first."""
    sources = list(sources)
    feeds = {url: FEED for source in sources for url in source.feeds}
    return feeds | {url: SITEMAP for source in sources for url in source.sitemaps}


def open_news_policy(
    database: Database,
    crawl_id: int,
    writer: Writer,
    frontier: CrawlFrontier,
    keys: DocumentKeys,
    sources: Sequence[Source],
    scope: Scope,
    options: NewsOptions,
    delays: Mapping[int, float],
    now: float,
) -> NewsPolicy:
    """Return the policy of the crawl *crawl_id* of *sources*, within *scope*; *delays* are seconds by site id.

    Feeds that were removed and are wanted again are fetched again.
    """
    classifier = _classifier(database, crawl_id, options)
    polls = Polls(PollPlan(options.polls_per_s, options.poll_limits), options.most_pages)
    for site_id, delay_s in delays.items():
        polls.set_delay(site_id, delay_s)
    polls.recall(polls_of(database, crawl_id), now)
    sites = included_sites(database, crawl_id)
    requeue = Requeue(classifier, frontier)
    writer.submit(requeue.recall(sites))
    announcements = Announcements(database, crawl_id, writer, frontier)
    announcements.recall(now)
    return NewsPolicy(
        frontier,
        classifier,
        requeue,
        polls,
        _feeds(database, frontier, sources, sites, scope, options, now),
        announcements,
        ArticlePolicy(
            classifier,
            Duplicates(database, keys, writer, options.duplicate_distance),
            database,
            {source.domain: source.language for source in sources if source.language},
            has_earlier=has_earlier_documents(database, crawl_id),
        ),
        Iterations(database, crawl_id, options.iteration_pages, options.iteration_s),
        scope,
        recheck_s=options.recheck_s,
    )


def _classifier(database: Database, crawl_id: int, options: NewsOptions) -> UrlClassifier:
    classifier = UrlClassifier(
        stored_rules.rules_by_domain(database),
        learns=options.learns_rules,
        applies=options.uses_rules,
        fit_factor=options.fit_factor,
        else_factor=options.else_factor,
    )
    classifier.recall(labels_of(database, crawl_id))
    return classifier


def _feeds(
    database: Database,
    frontier: CrawlFrontier,
    sources: Sequence[Source],
    sites: Sequence[QueuedSite],
    scope: Scope,
    options: NewsOptions,
    now: float,
) -> FeedRegistry:
    homes = [source.limits.start_url or f"{source.limits.site}/" for source in sources]
    known = known_feeds(sources)
    feeds = FeedRegistry(
        lambda base, path: resolve(base, path, options.normalization),
        homes=homes,
        known=known,
        removed=removed_feeds(database, scope.holds),
        left_out=scope.excluded,
        owners=SourceOwners((source.limits.site, source.hosts) for source in sources),
    )
    numbers = {site.name: site.id for site in sites}
    steps = options.normalization
    starts, roots = (
        [(numbers[site_of(url)], resolve(url, "", steps).key) for url in urls if site_of(url) in numbers]
        for urls in (homes, known)
    )
    for key, target in moved_pages(database, [*starts, *roots]):
        feeds.moved(key, target)
    for site, over in gone_pages(database, roots):
        frontier.fetch_again(site, [over], now)  # a feed that was removed, and is wanted again
    return feeds
