"""The values of a news crawl: articles, what a response says of news, what feeds announce."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlers.items import Page, Target

# The kinds of polled pages, in items and in the store:
FEED = "feed"
SITEMAP = "sitemap"
PAGE = "page"  # a page that shows new articles
HOME = "home"  # a start URL, which is always polled
ARTICLE = "article"  # fetched once more, to find changes
ANNOUNCERS = (FEED, SITEMAP)  # those that name articles
POLLED_LISTS = (HOME, *ANNOUNCERS)  # those that are no articles for certain

NEW, CHANGED, DUPLICATE = "new", "changed", "duplicate"  # outcomes of documents


@dataclass(frozen=True, slots=True)
class Article:
    """The essential content of a news page. Texts are bounded, and empty if the page does not state them."""

    title: str
    text: str  # paragraphs, one per line
    published_at: float | None  # seconds since 1970; None: no date was found
    published: str  # ISO 8601: a day, or a time with its zone if the page gives one
    authors: tuple[str, ...]
    section: str
    language: str  # ISO 639-1
    canonical_url: str  # absolute
    image: str  # absolute
    extractor: str  # rule, json-ld or blocks
    description: str = ""  # in a sentence or two
    keywords: tuple[str, ...] = ()
    modified_at: float | None = None  # of its latest change, like the date of publication
    modified: str = ""
    is_free: bool | None = None  # False: behind a paywall; None: the page does not say


Key128 = tuple[int, int]  # the high and the low half, both signed, as databases store them
_HALF = (1 << 64) - 1


class DocumentFingerprint(NamedTuple):
    """The keys by which documents are compared; see `missions.news.dedup.document_fingerprints`."""

    domain: str
    url: Key128
    canonical: Key128 | None  # of the canonical URL of the page, if it is credible
    text: Key128
    bands: tuple[int, ...]  # of the text; near-duplicates share some, see `document_fingerprints`

    @property
    def text_hash(self) -> str:
        """The key of the text, in 32 hexadecimal digits."""
        return "".join(f"{half & _HALF:016x}" for half in self.text)


class Announced(NamedTuple):
    """An article that a feed announces."""

    target: Target
    published_at: float | None  # seconds since 1970
    title: str


@dataclass(frozen=True, slots=True)
class News:
    """The news in a response: a feed, a sitemap, or an article. The policy of the crawl adds the outcome."""

    kind: str = ""  # as above, if the page is (to be) polled
    fits: bool = False  # a rule classifies its URL as an article, or a feed announced it
    odds: float = 0.0  # log-odds, by its content, that it is an article
    has_date: bool = False  # its markup contains the time of publication
    announces: bool = False  # its items are articles; a plain sitemap lists all pages of a site
    items: Sequence[Announced] = ()
    feeds: Sequence[Target] = ()  # feeds and sitemaps that it names
    span_s: float | None = None  # age of the oldest item
    problem: str = ""  # what is wrong with the feed
    rest: int = 0  # number of its entries that were read, if others follow
    article: Article | None = None
    fingerprint: DocumentFingerprint | None = None  # of the article
    reason: str = ""  # why it is not a document
    outcome: str = ""  # `NEW`, `CHANGED`, `DUPLICATE`; "": no document
    version: int = 0  # of the document, from 1
    stored_at: float = 0.0  # seconds since 1970, of this version

    @property
    def in_feeds(self) -> None:
        """Feeds contain documents instead, see `document_items`."""


def news_of(page: Page) -> News | None:
    """Return the news on a page of a news crawl; None if it was not read as such."""
    return page.facts if isinstance(page.facts, News) else None
