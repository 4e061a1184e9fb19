"""What a news crawl decides of each page before it is stored: where its links wait, whether it comes back, whether
it is a document. The scheduler asks before a lease ends, whatever came of it."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from crawlers.algorithms.news.article_labels import DETOUR
from crawlers.algorithms.ranking.news_scores import ARCHIVE, FIT, FRESH, SOON
from crawlers.algorithms.urls.domains import rule_domain
from crawlers.algorithms.urls.resolution import site_of
from crawlers.crawl.policy import CrawlPolicy
from crawlers.errors import BadUrl
from crawlers.extraction.feeds.feed_discovery import sitemaps_of_robots
from crawlers.items import ARTICLE, FEED, HOME, NEW, PAGE, SITEMAP, News, QueueSlot, QueueSlots, State
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.schema.news_tables import FeedItemRow, PageLabelRow, PollRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.algorithms.news.url_classifier import UrlClassifier
    from crawlers.algorithms.urls.scope import Scope
    from crawlers.crawl.news.announcements import Announcements
    from crawlers.crawl.news.articles import ArticlePolicy
    from crawlers.crawl.news.feed_registry import FeedRegistry
    from crawlers.crawl.news.polls import Polls
    from crawlers.crawl.news.requeue import Requeue
    from crawlers.frontier.protocols import Lease
    from crawlers.items import Announced, Page, Target
    from crawlers.storage.news.iterations import Iterations

logger = logging.getLogger(__name__)

_FIGURES = re.compile(r"\d[\d.,]*")
LISTS = (FEED, SITEMAP)

PERMANENT = frozenset({301, 308})  # redirects; after others a page may be there again
MOST_LISTS = 20  # sitemaps of an index that are read before all articles; the others are archives
MOST_NESTED = 2  # clicks from a root at which a sitemap may still name others; an index of indexes is against the rules
LATE = QueueSlot(ARCHIVE, SOON.value)  # where those wait
LOOK_S = 60.0  # between two looks whether there is room for all polls
SAY_S = 3600.0  # after which it is said again
LEAST_NEW = 2  # articles that a page must show to be worth another visit


class NewsPolicy(CrawlPolicy):
    """Asks for each page those who know of one thing: rules, polls, places of feeds, announcements, articles.

    *recheck_s*: after so long an article is fetched once more; 0: never.
    """

    def __init__(
        self,
        classifier: UrlClassifier,
        requeue: Requeue,
        polls: Polls,
        feeds: FeedRegistry,
        announcements: Announcements,
        articles: ArticlePolicy,
        iterations: Iterations,
        scope: Scope,
        recheck_s: float,
    ) -> None:
        self.classifier = classifier
        self._requeue = requeue
        self._polls = polls
        self._feeds = feeds
        self._announcements = announcements
        self.articles = articles
        self._iterations = iterations
        self._scope = scope
        self._recheck_s = recheck_s
        self._look_at = self._say_at = 0.0  # when it is to be seen, and said, next whether the polls have room
        self._said = ""

    def reason_against(self, target: Target) -> str | None:
        """Why a new URL is not to be fetched."""
        return self._feeds.reason_against(target.key) or self.articles.reason_against(target)

    def reason_to_skip(self, lease: Lease) -> str | None:
        """Why a leased URL is not to be asked for."""
        return self._feeds.reason_against(lease.key)

    def found_by_robots(self, text: str) -> list[str]:
        """The sitemaps that a robots.txt names, of sites of the crawl, and that nobody removed."""
        return [url for url in sitemaps_of_robots(text) if self._is_ours(url) and self._feeds.found(url)]

    def _is_ours(self, url: str) -> bool:
        try:
            return self._scope.holds(site_of(url))
        except BadUrl:
            return False

    def kind(self, lease: Lease) -> str:
        """What sort of poll a lease is; "" for none."""
        return self._polls.kind(lease.id) or self._feeds.kind(lease.key)

    def is_in_feed(self, lease: Lease) -> bool:
        """Whether a feed announced the leased URL in this run."""
        return lease.key in self._announcements

    def is_announced(self, lease: Lease) -> bool:
        """Whether the leased URL was announced, or appeared on a page that comes back."""
        if lease.level == 0:
            return False
        if lease.is_revisit and not self._polls.kind(lease.id):
            return True  # fetched once more for that
        return self._announcements.led_to(lease)

    def ending(self, lease: Lease, page: Page, now: float) -> None:
        """Complete *page*, whose lease is about to end."""
        news = page.news = page.news or News(self.kind(lease))
        changes = page.rows = ChangeSet()
        self._requeue.met(lease.site_id, site_of(lease.url))
        self._requeue.step(changes, now)
        new = self._announcements.new_of(lease, news.items)
        if page.state is State.DONE and not page.is_unchanged:
            self._place_links(lease, page, news, new, now)
            self.articles.judge(lease, page, changes, now)
            if not lease.is_revisit and news.kind in ("", PAGE, HOME):
                self._label(lease, page, news, changes, now)
            page.reason = page.reason or news.reason
            if not news.outcome or lease.is_revisit:
                self._announcements.was_read(lease.key)
        elif self._is_closed_home(lease, page):
            self._place_links(lease, page, news, new, now)  # the feeds may be open
        self._plan(lease, page, news, new, changes, now)
        if page.state is State.DONE and news.kind in LISTS and (news.announces or lease.group != ARCHIVE):
            self._feeds.keep(page, lease.key, news.kind, changes)  # unless it is an older sitemap, which is read once
        self._warn_of_feed(lease, page, news)
        self._warn_of_polls(now)
        self._iterations.count(page, changes, now, is_revisit=lease.is_revisit)

    def _warn_of_feed(self, lease: Lease, page: Page, news: News) -> None:
        """Say that a known feed can't be read at its first poll; later ones are for alarms."""
        kind, problem = self._feeds.kind(lease.key), news.problem if page.state is State.DONE else page.reason
        if kind and problem and not lease.is_revisit and page.state is not State.MOVED:
            logger.warning("%s %s of %s: %s", kind, page.url, self._feeds.owner(page.url, lease.key), problem)

    def _warn_of_polls(self, now: float) -> None:
        """Say what is too little for all polls, when it changes, and each hour."""
        if now < self._look_at:
            return
        self._look_at = now + LOOK_S
        warning = self._polls.warning
        said = _FIGURES.sub("", warning)  # which change all the time
        if said != self._said or now >= self._say_at:
            self._said, self._say_at = said, now + SAY_S
            if warning:
                logger.warning("%s", warning)

    def _is_closed_home(self, lease: Lease, page: Page) -> bool:
        """Whether the server answers for the first time, but not with its start page."""
        is_closed = page.state in (State.FAILED, State.REFUSED) and page.status > 0
        return is_closed and not lease.is_revisit and self._feeds.is_home(lease.key)

    def _place_links(self, lease: Lease, page: Page, news: News, new: list[Announced], now: float) -> None:
        place_of = self.classifier.slot_of
        if lease.is_revisit:  # what it did not show before has just appeared

            def of_new(target: Target) -> QueueSlot:
                place = place_of(target)
                return QueueSlot(FRESH, now) if place.queue == FIT else place
        else:
            of_new = place_of
        was_had = lease.previous is not None and lease.previous.state == State.DONE
        if self._feeds.is_home(lease.key) and news.kind in ("", PAGE, HOME) and not was_had:
            news.feeds = self._feeds.of_home(page.url, news.feeds)
        else:
            nested = news.kind in LISTS and lease.level > MOST_NESTED
            news.feeds = [] if nested else self._feeds.wanted(page.url, news.feeds)
        announced = {item.target.key: QueueSlot(FRESH, min(item.published_at or now, now)) for item in new}
        announced.update((target.key, SOON if n < MOST_LISTS else LATE) for n, target in enumerate(news.feeds))
        if news.feeds:  # of few pages: the others need no look at all their links
            here = site_of(page.url)
            known = {target.key for target, _ in (*page.links, *page.cross_site_links)}
            for target in news.feeds:
                if target.key not in known:
                    (page.links if target.site == here else page.cross_site_links).append((target, 1))
        page.places = _Counting(of_new, announced)

    def _label(self, lease: Lease, page: Page, news: News, changes: ChangeSet, now: float) -> None:
        site = site_of(page.url)
        odds = DETOUR if news.is_detour and lease.key not in self._announcements else news.odds
        if odds:
            changes.add(PageLabelRow(lease.id, lease.site_id, odds))
            self.classifier.label(site, page.url, odds)
        if self.classifier.learn(site, now):
            self._requeue.changed(rule_domain(site), changes)

    def _plan(self, lease: Lease, page: Page, news: News, new: list[Announced], changes: ChangeSet, now: float) -> None:
        """Say when the page comes back; asked when its links are known."""
        polls, here = self._polls, (lease.id, lease.site_id)
        is_home = self._feeds.is_home(lease.key)
        is_brief = bool(polls.kind(lease.id)) and page.status not in PERMANENT  # a pause for repair, or for consent
        is_loop = page.moved_to is not None and page.moved_to.key == lease.key and lease.level == 0
        if page.state is State.REJECTED or (page.state is State.MOVED and not (is_brief or is_loop)):
            kind = self.kind(lease) or (HOME if is_home else "")
            is_wanted = kind in (HOME, *LISTS) and self._feeds.reason_against(lease.key) is None
            if is_wanted and page.state is State.REJECTED:  # robots.txt may be read later, or allow it
                page.again = lambda: polls.failed(*here, kind, now, changes, page.reason)
                return
            if is_wanted and kind in LISTS:
                polls.failed(*here, kind, now, changes, _went(page))  # for people to see
            polls.forget(lease.id)
            if page.moved_to is not None and (news.kind or lease.level == 0):
                self._feeds.moved(lease.key, page.moved_to.key)
                page.places = QueueSlots(lambda _: SOON, {page.moved_to.key: SOON})
        elif page.state is not State.DONE:
            is_root = lease.level == 0 and page.state in (State.FAILED, State.REFUSED)  # later it may be there
            if polls.kind(lease.id) or is_root or is_loop:
                kind = self.kind(lease) or (HOME if is_home else FEED)
                page.again = lambda: polls.failed(*here, kind, now, changes, page.reason or _went(page))
        elif page.is_unchanged:
            if polls.kind(lease.id):
                page.again = lambda: polls.ended(*here, polls.kind(lease.id), now, changes, new_items=0, shown=0)
        elif news.announces:
            changes.add(*(FeedItemRow(lease.id, i.target.key, i.published_at, now, i.title) for i in new))
            self._announcements.read_again(new, now)
            page.again = lambda: polls.ended(
                *here,
                news.kind,
                now,
                changes,
                new_items=len(new),
                shown=len(news.items),
                span_s=news.span_s,
                problem=news.problem,
            )
        elif news.outcome == NEW and self._recheck_s and not lease.is_revisit:
            due_at = now + self._recheck_s
            changes.add(PollRow(*here, ARTICLE, due_at, now, 0, 0, 0, None, "[]", None))
            page.again = lambda: due_at
        elif not (news.fits or news.outcome or lease.is_revisit) and lease.key in self._announcements:
            page.etag = page.last_modified = ""  # all of it is wanted
            page.again = lambda: now  # announced while it was read: once more, with that in mind
        elif not news.fits or polls.kind(lease.id) or lease.level == 0:
            page.again = lambda: self._hub(lease, page, news, changes, now)

    def _hub(self, lease: Lease, page: Page, news: News, changes: ChangeSet, now: float) -> float | None:
        places = page.places
        assert isinstance(places, _Counting)
        is_poll = bool(self._polls.kind(lease.id))
        found = places.fits if self.classifier.has_rules(site_of(page.url)) else places.new
        if lease.group == ARCHIVE and not is_poll:
            return None  # the older sitemaps of an index, once
        is_home = lease.level == 0 or news.kind == SITEMAP
        is_near = places.fits or lease.level == 1  # without rules, the sections
        is_worth = found >= LEAST_NEW and is_near and self._polls.has_room(lease.site_id)
        if not (is_poll or is_home) and (not is_worth or news.outcome == NEW):
            return None
        kind, new = news.kind or (HOME if is_home else PAGE), found if is_poll else 0
        return self._polls.ended(
            lease.id, lease.site_id, kind, now, changes, new_items=new, shown=len(page.links), problem=news.problem
        )


def _went(page: Page) -> str:
    return f"redirects to {page.moved_to.url}" if page.moved_to is not None else "no answer"


class _Counting(QueueSlots):
    """Places that count how many URLs were new, and how many of them fit."""

    def __init__(self, of_new: Callable[[Target], QueueSlot], announced: dict[int, QueueSlot]) -> None:
        super().__init__(self._of_new, announced)
        self._place = of_new
        self.new = 0
        self.fits = 0

    def _of_new(self, target: Target) -> QueueSlot:
        place = self.announced.get(target.key) or self._place(target)
        self.new += 1
        self.fits += place.queue in (FIT, FRESH)
        return place
