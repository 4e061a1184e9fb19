"""A news crawl at work: the queue slots of the links of a page, its next visit, and its document."""

from __future__ import annotations

import logging
from asyncio import sleep
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from crawlers.crawl.run import Run
from crawlers.errors import StoreError
from crawlers.frontier.values import Decision
from crawlers.items import State
from crawlers.missions.news.article.article_evidence import SURE
from crawlers.missions.news.news_items import ANNOUNCERS, DUPLICATE, HOME, NEW, PAGE, Announced, News, news_of
from crawlers.missions.news.plan.news_scores import ARCHIVE, BEFORE_ARTICLES, FIT, FRESH, QueueSlot
from crawlers.missions.news.plan.next_visits import NO_LINKS, LinkSlots, NextVisits
from crawlers.missions.news.stored.news_tables import PageLabelRow
from crawlers.reasons import sentence
from crawlers.store.writing.change_set import ChangeSet
from crawlers.urls.domains import rule_domain
from crawlers.urls.resolution import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from crawlers.frontier.values import IncomingLink, Lease
    from crawlers.items import Page, Target
    from crawlers.missions.news.article.news_reader import NewsReader
    from crawlers.missions.news.articles import ArticlePolicy, StoredArticle
    from crawlers.missions.news.feeds.announcements import StoredItems
    from crawlers.missions.news.news_sites import NewsSites
    from crawlers.missions.news.stored.iterations import CountedPage
    from crawlers.pages.response import WebResponse
    from crawlers.store.reader_threads import InThread
    from crawlers.store.sites.site_opening import SiteRow
    from crawlers.urls.scope import Scope

logger = logging.getLogger(__name__)

MAX_SITEMAPS = 20  # sitemaps of an index that are read before articles; the others are archives
MAX_NESTED = 2  # clicks from a root at which a sitemap may still name others; an index of indexes is against the rules
LATE = QueueSlot(ARCHIVE, BEFORE_ARTICLES.value)  # the slot of these
STEPS = 10  # of queueing pages anew in a second in which nothing is in flight


class NewsRun(Run):
    """Coordinates rules, polls, feeds, announcements and documents.

    *counted* returns the rows that count a page, see `counted_page`. An article is fetched once more after *recheck_s*
    seconds; 0: never.
    """

    def __init__(
        self,
        sites: NewsSites,
        articles: ArticlePolicy,
        scope: Scope,
        reader: NewsReader,
        *,
        counted: Callable[..., Sequence[CountedPage]],
        recheck_s: float,
        in_thread: InThread,
    ) -> None:
        super().__init__(None, in_thread)
        self._frontier = sites.frontier
        self.classifier = sites.classifier
        self._requeue = sites.requeue
        self._polls = sites.polls
        self._feeds = sites.feeds
        self._announcements = sites.announcements
        self.articles = articles
        self._counted = counted
        self._sites = sites
        self._scope = scope
        self._news_reader = reader
        self._visits = NextVisits(sites, recheck_s)
        self._stored: dict[int, _Stored] = {}  # what was looked up for the pages that are about to end, by lease

    async def close(self) -> None:
        await self._news_reader.pool.close()

    # Sites, and other workers -------------------------------------------------------------------------

    def load_sites(self, rows: Sequence[SiteRow]) -> Callable[[float], None]:
        return self._sites.load(rows)

    def close_sites(self, site_ids: Collection[int]) -> None:
        self._sites.close(site_ids)

    async def step(self, others: int, now: float) -> None:
        """Divide the polls per second among the workers; requeue pages if none is in flight whose end would do it."""
        self._polls.divide(1 + others)
        for _ in range(STEPS):
            if self._frontier.leases or not self.has_more:
                return
            await self._requeue.step(now)
            await sleep(0)  # others may run

    @property
    def has_more(self) -> bool:
        return self._requeue.has_more

    async def receive(self, links: Sequence[IncomingLink], now: float) -> Sequence[IncomingLink]:
        """Take up what the pages of other workers announce, and queue the other new URLs by the rules."""
        items = [Announced(link.target, link.hint[1], "") for link in links if link.hint and _is_announced(link)]
        read_items = self._announcements.look_up(None, items)
        self._announcements.read_again(await self._in_thread(read_items), now)
        return [link if _is_announced(link) or _is_feed(link) else self._queued(link) for link in links]

    def _queued(self, link: IncomingLink) -> IncomingLink:
        """Return a link with the slot of its target, if that is new."""
        is_new = link.message.target_id is None and self._frontier.discovery.new_targets(
            [link.target], link.message.level
        )
        return link._replace(hint=self.classifier.slot_of(link.target) if is_new else None)

    # Pages --------------------------------------------------------------------------------------------

    def reason_against(self, target: Target) -> str | None:
        """Return why a new URL must not be fetched."""
        return self._feeds.reason_against(target.key) or self.articles.reason_against(target)

    def reason_to_skip(self, lease: Lease) -> str | Callable[[], Callable[[], None]] | None:
        """Return why a leased URL must not be requested, or a query for it."""
        return self._feeds.reason_against(lease.key) or self.articles.reason_to_skip(lease)

    def found_by_robots(self, sitemaps: list[str]) -> list[str]:
        """Return the *sitemaps* on sites of the crawl, without removed ones."""
        return [url for url in sitemaps if self._scope.holds(site_of(url)) and self._feeds.add(url)]

    def kind(self, lease: Lease) -> str:
        """Return the kind of poll of a lease; "" if it is none."""
        return self._visits.kind(lease)

    def is_in_feed(self, lease: Lease) -> bool:
        """Return whether a feed announced the leased URL in this run."""
        return lease.key in self._announcements

    def is_announced(self, lease: Lease) -> bool:
        """Return whether the leased URL was announced, or appeared on a polled page."""
        if lease.level == 0:
            return False
        if lease.is_revisit and not self._polls.kind(lease.id):
            return True  # fetched once more for that
        return self._announcements.led_to(lease)

    async def read(self, response: WebResponse, lease: Lease, now: float) -> Page:
        announced, in_feed = self.is_announced(lease), self.is_in_feed(lease)
        first = None if lease.queue == ARCHIVE else self._polls.rest(lease.id)  # an older sitemap is read once
        about = (lease.id, lease.level, self.kind(lease), announced, in_feed, now)
        page = await self._news_reader.read(response, *about, first)
        await self.prepare(lease, page, now)
        return page

    async def prepare(self, lease: Lease, page: Page, now: float) -> None:
        """Look up in the store what `decide` will need for *page*; without it `decide` waits for the store itself.

        Some pages whose rules have changed are requeued.
        """
        read_article = self.articles.look_up(lease, page)
        items = self._announced_by(lease, page)
        read_items = self._announcements.look_up(_feed_id(lease), items) if items else None
        news = news_of(page)
        is_unowned = news is not None and news.kind in ANNOUNCERS and self._feeds.is_unowned(page.url, lease.key)

        def read() -> _Stored:
            named_by = self._sites.sites_that_link(lease.id) if is_unowned else ()
            return _Stored(read_article and read_article(), read_items and read_items(), named_by)

        with suppress(StoreError):  # `decide` meets it again, and ends the crawl
            await self._requeue.step(now)
            if is_unowned or read_article is not None or read_items is not None:
                self._stored[lease.id] = await self._in_thread(read)

    def decide(self, lease: Lease, page: Page, now: float) -> Decision:
        """Return what follows from a page; the first line that applies decides.

        | page                                 | its links             | its label | its next visit                  |
        |--------------------------------------|-----------------------|-----------|---------------------------------|
        | redirects for good                   | its target, if polled | none      | none                            |
        | was announced while it was in flight | by rules and model    | evidence  | now                             |
        | was refused or failed                | none                  | none      | if polled, after a failure      |
        | is unchanged                         | none                  | none      | if polled, by its plan          |
        | is a feed or a sitemap of news       | its items, as fresh   | none      | by its plan                     |
        | is a new document                    | by rules and model    | evidence  | after `NEWS_RECHECK_HOURS`      |
        | is no article                        | by rules and model    | evidence  | if it shows new ones, by a plan |

        Feeds that a page names come before all articles. Pages that are read again are no labels.
        """
        article, items, named_by = self._stored.pop(lease.id, _Stored(None, None))
        changes = ChangeSet()
        if page.moved_to is not None and page.moved_to.key == lease.key:
            changes.add(*self._counted(page, now, is_revisit=lease.is_revisit))
            return Decision(page, changes=changes)  # the frontier requests that variant instead
        self._requeue.add_site(lease.site_id, site_of(lease.url))
        news = news_of(page) or News(self.kind(lease))
        items = items or self._announcements.look_up(_feed_id(lease), self._announced_by(lease, page))()
        is_read = page.state is State.DONE and not page.is_unchanged
        has_links = is_read or self._is_inaccessible_home(lease, page)  # whose feeds may be accessible
        if has_links:
            page, news = self._with_feeds(lease, page, news, is_read=is_read)
        if is_read:
            page, news = self._judged(lease, page, news, changes, now, article)
        found = self._slots(lease, page, news, items.new, now) if has_links else NO_LINKS
        page, slots = replace(page, facts=news), found.slots
        is_poll, revisit_at = False, None
        if has_moved := self._visits.has_moved(lease, page):
            slots = self._visits.follow_redirect(lease, page, news, changes, now)
        elif is_read and self._visits.must_be_read_again(lease, news):
            page = replace(page, etag="", last_modified="")  # so that the next response is complete
            is_poll, revisit_at = True, now
        else:
            is_poll, revisit_at = self._visits.next(lease, page, news, items.new, found, changes, now)
        if self._polls.rest(lease.id):
            page = replace(page, etag="", last_modified="")  # so that the next response is complete
        if has_moved or (is_read and news.announces):
            self._announcements.read_again(items, now)
        is_announcer = news.kind in ANNOUNCERS
        if page.state is State.DONE and is_announcer and (news.announces or lease.queue != ARCHIVE):
            # An older sitemap is read once.
            self._feeds.keep(page, lease.key, news.kind, changes, named_by)
        self._warn_of_feed(lease, page, news)
        self._polls.warn(now)
        changes.add(*self._counted(page, now, is_revisit=lease.is_revisit))
        return Decision(
            page,
            slots,
            is_reported=is_announcer,  # by the warnings above
            revisit_at=revisit_at,
            changes=changes,
            records_changes=not is_poll,
        )

    def _judged(
        self, lease: Lease, page: Page, news: News, changes: ChangeSet, now: float, stored: StoredArticle | None
    ) -> tuple[Page, News]:
        """Return a page that was read and its *news* with the outcome of its article; learn from it."""
        news = self.articles.judge(lease, page, news, changes, now, stored)
        page = replace(page, reason=page.reason or news.reason)
        if news.outcome == NEW and (feeds := self._feeds.usual(page.url)):
            page, news = _with_links(page, feeds), replace(news, feeds=feeds)
        if not lease.is_revisit and news.kind in ("", PAGE, HOME):
            odds = self._label(lease, page, news, changes, now)
            changes.add(PageLabelRow(lease.id, lease.site_id, odds, now))
        return page, news

    def _announced_by(self, lease: Lease, page: Page) -> Sequence[Announced]:
        """Return the items of a feed; or the target of an announced page that redirects."""
        if page.state is State.MOVED and page.moved_to is not None and self.is_announced(lease):
            return [Announced(page.moved_to, None, "")]
        news = news_of(page)
        return news.items if news is not None else ()

    def _warn_of_feed(self, lease: Lease, page: Page, news: News) -> None:
        """Warn of a known feed whose first poll fails; later failures raise alarms."""
        kind, problem = self._feeds.kind(lease.key), news.problem if page.state is State.DONE else page.reason
        if kind and problem and not lease.is_revisit and page.state is not State.MOVED:
            owner = self._feeds.owner(page.url)
            logger.warning("%s %s%s: %s", kind, page.url, f" of {owner}" if owner else "", sentence(problem))

    def _is_inaccessible_home(self, lease: Lease, page: Page) -> bool:
        """Whether the first request for a start URL got a response that is not the page."""
        is_inaccessible = page.state in (State.FAILED, State.REFUSED) and page.status > 0
        return is_inaccessible and not lease.is_revisit and self._feeds.is_start_page(lease.key)

    def _with_feeds(self, lease: Lease, page: Page, news: News, *, is_read: bool) -> tuple[Page, News]:
        """Return *page* and *news* with the feeds to fetch, which are also links of the page."""
        was_read = lease.previous is not None and lease.previous.state == State.DONE
        if self._feeds.is_start_page(lease.key) and news.kind in ("", PAGE, HOME) and not was_read:
            feeds = self._feeds.of_home(page.url, news.feeds, is_read=is_read)
        else:
            nested = news.kind in ANNOUNCERS and lease.level > MAX_NESTED
            feeds = [] if nested else self._feeds.requestable(news.feeds)
        return _with_links(page, feeds) if feeds else page, replace(news, feeds=feeds)

    def _slots(self, lease: Lease, page: Page, news: News, new: Sequence[Announced], now: float) -> LinkSlots:
        """Return the queue slots of the page's new and announced links."""
        announced = {item.target.key: QueueSlot(FRESH, min(item.published_at or now, now)) for item in new}
        announced.update(
            (target.key, BEFORE_ARTICLES if n < MAX_SITEMAPS else LATE) for n, target in enumerate(news.feeds)
        )
        slots: dict[int, QueueSlot] = {}
        links = (target for target, _ in (*page.links, *page.cross_site_links))
        for target in self._frontier.discovery.new_targets(links, lease.level + 1):
            slot = announced.get(target.key) or self.classifier.slot_of(target)
            if lease.is_revisit and slot.queue == FIT:
                slot = QueueSlot(FRESH, now)  # a link that the page did not show before has just appeared
            slots[target.key] = slot
        fits = sum(slot.queue in (FIT, FRESH) for slot in slots.values())
        return LinkSlots({**announced, **slots}, len(slots), fits)

    def _label(self, lease: Lease, page: Page, news: News, changes: ChangeSet, now: float) -> float:
        """Learn from what a page says about its URL; return the log-odds that it is an article."""
        site, odds = site_of(page.url), news.odds
        if news.outcome == DUPLICATE and lease.key not in self._announcements:
            odds = min(odds, SURE)  # its URL may be that of another form of the article, which is not worth a request
        if self.classifier.label(site, page.url, odds, changes, now):
            self._requeue.changed(rule_domain(site), changes)
        return odds


def _with_links(page: Page, feeds: Sequence[Target]) -> Page:
    """Return *page* with links to *feeds*."""
    here = site_of(page.url)
    known = {target.key for target, _ in (*page.links, *page.cross_site_links)}
    added = [(target, 1) for target in feeds if target.key not in known]
    inside = [link for link in added if link[0].site == here]
    across = [link for link in added if link[0].site != here]
    return replace(page, links=[*page.links, *inside], cross_site_links=[*page.cross_site_links, *across])


class _Stored(NamedTuple):
    """What was looked up for a page."""

    article: StoredArticle | None
    items: StoredItems | None
    named_by: Sequence[str] = ()  # sites that link to it, if it is a feed on a site of no source


def _is_feed(link: IncomingLink) -> bool:
    """Whether there may be a feed or sitemap."""
    return link.hint is not None and QueueSlot(*link.hint).value == BEFORE_ARTICLES.value


def _is_announced(link: IncomingLink) -> bool:
    """Whether a feed announced it."""
    return link.hint is not None and QueueSlot(*link.hint).queue == FRESH and not _is_feed(link)


def _feed_id(lease: Lease) -> int | None:
    """Return the number of a page whose items may be known; None if it was never read before."""
    return lease.id if lease.is_revisit else None
