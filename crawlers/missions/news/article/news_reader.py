"""Reads the responses of a news crawl: feeds, sitemaps, and pages that may be articles.

The slow part, which depends on the bytes of a response only, runs in another process (*pool*).
"""

from __future__ import annotations

from asyncio import sleep
from dataclasses import replace
from typing import TYPE_CHECKING

from crawlers.items import ExternalLink, Page, State, Target
from crawlers.missions.news.article.article_evidence import DATED, IN_FEED, SURE, evidence, label, log_odds
from crawlers.missions.news.dedup.document_fingerprints import document_fingerprint
from crawlers.missions.news.feeds.feed_registry import feeds_of
from crawlers.missions.news.news_items import FEED, SITEMAP, Announced, News, news_of
from crawlers.pages.response import page_of
from crawlers.reasons import Reason
from crawlers.sites.feed_reader import ITEMS_OF_SLICE, NEWEST, looks_like_feed, read_feed
from crawlers.urls.domains import rule_domain
from crawlers.urls.keys import content_hash

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from crawlers.errors import BadUrl
    from crawlers.missions.news.news_items import Article, DocumentFingerprint
    from crawlers.missions.news.urls.url_classifier import UrlClassifier
    from crawlers.pages.html import ParsedPage
    from crawlers.pages.pool import ExtractionPool
    from crawlers.pages.response import ResponseReader, WebResponse
    from crawlers.sites.feed_items import FeedContent

PROMISING = 1.5  # log-odds from which an article is extracted although no rule classifies the URL as one
ITEMS_AT_ONCE = 500  # of a feed, of which a sitemap has up to 50,000
NEAREST_LEVELS = 1  # feeds are discovered on the home page and on the pages that it links to

_NOT_AN_ANNOUNCER = {FEED: Reason.NOT_A_FEED, SITEMAP: Reason.NOT_A_SITEMAP}


class NewsReader:
    """Reads responses with the *reader*, and analyses pages.

    *content_rules* are the selectors of domains. *in_thread* calls a function in another thread.
    """

    def __init__(
        self,
        reader: ResponseReader,
        classifier: UrlClassifier,
        content_rules: Mapping[str, Mapping[str, str]],
        pool: ExtractionPool,
        in_thread: Callable[[Callable[[], Page]], Awaitable[Page]],
    ) -> None:
        self._in_thread = in_thread
        self._classifier = classifier
        self._content_rules = content_rules
        self.pool = pool
        self._reader = replace(reader, analysis=self.analysis)

    async def read(
        self,
        response: WebResponse,
        page_id: int,
        level: int,
        kind: str,
        is_announced: bool,
        is_in_feed: bool,
        now: float,
        first: int | None = None,
    ) -> Page:
        """Return the page of a *response*; *kind* is the kind of poll, "" if it is none. Never raises.

        Long feeds and sitemaps are read in slices: the newest entries, and those from the number *first* on; None: all
        that can be read at once.
        """
        is_list = kind == SITEMAP or response.url.partition("?")[0].endswith((".txt", ".txt.gz"))
        if response.status == 200 and looks_like_feed(response.body, response.content_type, is_list):
            return await self._feed(response, page_id, level, now, first)
        found = self._reader.read_or_wait(response, page_id, level, now, self._in_thread)
        page = found if isinstance(found, Page) else await found
        news = replace(news_of(page) or News(), kind=kind)
        site = self._reader.site(page.url)
        if not self._reader.holds(site):
            page = replace(page, links=())  # the host only has feeds of the crawl's sources
        if page.state is State.DONE and not page.is_unchanged:
            news = await self._with_article(response, page, news, site, is_announced, is_in_feed, now)
        return replace(page, facts=news)

    async def _with_article(
        self,
        response: WebResponse,
        page: Page,
        news: News,
        site: str,
        is_announced: bool,
        is_in_feed: bool,
        now: float,
    ) -> News:
        """Return *news* with the article of the page, if it has one."""
        fits = is_announced or self._classifier.weight(site, page.url) > 0.0
        news = replace(
            news,
            fits=fits,
            odds=news.odds + IN_FEED * is_in_feed,
            feeds=() if fits else news.feeds,  # the feeds that an article names are those of its site
            problem=_NOT_AN_ANNOUNCER.get(news.kind, ""),
        )
        support = 0.0 if fits else self._classifier.support(site, page.url)
        if label(news.odds) is False and not is_in_feed:
            return replace(news, reason=Reason.LIST_OF_LINKS) if fits else news
        if not fits and news.odds + support < PROMISING:
            return news
        return await self._article(news, response, site, support, now)

    def analysis(self, page: Page, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl]) -> Page:
        """Return *page* with the evidence for an article, and near the home page with the feeds that it names."""
        here = page.url.rstrip("/") + "/"
        below = sum(target.url.startswith(here) for target, _ in page.links)
        seen = evidence(parsed, is_prefix_of=below)
        feeds = _good(targets, feeds_of(parsed)) if page.level <= NEAREST_LEVELS else ()
        return replace(page, facts=News(odds=log_odds(seen), has_date=seen.has_date, feeds=feeds))

    async def _article(self, news: News, response: WebResponse, site: str, support: float, now: float) -> News:
        """Return *news* with the extracted article, or the reason why there is none."""
        rules = dict(self._content_rules.get(rule_domain(site), {}))
        found = await self.pool.run(site, article_of, response.body, response.url, response.content_type, rules, now)
        if isinstance(found, str):
            return replace(news, reason=found)
        article, fingerprint = found
        odds = news.odds
        if article.published_at is not None and not news.has_date:
            odds += DATED  # the text contains a date although the markup does not
        if news.fits or odds + support > SURE:
            return replace(news, odds=odds, article=article, fingerprint=fingerprint)
        return replace(news, odds=odds, reason=Reason.UNSURE)

    async def _feed(self, response: WebResponse, page_id: int, level: int, now: float, first: int | None) -> Page:
        here = self._reader.site(response.url)
        content: FeedContent | str = await self.pool.run(
            here, read_feed, response.body, response.url, response.content_type, now, first
        )
        body_hash = content_hash(response.body + str(first).encode() if first else response.body)
        if isinstance(content, str):
            news = News(FEED, problem=content)
            return page_of(response, page_id, level, State.DONE, content_hash=body_hash, facts=news)
        if first is not None and SITEMAP in content.kind:
            content = _slice(content, first)
        targets = self._reader.resolver.directory(response.url)
        items: list[Announced] = []
        links: dict[Target, int] = {}
        cross_site: dict[Target, int] = {}
        external: dict[Target, tuple[ExternalLink, int]] = {}
        for number, item in enumerate(content.items, 1):
            if not number % ITEMS_AT_ONCE:
                await sleep(0)  # others may run
            if not isinstance(target := targets[item.url], Target):
                continue
            if item.is_article:
                items.append(Announced(target, item.published_at, item.title))
            if target.site == here:
                links[target] = 1
            elif self._reader.holds(target.site):
                cross_site[target] = 1
            elif target not in external:
                external[target] = ExternalLink(target.url, target.key, target.site, "", "", "", "", FEED), 1
        dates = [item.published_at for item in items if item.published_at is not None]
        return page_of(
            response,
            page_id,
            level,
            State.DONE,
            content_hash=body_hash,
            title=content.title[:500],
            links=list(links.items()),
            cross_site_links=list(cross_site.items()),
            external=list(external.values()),
            facts=News(
                SITEMAP if "sitemap" in content.kind else FEED,
                announces=content.kind != SITEMAP,
                items=items,
                feeds=_good(targets, content.further),
                span_s=max(0.0, now - min(dates)) if dates and len(dates) == len(items) else None,
                problem="" if content.rest else content.problem,
                rest=content.rest,
            ),
        )


def _slice(content: FeedContent, first: int) -> FeedContent:
    """Return the newest entries of a sitemap, and those from the number *first* on, as many as are read at once."""
    newest, end = min(NEWEST, first), max(NEWEST, first) - NEWEST + ITEMS_OF_SLICE
    items = [*content.items[:newest], *content.items[first:end]]
    return replace(content, items=items, rest=end if end < len(content.items) else 0)


def _good(targets: Mapping[str, Target | BadUrl], urls: Iterable[str]) -> list[Target]:
    """Return the distinct targets of *urls*, without malformed ones."""
    return list(dict.fromkeys(target for url in urls if isinstance(target := targets[url], Target)))


def article_of(
    body: bytes, url: str, content_type: str | None, rules: dict[str, str], now: float
) -> tuple[Article, DocumentFingerprint] | str:
    """Return the article on a page and its fingerprint, or the reason why there is none. Runs in another process."""
    from crawlers.missions.news.article.article_reader import extract_article  # 30 MB, which the crawler does not need

    found = extract_article(body, url, content_type, rules, now)
    return found if isinstance(found, str) else (found, document_fingerprint(url, found))
