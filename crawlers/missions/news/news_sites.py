"""What a news crawl knows of its sites: read from the store when they are opened, forgotten when they are given up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.batches import batches
from crawlers.items import GONE, REVISIT, State
from crawlers.missions.news.stored.news_tables import PollRow, news_score, poll
from crawlers.missions.news.urls.requeue import queued_sites
from crawlers.missions.news.urls.stored_rules import labels_of, rules_by_domain
from crawlers.store.schema.tables import link, page, site
from crawlers.store.streaming import among
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
LINKS = 100  # to a feed, which are looked at


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
            labels = labels_of(connection, sites)
        polls = polls_of(database, sites)
        queued = queued_sites(database, sites)
        gone = []
        for some in batches((row for row in rows if row.site in self.given), SITES_AT_ONCE):
            keys = [key for row in some for key in self.given[row.site]]
            gone += gone_pages(database, [row.id for row in some], keys)

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
        return sites_that_link(self.database, page_id)


def polls_of(database: Database, sites: Collection[int]) -> list[PollRow]:
    """Return the scheduled pages of *sites*, given by number."""
    statement = (
        select(*poll.c)
        .join(news_score, news_score.c.page_id == poll.c.page_id)
        .where(news_score.c.queue == REVISIT, among(poll.c.site_id, sites))
        .order_by(poll.c.page_id)
    )
    return [PollRow(*row) for row in database.rows(statement)]


def gone_pages(
    database: Database, sites: Collection[int], keys: Collection[int]
) -> list[tuple[str, int, str | None, float | None]]:
    """Return those pages with *keys* of *sites* that are not to be fetched again, nor moved.

    Of each: its site, its number, why it has none, and when it was fetched. SQLite looks each key up on each site.
    """
    columns = (site.c.site, page.c.id, page.c.reason, page.c.fetched_at)
    gone = select(*columns).join(page, page.c.site_id == site.c.id).join(news_score, news_score.c.page_id == page.c.id)
    is_gone = (news_score.c.queue == GONE, page.c.state != int(State.MOVED))
    wanted = (among(page.c.site_id, sites), among(page.c.key, keys))
    return [tuple(row) for row in database.rows(gone.where(*wanted, *is_gone).order_by(page.c.id))]


def sites_that_link(database: Database, page_id: int) -> list[str]:
    """Return the sites with pages that link to a page, the first link first."""
    statement = (
        select(site.c.site)
        .join(page, page.c.site_id == site.c.id)
        .join(link, link.c.source_id == page.c.id)
        .where(link.c.target_id == page_id)
        .order_by(link.c.source_id)
    )
    return list(dict.fromkeys(database.scalars(statement.limit(LINKS))))
