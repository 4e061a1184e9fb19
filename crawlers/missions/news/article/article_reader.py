"""Extracts the article of a news page: each part by the site's own rule, by machine-readable data, or by
heuristics.

This takes some 30 ms per page, so it runs in the pool, not in the reactor. No function raises or reads the clock.
"""

from __future__ import annotations

import logging
import re
from functools import cache, cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from htmldate import find_date
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from crawlers.errors import BadUrl
from crawlers.missions.news.article.bylines import authors, page_lines, shown_authors
from crawlers.missions.news.article.page_metadata import (
    ArticleParts,
    by_rules,
    json_ld,
    keywords,
    meta_tags,
    plain_text,
)
from crawlers.missions.news.article.publication import DAY_S, publication, shown_date
from crawlers.missions.news.article.text_blocks import hidden_text, letters_of, page_tree, text_blocks
from crawlers.missions.news.article.text_choice import article_blocks
from crawlers.missions.news.news_items import Article
from crawlers.pages.charset import decode
from crawlers.reasons import Reason
from crawlers.sites.date_notations import languages_of
from crawlers.urls.resolution import join

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lxml.html import HtmlElement

    from crawlers.missions.news.article.bylines import PageLines

MIN_IDENTIFIED = 100  # of a text whose language is identified
MAX_CHARS = 1_000  # that are read; 3,000 gave no other language on 294 pages, and took three times as long

_LIKELY = 0.5  # probability: of related languages one is more likely than the others together
_DEFAULT = ("", "en")  # what templates say if nobody changed them


def language_of(declared: str, text: str) -> str:
    """Return the language (ISO 639-1) of *text*, where the page says that it is *declared*, or says nothing.

    A declared language other than English is believed; so is English unless the text is in another language.
    """
    if declared not in _DEFAULT or len(text) < MIN_IDENTIFIED:
        return declared
    language, probability = _identifier().classify(text[:MAX_CHARS])
    return str(language) if probability >= _LIKELY and len(language) == 2 else declared


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


_SEPARATOR = re.compile(r"\s+[-–—·•»«›‹/|>~]+\s+|\s*[|_]+\s*|\s*:{1,3}\s+")
_SURE_LABEL = 5  # letters of a label that may begin a name: "example.org" is "Example Weekly"
_MAX_NAME = 4  # words
_MIN_SHARE = 0.3  # of the title of the window that a heading with its beginning has: a shorter one is a rubric
_MAX_HEADINGS = 20  # of a kind, that are read
_BEGINNING = 0.5  # of a vote


def headline(
    declared: str,
    visible: Iterable[str],
    shared: str,
    window: str,
    names: Iterable[str],
    url: str,
    lesser: Iterable[str] = (),
) -> str:
    """Return the title of the article from several places on the page; empty if all are empty.

    *declared* is the headline in its structured data, *visible* are its h1 and *lesser* its h2 elements, *shared* is
    its title for social networks and *window* that of the browser window. The title with most occurrences is returned;
    being the beginning of the window's title counts half, and makes an h2 as good as an h1. The *names* that the page
    gives for its site, and the host of *url*, are removed from the end.
    """
    sites = _site_names(names, url)
    # Some pages also give their title as the name of the site: then nothing is removed.
    declared, shared, window = (
        _without_site(title, sites) or " ".join(title.split()) for title in (declared, shared, window)
    )
    whole = letters_of(window)

    def begins(title: str) -> bool:
        letters = letters_of(title)
        return whole.startswith(letters) and len(letters) > _MIN_SHARE * len(whole)

    cut = partial(_without_site, sites=sites)
    first, second = (map(cut, islice(titles, _MAX_HEADINGS)) for titles in (visible, lesser))
    shown = {title: letters_of(title) for title in (*filter(None, first), *filter(begins, second))}
    # A single h1 is the title that readers see; several may include the site's name or sidebars.
    candidates = [*shown, declared, shared] if len(shown) == 1 else [declared, shared, *shown]
    candidates = [title for title in candidates if title]
    if not candidates:
        return max(_SEPARATOR.split(window), key=len)

    def votes(title: str) -> float:
        letters = letters_of(title)
        is_shown = any(one.endswith(letters) for one in shown.values())  # a kicker may stand before it
        # Templates usually use one text for the window and social networks, so the two count as one vote.
        elsewhere = 1 if letters in (letters_of(shared), whole) else _BEGINNING * begins(title)
        return (letters == letters_of(declared)) + is_shown + elsewhere

    best = max(candidates, key=votes)
    # Machine-readable copies have the right punctuation where an h1 shows its parts on separate lines.
    return next(title for title in (declared, shared, best) if letters_of(title) == letters_of(best))


def _site_names(names: Iterable[str], url: str) -> set[str]:
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    labels = re.findall(r"[^.]{3,}", host)  # shorter ones are top-level domains such as .tv and .ai
    return {letters for name in (*names, host, *labels) if len(letters := letters_of(name)) > 1}


def _without_site(title: str, sites: set[str]) -> str:
    """Return *title* without the name of one of *sites* (letters only) at its end; empty if nothing else remains."""
    title = " ".join(title[: 4 * MAX_TITLE].split())
    ends = (between for between in _SEPARATOR.finditer(title) if _is_site(title[between.end() :], sites))
    if (end := next(ends, None)) is not None:
        title = title[: end.start()]
    return "" if letters_of(title) in sites else title


def _is_site(part: str, sites: set[str]) -> bool:
    letters = letters_of(part)
    is_short = len(part.split()) <= _MAX_NAME
    return letters in sites or (is_short and any(len(one) >= _SURE_LABEL and letters.startswith(one) for one in sites))


MIN_CHARS = 200  # the shortest article measured has 302 (docs/measurements.md)
MAX_BYTES = 4 * 1024 * 1024  # of a page; the rest is not read
MAX_TEXT = 200_000  # characters, some 60 pages of a book
MAX_TITLE = 500
MAX_SECTION = 200
MAX_DESCRIPTION = 1_000

_MAX_TIMES = 5  # <time> elements; later ones belong to other articles
_LANGUAGE = re.compile(r"([a-z]{2})(?:[-_]|\Z)", re.I)

# It logs a warning for every page without text, which is a normal result here.
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

    *content_type* is the HTTP header, which may name a charset; *rules* are the site's own, see `stored_rules`;
    dates after *now* and texts shorter than *least_chars* are ignored. Never raises.
    """
    utf8, _ = decode(body[:MAX_BYTES], content_type)
    try:
        tree = page_tree(utf8)
        return Reason.NO_TEXT if tree is None else _Page(tree, url, rules, now).article(least_chars)
    except RecursionError:
        return Reason.NESTED_TOO_DEEP
    except Exception as error:  # heuristic libraries on hostile input
        return Reason.EXTRACTION_FAILED.of(type(error).__name__)


class _Page:
    """A page, and the article parts of each source."""

    def __init__(self, tree: HtmlElement, url: str, rules: Mapping[str, str], now: float) -> None:
        self._tree = tree
        self._url = url
        self._now = now
        self._rule = by_rules(tree, rules)
        self._meta = meta_tags(tree)
        self._json = json_ld(tree) or ArticleParts()
        self._sources = (self._rule, self._json, self._meta)
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
        blocks = article_blocks(text_blocks(self._tree), self._first("description"))
        title = self._title.casefold()  # which is a part of its own
        seen = "\n".join(block.text for block in blocks if block.text.casefold() != title)
        hidden = hidden_text(self._json.text, seen)
        return (seen, "blocks") if hidden is None else (hidden, "json-ld")

    @cached_property
    def _title(self) -> str:
        if self._rule.title:
            return " ".join(self._rule.title.split())
        window = next((node.text_content() for node in self._tree.iter("title")), "")
        visible, lesser = ((node.text_content() for node in self._tree.iter(tag)) for tag in ("h1", "h2"))
        return headline(self._json.title, visible, self._meta.title, window, self._site_names, self._url, lesser)

    def _published(self) -> tuple[float, str] | None:
        languages = languages_of(self._language, self._url)
        date_shown = partial(shown_date, self._lines, languages)
        times = [raw for node in self._tree.iter("time") if (raw := node.get("datetime"))][:_MAX_TIMES]
        for declared in (self._rule.published, self._meta.published, self._json.published):
            if publication([declared], self._now, languages) is not None:
                further = (self._meta.published, self._json.published, *times)
                return publication((declared, *further), self._now, languages, date_shown)
        shown = publication([date_shown()], self._now, languages)
        if shown is not None:
            return shown
        guessed = find_date(self._tree, original_date=True) or ""
        return None if guessed.endswith("-01-01") else publication([guessed], self._now)  # "© 2022" is no day

    def _modified(self, published_at: float | None) -> tuple[float, str] | None:
        """Return when the article was changed; None if that is not known, or before it was published."""
        declared = [parts.modified for parts in self._sources if parts.modified]
        found = publication(declared, self._now, languages_of(self._language, self._url))
        is_early = found is not None and published_at is not None and found[0] < published_at - DAY_S
        return None if is_early else found

    def _authors(self) -> tuple[str, ...]:
        declared, shown = [parts.authors for parts in self._sources], shown_authors(self._lines)
        return authors(declared, self._site_names, self._url, shown)

    @cached_property
    def _lines(self) -> PageLines:
        return page_lines(self._tree, self._title)

    @cached_property
    def _language(self) -> str:
        codes = [found[1].lower() if (found := _LANGUAGE.match(parts.language)) else "" for parts in self._sources]
        return language_of(next(filter(None, codes), ""), self._text[0])

    def _canonical(self) -> str:
        found = self._absolute([self._meta.canonical])
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
