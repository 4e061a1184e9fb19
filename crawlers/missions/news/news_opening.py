"""Creates the policy of a news crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.missions.news.articles import ArticlePolicy
from crawlers.missions.news.dedup.document_copies import Duplicates
from crawlers.missions.news.feeds.announcements import Announcements
from crawlers.missions.news.feeds.feed_registry import FeedRegistry
from crawlers.missions.news.feeds.sources import SourceOwners
from crawlers.missions.news.news_items import FEED, SITEMAP
from crawlers.missions.news.news_policy import NewsPolicy
from crawlers.missions.news.news_sites import NewsParts, NewsSites, SeedUrls
from crawlers.missions.news.plan.poll_plan import PollPlan
from crawlers.missions.news.plan.polls import Polls
from crawlers.missions.news.stored.documents import has_earlier_documents
from crawlers.missions.news.stored.iterations import Iterations
from crawlers.missions.news.stored.stored_polls import removed_feeds
from crawlers.missions.news.urls import stored_rules
from crawlers.missions.news.urls.rejudging import Rejudging
from crawlers.missions.news.urls.requeue import Requeue
from crawlers.missions.news.urls.url_classifier import LEARNT_RULES, MANUAL_RULES, NO_RULES, UrlClassifier
from crawlers.missions.news.urls.url_prior import UrlPrior
from crawlers.ranking.link_prior import OF_URLS, shipped_weights
from crawlers.urls.resolution import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlers.crawl.session import CrawlSession
    from crawlers.items import Target
    from crawlers.missions.news.dedup.document_copies import DocumentKeys
    from crawlers.missions.news.feeds.sources import Source
    from crawlers.missions.news.news_settings import NewsOptions
    from crawlers.missions.news.urls.rule_learning import Call
    from crawlers.urls.scope import Scope

MOST_HUBS = 20  # pages of a site that are polled besides its feeds: front pages of sections


def known_feeds(sources: Iterable[Source]) -> dict[str, str]:
    """Return the kinds of the feeds and sitemaps of *sources* by URL, feeds first."""
    sources = list(sources)
    feeds = {url: FEED for source in sources for url in source.feeds}
    return feeds | {url: SITEMAP for source in sources for url in source.sitemaps}


def open_news_policy(
    session: CrawlSession,
    keys: DocumentKeys,
    sources: Sequence[Source],
    scope: Scope,
    options: NewsOptions,
    call: Call,
) -> NewsPolicy:
    """Return the policy of the crawl of *sources*, within *scope*; it knows no site before `load_sites`.

    *call* runs a function in another process.
    """
    database, crawl_id, writer, frontier = session.database, session.row.id, session.writer, session.frontier

    def target(base: str, path: str = "") -> Target:
        return resolve(base, path, options.normalization)

    classifier = UrlClassifier(
        stored_rules.rules_by_domain(database, only_manual=options.rules == MANUAL_RULES),
        learns=options.rules == LEARNT_RULES,
        applies=options.rules != NO_RULES,
        fit_factor=options.fit_factor,
        else_factor=options.else_factor,
        prior=UrlPrior(shipped_weights(OF_URLS)) if options.rules == LEARNT_RULES else None,
    )
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
    polls = Polls(PollPlan(options.polls_per_s, options.poll_limits), MOST_HUBS)
    parts = NewsParts(
        frontier,
        classifier,
        Requeue(classifier, frontier, Rejudging(classifier, frontier, database, writer, options.explore_share), writer),
        polls,
        feeds,
        Announcements(database, crawl_id, writer, frontier, polls),
    )
    seeds = SeedUrls(_by_site(map(target, homes)), _by_site(map(target, known)))
    return NewsPolicy(
        parts,
        ArticlePolicy(
            classifier,
            Duplicates(database, keys, writer),
            database,
            {source.domain: source.language for source in sources if source.language},
            has_earlier=has_earlier_documents(database, crawl_id),
        ),
        Iterations(crawl_id, options.iteration_pages),
        NewsSites(database, crawl_id, writer, parts, seeds),
        scope,
        recheck_s=options.recheck_s,
        call=call,
    )


def _by_site(targets: Iterable[Target]) -> dict[str, list[int]]:
    """Return the keys of *targets* by site."""
    keys: dict[str, list[int]] = {}
    for one in targets:
        keys.setdefault(one.site, []).append(one.key)
    return keys
