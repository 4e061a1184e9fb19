"""What a news crawl decides of each page before it is stored: where its links wait, whether it comes back, whether
it is a document. The scheduler asks before a lease ends, whatever came of it."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from crawlers.algorithms.document_prints import body_key128, domain_of
from crawlers.algorithms.news_scores import ARCHIVE, FIT, FRESH
from crawlers.algorithms.source_fields import rule_domain
from crawlers.algorithms.urls import site_of
from crawlers.extraction.feed_discovery import USUAL_PLACES
from crawlers.frontier.polls import ARTICLE, FEED, HOME, PAGE, SITEMAP
from crawlers.items import News, Place, Places, State
from crawlers.storage.documents import NEW, add_document
from crawlers.storage.polls import known_items, pages_without_document
from crawlers.storage.unit import Unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from crawlers.extraction.rulebook import Rulebook
    from crawlers.frontier.base import CrawlFrontier, Lease
    from crawlers.frontier.polls import Polls
    from crawlers.items import Announced, Page, Target
    from crawlers.storage.database import Database
    from crawlers.storage.document_copies import Duplicates
    from crawlers.storage.document_keys import DocumentKeys
    from crawlers.storage.iterations import Iterations

logger = logging.getLogger(__name__)

SOON = Place(FRESH, 4e9)  # of feeds and home pages: before all articles
PERMANENT = frozenset({301, 308})  # redirects; after others a page may be there again
MOST_LISTS = 20  # sitemaps of an index that are read before all articles; the others are archives
LOOK_S = 3600.0
LEAST_NEW = 2  # articles that a page must show to be worth another visit
MOST_REMEMBERED = 200_000  # announced URLs that were not fetched yet


class NewsDesk:
    """Decides with *rulebook*, *polls* and *duplicates*; *database* is the store, *frontier* that of the crawl.

    *languages* has those of sources by domain, for articles that name none. *recheck_s*: after so long an article is
    fetched once more; 0: never. *has_earlier*: the store has documents of other crawls.
    """

    def __init__(
        self,
        rulebook: Rulebook,
        polls: Polls,
        duplicates: Duplicates,
        keys: DocumentKeys,
        database: Database,
        frontier: CrawlFrontier,
        *,
        languages: Mapping[str, str],
        crawl_id: int,
        flush: Callable[[], None],
        iterations: Iterations,
        resolve: Callable[[str, str], Target],
        recheck_s: float,
        has_earlier: bool,
    ) -> None:
        self._rulebook = rulebook
        self._polls = polls
        self._duplicates = duplicates
        self._keys = keys
        self._has_earlier = has_earlier
        self._database = database
        self._frontier = frontier
        self._languages = languages
        self._crawl_id = crawl_id
        self._flush = flush
        self._iterations = iterations
        self._resolve = resolve
        self._recheck_s = recheck_s
        self._sites: dict[str, dict[int, str]] = {}  # domain -> the sites that its rules are for
        self._announced: dict[int, None] = {}  # keys, the latest ones last
        self._lists: set[int] = set()  # keys of what may be a feed
        self._look_at = 0.0  # when it is to be seen next whether the polls have room
        self._fed: set[str] = set()  # domains of which a feed or sitemap is known

    def reason_against(self, target: Target) -> str | None:
        """Why a new URL is not to be fetched: an earlier crawl has its document."""
        if not self._has_earlier or self._rulebook.weight(target.site, target.url) <= 0.0:
            return None
        holder = self._duplicates.holder(target.url, domain_of(target.url))
        return None if holder is None else f"document {holder} of an earlier crawl"

    def is_known(self, page: Page) -> str:
        """Why the article of a page need not be taken out of it: a document was made of the same bytes. Or ""."""
        (holder,) = self._keys.find([body_key128(domain_of(page.url), page.content_hash)])
        return f"same bytes as document {holder}" if holder not in (None, page.id) else ""

    def kind(self, lease: Lease) -> str:
        """What sort of poll a lease is; "" for none."""
        return self._polls.kind(lease.id)

    def is_in_feed(self, lease: Lease) -> bool:
        """Whether a feed announced the leased URL in this run."""
        return lease.key in self._announced

    def is_announced(self, lease: Lease) -> bool:
        """Whether the leased URL was announced, or appeared on a page that comes back."""
        if lease.level == 0:
            return False
        if lease.is_again and not self._polls.kind(lease.id):
            return True  # fetched once more for that
        return lease.key in self._announced or (lease.group == FRESH and lease.key not in self._lists)

    def ending(self, lease: Lease, page: Page, now: float) -> None:
        """Complete *page*, whose lease is about to end."""
        news = page.news = page.news or News(self.kind(lease))
        unit = page.rows = Unit()
        if page.state is State.DONE and not page.is_unchanged:
            self._place_links(lease, page, news, now)
            if not lease.is_again and news.kind in ("", PAGE, HOME):
                self._label(lease, page, news, unit, now)
            if news.article is not None:
                self._judge(lease, page, news, unit, now)
            page.reason = page.reason or news.reason
        self._plan(lease, page, news, unit, now)
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            if self._polls.warning:
                logger.warning("%s", self._polls.warning)
        self._iterations.count(page, unit, now, is_again=lease.is_again)

    def feed_known(self, url: str) -> None:
        """A feed or sitemap is known at *url*."""
        self._fed.add(rule_domain(site_of(url)))

    def _place_links(self, lease: Lease, page: Page, news: News, now: float) -> None:
        place_of = self._rulebook.place_of
        if lease.is_again:  # what it did not show before has just appeared

            def of_new(target: Target) -> Place:
                place = place_of(target)
                return Place(FRESH, now) if place.queue == FIT else place
        else:
            of_new = place_of
        if lease.level == 0 and news.kind in ("", PAGE, HOME) and not lease.is_again:
            self._find_feeds(page, news)
        announced = {item.target.key: Place(FRESH, min(item.published_at or now, now)) for item in news.items}
        self._announced.update(dict.fromkeys(announced))
        while len(self._announced) > MOST_REMEMBERED:
            del self._announced[next(iter(self._announced))]
        late = Place(ARCHIVE, SOON.value)
        announced.update((target.key, SOON if n < MOST_LISTS else late) for n, target in enumerate(news.feeds))
        self._lists.update(target.key for target in news.feeds)
        if news.feeds:  # of few pages: the others need no look at all their links
            here = site_of(page.url)
            known = {target.key for target, _ in (*page.links, *page.elsewhere)}
            for target in news.feeds:
                if target.key not in known:
                    (page.links if target.site == here else page.elsewhere).append((target, 1))
        page.places = _Counting(of_new, announced)

    def _find_feeds(self, page: Page, news: News) -> None:
        """Without any feed, those places are tried where sites usually have one."""
        domain = rule_domain(site_of(page.url))
        if not news.feeds and domain not in self._fed:
            news.feeds = [self._resolve(page.url, place) for place in USUAL_PLACES]
        self._fed.add(domain)

    def _label(self, lease: Lease, page: Page, news: News, unit: Unit, now: float) -> None:
        site = site_of(page.url)
        if news.odds:
            unit.page_labels.append([lease.id, lease.site_id, news.odds])
            self._rulebook.label(site, page.url, news.odds)
        domain = rule_domain(site)
        self._sites.setdefault(domain, {})[lease.site_id] = site
        if self._rulebook.learn(site, now):
            for site_id, name in self._sites[domain].items():
                self._frontier.place_again(site_id, name, self._rulebook.place, now)

    def _judge(self, lease: Lease, page: Page, news: News, unit: Unit, now: float) -> None:
        assert news.article is not None
        copy = self._duplicates.judge(lease.id, page.url, news.article, unit, news.prints)
        if copy is not None:
            news.outcome, news.reason = "duplicate", f"{copy.reason} as document {copy.page_id}"
        else:
            article = news.article
            if not article.language:
                article = replace(article, language=self._languages.get(rule_domain(site_of(page.url)), ""))
            where = (lease.id, lease.site_id, page.url, article, news.prints, now)
            news.outcome = add_document(self._database, unit, *where, is_again=lease.is_again)
            self._keys.claim([body_key128(news.prints.domain, page.content_hash)], lease.id, unit)

    def _plan(self, lease: Lease, page: Page, news: News, unit: Unit, now: float) -> None:
        """Say when the page comes back; asked when its links are known."""
        polls, here = self._polls, (lease.id, lease.site_id)
        is_brief = bool(polls.kind(lease.id)) and page.status not in PERMANENT  # a pause for repair, or for consent
        if page.state is State.REJECTED or (page.state is State.MOVED and not is_brief):
            polls.forget(lease.id)
            if page.moved_to is not None and (news.kind or lease.level == 0):
                self._lists.add(page.moved_to.key)
                page.places = Places(lambda _: SOON, {page.moved_to.key: SOON})
        elif page.state is not State.DONE:
            is_root = lease.level == 0 and page.state in (State.FAILED, State.REFUSED)  # later it may be there
            if polls.kind(lease.id) or is_root:
                kind = FEED if lease.key in self._lists else HOME
                page.again = lambda: polls.failed(*here, kind, now, unit, page.reason or _went(page))
        elif page.is_unchanged:
            if polls.kind(lease.id):
                page.again = lambda: polls.ended(*here, polls.kind(lease.id), now, unit, new_items=0, shown=0)
        elif news.announces:
            keys = [item.target.key for item in news.items]
            known = known_items(self._database, lease.id, keys) if lease.is_again else set()
            new = [item for item in news.items if item.target.key not in known]
            unit.feed_items += [[lease.id, i.target.key, i.published_at, now, i.title] for i in new]
            self._read_again(new, now)
            page.again = lambda: polls.ended(
                *here,
                news.kind,
                now,
                unit,
                new_items=len(new),
                shown=len(keys),
                span_s=news.span_s,
                problem=news.problem,
            )
        elif news.outcome == NEW and self._recheck_s and not lease.is_again:
            due_at = now + self._recheck_s
            unit.polls.append([*here, ARTICLE, due_at, now, 0, 0, 0, None, "[]", None])
            page.again = lambda: due_at
        elif not (news.fits or news.outcome or lease.is_again) and lease.key in self._announced:
            page.etag = page.last_modified = ""  # all of it is wanted
            page.again = lambda: now  # announced while it was read: once more, with that in mind
        elif not news.fits or polls.kind(lease.id) or lease.level == 0:
            page.again = lambda: self._hub(lease, page, news, unit, now)

    def _read_again(self, items: Iterable[Announced], now: float) -> None:
        """Articles that were read before anybody said that they are some: they must not be missed."""
        keys: dict[str, list[int]] = {}
        for item in items:
            keys.setdefault(item.target.site, []).append(item.target.key)
        if keys:
            self._flush()
        for site, its in keys.items():
            pages = pages_without_document(self._database, self._crawl_id, site, its)
            if pages:
                self._frontier.fetch_again(site, pages, now)

    def _hub(self, lease: Lease, page: Page, news: News, unit: Unit, now: float) -> float | None:
        places = page.places
        assert isinstance(places, _Counting)
        is_poll = bool(self._polls.kind(lease.id))
        found = places.fits if self._rulebook.has_rules(site_of(page.url)) else places.new
        if lease.group == ARCHIVE and not is_poll:
            return None  # the older sitemaps of an index, once
        is_home = lease.level == 0 or news.kind == SITEMAP
        is_near = places.fits or lease.level == 1  # without rules, the sections
        is_worth = found >= LEAST_NEW and is_near and self._polls.has_room(lease.site_id)
        if not (is_poll or is_home) and (not is_worth or news.outcome == NEW):
            return None
        kind, new = news.kind or (HOME if is_home else PAGE), found if is_poll else 0
        return self._polls.ended(
            lease.id, lease.site_id, kind, now, unit, new_items=new, shown=len(page.links), problem=news.problem
        )


def _went(page: Page) -> str:
    return f"redirects to {page.moved_to.url}" if page.moved_to is not None else "no answer"


class _Counting(Places):
    """Places that count how many URLs were new, and how many of them fit."""

    def __init__(self, of_new: Callable[[Target], Place], announced: dict[int, Place]) -> None:
        super().__init__(self._of_new, announced)
        self._place = of_new
        self.new = 0
        self.fits = 0

    def _of_new(self, target: Target) -> Place:
        place = self.announced.get(target.key) or self._place(target)
        self.new += 1
        self.fits += place.queue in (FIT, FRESH)
        return place
