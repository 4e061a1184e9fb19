"""Extracts the article of a news page: each part by the site's own rule, by machine-readable data, or by
heuristics.

This takes some 30 ms per page, so it runs in the pool, not in the reactor. No function raises or reads the clock.
"""

from __future__ import annotations

import logging
import re
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from htmldate import find_date
from trafilatura import bare_extraction, load_html
from trafilatura.metadata import extract_author

from crawlers.errors import BadUrl
from crawlers.missions.news.article.article_parts import ArticleParts
from crawlers.missions.news.article.article_text import as_lines, hidden_text
from crawlers.missions.news.article.bylines import authors
from crawlers.missions.news.article.content_rules import by_rules
from crawlers.missions.news.article.facts import keywords, plain_text
from crawlers.missions.news.article.headline import headline
from crawlers.missions.news.article.json_ld import json_ld, microdata
from crawlers.missions.news.article.meta_tags import meta_tags
from crawlers.missions.news.article.page_lines import page_lines
from crawlers.missions.news.article.shown_authors import shown_authors
from crawlers.missions.news.article.text_blocks import text_blocks
from crawlers.missions.news.article.text_choice import article_blocks
from crawlers.missions.news.article.text_language import language_of
from crawlers.missions.news.dates.publication import DAY_S, publication
from crawlers.missions.news.dates.shown_dates import shown_date
from crawlers.missions.news.news_items import Article
from crawlers.pages.charset import decode
from crawlers.pages.html import thin
from crawlers.reasons import Reason
from crawlers.sites.date_notations import languages_of, read_date
from crawlers.urls.resolution import join

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lxml.html import HtmlElement

    from crawlers.missions.news.article.page_lines import PageLines

MIN_CHARS = 200  # the shortest article measured has 302 (docs/measurements.md)
MAX_BYTES = 4 * 1024 * 1024  # of a page; the rest is not read
MAX_TEXT = 200_000  # characters, some 60 pages of a book
MAX_TITLE = 500
MAX_SECTION = 200
MAX_DESCRIPTION = 1_000

_MAX_TIMES = 5  # <time> elements; later ones belong to other articles
_LANGUAGE = re.compile(r"([a-z]{2})(?:[-_]|\Z)", re.I)

# They log a warning for every page without text, which is a normal result here.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
logging.getLogger("htmldate").setLevel(logging.CRITICAL)


def extract_article(
    body: bytes,
    url: str,
    content_type: str | None,
    rules: Mapping[str, str],
    now: float,
    least_chars: int = MIN_CHARS,
) -> Article | str:
    """Return the article of the page *body* at *url*, or the reason for having none: "no_text", "no_title" …

    *content_type* is the HTTP header, which may name a charset; *rules* are the site's own, see `content_rules`;
    dates after *now* and texts shorter than *least_chars* are ignored. Never raises.
    """
    utf8, _ = decode(body[:MAX_BYTES], content_type)
    try:
        # libxml2 limits the depth to 256, so the page need not be flattened as for Lexbor.
        tree = load_html(thin(utf8).decode("utf-8", "replace"))
        return Reason.NO_TEXT if tree is None else _Page(tree, url, rules, now).article(least_chars)
    except RecursionError:
        return Reason.NESTED_TOO_DEEP
    except Exception as error:  # heuristic libraries on hostile input
        return Reason.EXTRACTION_FAILED.of(type(error).__name__)


def extracted_text(tree: HtmlElement, url: str) -> str:
    """Return the text of the article on the page *tree* as trafilatura finds it, without its fallbacks."""
    found = bare_extraction(tree, url=url, include_comments=False, fast=True)
    return as_lines(found.text or "") if found is not None else ""  # type: ignore[union-attr]


class _Page:
    """A page, and the article parts of each source."""

    def __init__(self, tree: HtmlElement, url: str, rules: Mapping[str, str], now: float) -> None:
        self._tree = tree
        self._url = url
        self._now = now
        self._rule = by_rules(tree, rules)
        self._meta = meta_tags(tree)
        self._json = json_ld(tree, frozenset([url, self._meta.canonical])) or ArticleParts()
        self._micro = microdata(tree) or ArticleParts()
        self._sources = (self._rule, self._json, self._micro, self._meta)
        self._site_names = [parts.site_name for parts in self._sources if parts.site_name]

    def article(self, least_chars: int) -> Article | str:
        text, extractor = self._text
        if len(text) < least_chars:
            return Reason.NO_TEXT
        title = self._title[:MAX_TITLE].rstrip()
        if not title:
            return Reason.NO_TITLE
        # Names come before dates because htmldate removes elements from the tree.
        names = self._authors()
        published_at, published = self._published() or (None, "")
        modified_at, modified = self._modified(published_at) or (None, "")
        return Article(
            title=title,
            text=text[:MAX_TEXT],
            published_at=published_at,
            published=published,
            authors=names,
            section=" ".join(self._first("section").split())[:MAX_SECTION].rstrip(),
            language=self._language,
            canonical_url=self._canonical(),
            image=self._absolute(parts.image for parts in self._sources),
            extractor=extractor,
            description=plain_text(self._first("description"), MAX_DESCRIPTION),
            keywords=keywords(next(filter(None, (parts.keywords for parts in self._sources)), ())),
            modified_at=modified_at,
            modified=modified,
            is_free=next((parts.is_free for parts in self._sources if parts.is_free is not None), None),
        )

    def _first(self, part: str) -> str:
        return next(filter(None, (getattr(parts, part) for parts in self._sources)), "")

    @cached_property
    def _text(self) -> tuple[str, str]:
        if self._rule.text:
            return self._rule.text, "rule"
        extracted = extracted_text(self._tree, self._url)
        description = self._first("description")
        blocks = article_blocks(text_blocks(self._tree), extracted, self._json.text, description)
        title = self._title.casefold()  # which is a part of its own
        seen = "\n".join(block.text for block in blocks if block.text.casefold() != title) or extracted
        hidden = hidden_text(self._json.text, seen)
        return (seen, "blocks") if hidden is None else (hidden, "json-ld")

    @cached_property
    def _title(self) -> str:
        if self._rule.title:
            return " ".join(self._rule.title.split())
        window = next((node.text_content() for node in self._tree.iter("title")), "")
        visible = [node.text_content() for node in self._tree.iter("h1")]
        declared = self._json.title or self._micro.title
        return headline(declared, visible, self._meta.title, window, self._site_names, self._url)

    def _published(self) -> tuple[float, str] | None:
        languages = languages_of(self._language, self._url)
        times = [raw for node in self._tree.iter("time") if (raw := node.get("datetime"))][:_MAX_TIMES]
        for declared in (self._rule.published, self._meta.published, self._json.published, self._micro.published):
            if publication([declared], self._now, languages) is not None:
                return publication(
                    (declared, self._meta.published, self._json.published, self._micro.published, *times),
                    self._now,
                    languages,
                    further=self._further_times(languages, times),
                )
        return publication([shown_date(self._lines, languages)], self._now, languages) or publication(
            [find_date(self._tree, original_date=True) or ""], self._now
        )

    def _modified(self, published_at: float | None) -> tuple[float, str] | None:
        """Return when the article was changed; None if that is not known, or before it was published."""
        declared = [parts.modified for parts in self._sources if parts.modified]
        found = publication(declared, self._now, languages_of(self._language, self._url))
        is_early = found is not None and published_at is not None and found[0] < published_at - DAY_S
        return None if is_early else found

    def _further_times(self, languages: Sequence[str], times: list[str]) -> Iterator[str]:
        """Yield times that may show the zone or the day of the publisher.

        Changes, and <time> elements, which may be those of other articles, only show the zone. The day that readers
        see comes last, since it takes a search.
        """
        changes = [parts.modified for parts in self._sources if parts.modified]
        for raw in (*changes, *times):
            found = read_date(raw, languages)
            if found is not None and found.when.utcoffset():
                yield raw
        yield shown_date(self._lines, languages, with_changes=False)

    def _authors(self) -> tuple[str, ...]:
        organisations = [*self._site_names, *self._json.organisations, *self._micro.organisations]
        return authors([parts.authors for parts in self._sources], organisations, self._url, self._shown_authors())

    def _shown_authors(self) -> Iterator[list[str]]:
        """Yield the bylines on the page; trafilatura's, which takes longest, last."""
        yield from shown_authors(self._lines)
        yield (extract_author(self._tree) or "").split("; ")

    @cached_property
    def _lines(self) -> PageLines:
        return page_lines(self._tree, self._title)

    @cached_property
    def _language(self) -> str:
        codes = [found[1].lower() if (found := _LANGUAGE.match(parts.language)) else "" for parts in self._sources]
        by_rule = codes[0]
        return by_rule or language_of(next(filter(None, codes), ""), self._text[0])

    def _canonical(self) -> str:
        found = self._absolute([self._rule.canonical, self._meta.canonical])
        # A canonical URL that is the home page is a template error: it would merge all articles into one document.
        is_slip = urlsplit(found).path in ("", "/") and not urlsplit(found).query and found.rstrip("/") != self._url
        return self._url if is_slip else found

    def _absolute(self, declared: Iterable[str]) -> str:
        """Return the first http or https URL in *declared*, absolute; empty if there is none."""
        for raw in declared:
            if raw and not raw.startswith("<"):
                try:
                    url = join(self._url, raw)
                except BadUrl:
                    continue
                if url.startswith(("http://", "https://")):
                    return url
        return ""
