"""Reads the responses of a news crawl: feeds, sitemaps, and pages that may be articles.

Slow functions of bytes are called through *run*, in another process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawlers.algorithms.dedup.document_fingerprints import document_fingerprint
from crawlers.algorithms.news.article_labels import DATED, IN_FEED, SURE, log_odds
from crawlers.algorithms.urls.domains import rule_domain
from crawlers.algorithms.urls.keys import content_hash
from crawlers.extraction.article.article_evidence import evidence
from crawlers.extraction.article.article_reader import extract_article
from crawlers.extraction.feeds.feed_discovery import feeds_of
from crawlers.extraction.feeds.feed_reader import looks_like_feed, read_feed
from crawlers.extraction.response import page_of
from crawlers.items import DUPLICATE, FEED, SITEMAP, Announced, Article, ExternalLink, News, Page, State, Target

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from crawlers.algorithms.dedup.document_fingerprints import DocumentFingerprint
    from crawlers.algorithms.news.url_classifier import UrlClassifier
    from crawlers.errors import BadUrl
    from crawlers.extraction.feeds.feed_items import FeedContent
    from crawlers.extraction.html import ParsedPage
    from crawlers.extraction.response import ResponseReader, WebResponse

PROMISING = 1.5  # log-odds from which an article is extracted although the URL matches no rule
NEAREST_LEVELS = 1  # feeds are discovered on the home page and the pages that it links to


class NewsReader:
    """Reads responses with the result of *reader*, which must use `analysis` as its analysis.

    *content_rules* are the selectors by domain, see `article.content_rules`; *is_known* returns why no article needs
    to be extracted from a page, or "".
    """

    def __init__(
        self,
        reader: Callable[[NewsReader], ResponseReader],
        classifier: UrlClassifier,
        content_rules: Mapping[str, Mapping[str, str]],
        run: Callable[..., Awaitable[Any]],
        is_known: Callable[[Page], str],
    ) -> None:
        self._classifier = classifier
        self._content_rules = content_rules
        self._run = run
        self._is_known = is_known
        self._reader = reader(self)

    async def read(
        self, answer: WebResponse, page_id: int, level: int, kind: str, is_announced: bool, is_in_feed: bool, now: float
    ) -> Page:
        """Return the page of *answer*; *kind* is the kind of poll, or "" if it is not a poll. Never raises."""
        is_list = kind == SITEMAP or answer.url.partition("?")[0].endswith((".txt", ".txt.gz"))
        if answer.status == 200 and looks_like_feed(answer.body, answer.content_type, is_list):
            return await self._feed(answer, page_id, level, now)
        page = self._reader.read(answer, page_id, level, now)
        news = page.news = page.news or News()
        news.kind = kind
        site = self._reader.site(page.url)
        if not self._reader.holds(site):
            page.links.clear()  # a host outside the scope that only serves feeds of a source
        if page.state is not State.DONE or page.is_unchanged:
            return page
        if kind in (FEED, SITEMAP):
            news.problem = f"is not a {kind}"
        news.fits = is_announced or self._classifier.weight(site, page.url) > 0.0
        if is_in_feed:
            news.odds += IN_FEED
        if news.fits:
            news.feeds = []  # the feeds of an article are those of its site
        if news.fits or news.odds >= PROMISING:
            news.reason = self._is_known(page)
            if news.reason:
                news.outcome = DUPLICATE
            else:
                await self._article(news, answer, now)
        return page

    def analysis(self, page: Page, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl], text: str) -> None:
        """Set the evidence for an article, and on the nearest levels the feeds that the page links to."""
        here = page.url.rstrip("/") + "/"
        below = sum(target.url.startswith(here) for target, _ in page.links)
        seen = evidence(parsed, text, is_prefix_of=below)
        page.news = News(odds=log_odds(seen), has_date=seen.has_date)
        if page.level <= NEAREST_LEVELS:
            page.news.feeds = _good(targets, feeds_of(parsed))

    async def _article(self, news: News, answer: WebResponse, now: float) -> None:
        """Extract the article of the page, if it is one."""
        site = self._reader.site(answer.url)
        rules = dict(self._content_rules.get(rule_domain(site), {}))
        found = await self._run(site, article_of, answer.body, answer.url, answer.content_type, rules, now)
        if isinstance(found, str):
            news.reason = found
            return
        article, fingerprint = found
        if article.published_at is not None and not news.has_date:
            news.odds += DATED  # the date was found without markup
        if news.fits or news.odds > SURE:
            news.article, news.fingerprint = article, fingerprint
        else:
            news.reason = "too little evidence for an article"

    async def _feed(self, answer: WebResponse, page_id: int, level: int, now: float) -> Page:
        here = self._reader.site(answer.url)
        content: FeedContent | str = await self._run(here, read_feed, answer.body, answer.url, answer.content_type, now)
        page = page_of(answer, page_id, level, State.DONE)
        page.content_hash = content_hash(answer.body)
        news = page.news = News(FEED)
        if isinstance(content, str):
            news.problem = content
            return page
        if "sitemap" in content.kind:
            news.kind = SITEMAP
        news.announces = content.kind != SITEMAP
        page.title, news.problem = content.title[:500], content.problem
        targets = self._reader.resolver.directory(answer.url)
        news.feeds = _good(targets, content.further)
        found = [(target, item) for item in content.items if isinstance(target := targets[item.url], Target)]
        news.items = [Announced(target, item.published_at, item.title) for target, item in found if item.is_article]
        dates = [item.published_at for item in news.items if item.published_at is not None]
        if dates and len(dates) == len(news.items):
            news.span_s = max(0.0, now - min(dates))
        for target in dict.fromkeys(target for target, _ in found):
            if target.site == here:
                page.links.append((target, 1))
            elif self._reader.holds(target.site):
                page.cross_site_links.append((target, 1))
            else:
                page.external.append((ExternalLink(target.url, target.key, target.site, "", "", "", "", FEED), 1))
        return page


def _good(targets: Mapping[str, Target | BadUrl], urls: Iterable[str]) -> list[Target]:
    """Return the valid targets of *urls*, without duplicates."""
    return list(dict.fromkeys(target for url in urls if isinstance(target := targets[url], Target)))


def article_of(
    body: bytes, url: str, content_type: str | None, rules: dict[str, str], now: float
) -> tuple[Article, DocumentFingerprint] | str:
    """Return the article of a page and its fingerprint, or the reason for having none. Runs in another process."""
    found = extract_article(body, url, content_type, rules, now)
    return found if isinstance(found, str) else (found, document_fingerprint(url, found))
