"""Reads the answers of a news crawl: feeds, sitemaps, and pages that may be articles.

What takes long is done elsewhere (*run*): a call of a function of bytes, in another process.
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

PROMISING = 1.5  # log-odds at which a page is read for an article although its URL fits no rule
NEAREST_LEVELS = 1  # feeds are looked for on the home page, and on the pages that it links to


class NewsReader:
    """Reads answers with *reader*, which must call `analysis` as its study.

    *content_rules* has the selectors of domains, see `extraction.content_rules`; *is_known* says why a page need not be
    read for an article, or "".
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
        """The page that *answer* is; *kind* says what sort of poll it is, if any. Never raises."""
        is_list = kind == SITEMAP or answer.url.partition("?")[0].endswith((".txt", ".txt.gz"))
        if answer.status == 200 and looks_like_feed(answer.body, answer.content_type, is_list):
            return await self._feed(answer, page_id, level, now)
        page = self._reader.read(answer, page_id, level, now)
        news = page.news = page.news or News()
        news.kind = kind
        site = self._reader.site(page.url)
        if not self._reader.holds(site):
            page.links.clear()  # a host that has but feeds of ours
        if page.state is not State.DONE or page.is_unchanged:
            return page
        if kind in (FEED, SITEMAP):
            news.problem = f"is no {kind}"
        news.fits = is_announced or self._classifier.weight(site, page.url) > 0.0
        if is_in_feed:
            news.odds += IN_FEED
        if news.fits:
            news.feeds = []  # an article's are those of its site
        if news.fits or news.odds >= PROMISING:
            news.reason = self._is_known(page)
            if news.reason:
                news.outcome = DUPLICATE
            else:
                await self._article(news, answer, now)
        return page

    def analysis(self, page: Page, parsed: ParsedPage, targets: Mapping[str, Target | BadUrl], text: str) -> None:
        """Note what speaks for the page's being an article, and the feeds that it names if it is near enough."""
        here = page.url.rstrip("/") + "/"
        below = sum(target.url.startswith(here) for target, _ in page.links)
        seen = evidence(parsed, text, is_prefix_of=below)
        page.news = News(odds=log_odds(seen), has_date=seen.has_date)
        if page.level <= NEAREST_LEVELS:
            page.news.feeds = _good(targets, feeds_of(parsed))

    async def _article(self, news: News, answer: WebResponse, now: float) -> None:
        """Take the article out of the page, if it is one."""
        site = self._reader.site(answer.url)
        rules = dict(self._content_rules.get(rule_domain(site), {}))
        found = await self._run(site, article_of, answer.body, answer.url, answer.content_type, rules, now)
        if isinstance(found, str):
            news.reason = found
            return
        article, fingerprint = found
        if article.published_at is not None and not news.has_date:
            news.odds += DATED  # no markup says so, but it has one
        if news.fits or news.odds > SURE:
            news.article, news.fingerprint = article, fingerprint
        else:
            news.reason = "too little says that it is an article"

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
    """Where *urls* lead, each once; without those that are none."""
    return list(dict.fromkeys(target for url in urls if isinstance(target := targets[url], Target)))


def article_of(
    body: bytes, url: str, content_type: str | None, rules: dict[str, str], now: float
) -> tuple[Article, DocumentFingerprint] | str:
    """The article that a page holds, with what it is recognised by; or why it holds none. Runs in another process."""
    found = extract_article(body, url, content_type, rules, now)
    return found if isinstance(found, str) else (found, document_fingerprint(url, found))
