"""What a news crawl knows of its sites: read from the store when they are opened, forgotten when they are given up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlers.batches import batches
from crawlers.missions.news.stored import stored_polls
from crawlers.missions.news.urls.stored_rules import rules_by_domain
from crawlers.urls.addresses import parents
from crawlers.urls.domains import rule_domain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from crawlers.frontier.frontier import Frontier
    from crawlers.missions.news.feeds.announcements import Announcements
    from crawlers.missions.news.feeds.feed_registry import FeedRegistry
    from crawlers.missions.news.plan.polls import Polls
    from crawlers.missions.news.urls.requeue import Requeue
    from crawlers.missions.news.urls.url_classifier import UrlClassifier
    from crawlers.store.database import Database
    from crawlers.store.sites.site_opening import SiteRow
    from crawlers.store.writing.writer import Writer


SITES_AT_ONCE = 100  # whose feeds are looked for together


@dataclass(frozen=True, slots=True)
class NewsSites:
    """The open sites of a crawl, and what knows them. All sites of a source are opened together, or new ones later."""

    database: Database
    writer: Writer
    frontier: Frontier
    classifier: UrlClassifier
    requeue: Requeue
    polls: Polls
    feeds: FeedRegistry
    announcements: Announcements
    given: Mapping[str, Sequence[int]]  # the keys of the feeds and sitemaps that the user named, by site

    def load(self, rows: Sequence[SiteRow]) -> Callable[[float], None]:
        """Read what the store knows of sites, in any thread; return the function that takes it up at a time."""
        database, sites = self.database, [row.id for row in rows]
        domains = {domain for row in rows for domain in parents(rule_domain(row.site))}
        rules = rules_by_domain(database, sorted(domains))
        with database.read() as connection:
            labels = stored_polls.labels_of(connection, sites)
        polls = stored_polls.polls_of(database, sites)
        queued = stored_polls.queued_sites(database, sites)
        gone = []
        for some in batches((row for row in rows if row.site in self.given), SITES_AT_ONCE):
            keys = [key for row in some for key in self.given[row.site]]
            gone += stored_polls.gone_pages(database, [row.id for row in some], keys)

        def take_up(now: float) -> None:
            for domain in domains:
                if not self.requeue.is_open(domain):  # of the others, this worker knows later ones
                    self.classifier.replace(domain, rules.get(domain, ()))
            for row in rows:
                self.polls.set_delay(row.id, row.delay_s)
            self.classifier.recall(labels)
            self.polls.recall(polls, now)
            self.writer.submit(self.requeue.recall(queued))
            for name, page_id, reason, fetched_at in gone:  # feeds that were removed, or no feeds until now
                self.frontier.fetch_again(name, [(page_id, reason, fetched_at)], now)

        return take_up

    def close(self, site_ids: Collection[int]) -> None:
        """Forget sites that another worker may open from now on."""
        for site_id in site_ids:
            self.polls.forget_site(site_id)
            if (domain := self.requeue.forget(site_id)) is not None:
                self.classifier.forget_labels(domain)

    def sites_that_link(self, page_id: int) -> list[str]:
        """Return the sites with pages that link to a page; may be called in any thread."""
        self.writer.flush()  # the page that named it may have been read a moment ago
        return stored_polls.sites_that_link(self.database, page_id)
