"""What a page says about its article for machines, and where a site's own rules find its parts.

Structured data (schema.org, as JSON-LD) is used carelessly: several blocks, several articles (including
those of the sidebar), names in place of objects, invalid JSON. Unreadable parts are skipped; nothing here raises. A
site's own rules are CSS or XPath selectors of the parts:

    title: h1.headline
    text: div.story p
    published: //span[@class="when"]/@data-time
    authors: a[rel=author]::text

Selectors that begin with a slash, a bracket or a function name are XPath, all others CSS with parsel's `::text` and
`::attr(name)`. If several elements match, the first is used; for text and authors, all.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from cssselect import SelectorError
from parsel import Selector

from crawlers.errors import ConfigError
from crawlers.missions.news.article.text_blocks import as_lines, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lxml.html import HtmlElement


class ArticleParts(NamedTuple):
    """The values of one source (a rule, JSON-LD, meta tags …) for the article of a page, as written there."""

    title: str = ""
    text: str = ""
    published: str = ""
    authors: tuple[str, ...] = ()
    section: str = ""
    language: str = ""
    canonical: str = ""
    image: str = ""
    site_name: str = ""
    description: str = ""
    keywords: tuple[str, ...] = ()
    modified: str = ""
    is_free: bool | None = None


MAX_KEYWORDS = 50
MAX_KEYWORD = 100  # characters

_MAX_READ = 10_000  # characters of a text
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_UNWRITABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")  # databases refuse some of them
_BETWEEN = re.compile(r"[,;|،、，；\n]")


def plain_text(text: str, limit: int) -> str:
    """Return *text* without markup on one line, at most *limit* characters long.

    >>> plain_text(" A <b>storm</b>\\n&amp; a calm ", 100)
    'A storm & a calm'
    """
    text = _TAG.sub("", unescape(text[:_MAX_READ]))
    return " ".join(_UNWRITABLE.sub(" ", text).split())[:limit].rstrip()


def keywords(declared: Sequence[str]) -> tuple[str, ...]:
    """Return the keywords in *declared*, distinct, at most `MAX_KEYWORDS`: a single text is a list of them.

    >>> keywords(["storm, sea, Storm"]), keywords(["Lee, Ann", "storm"])
    (('storm', 'sea'), ('Lee, Ann', 'storm'))
    """
    words = _BETWEEN.split(declared[0][:_MAX_READ]) if len(declared) == 1 else declared
    found: dict[str, str] = {}
    for word in words:
        keyword = plain_text(word, MAX_KEYWORD)
        if keyword and len(found) < MAX_KEYWORDS:
            found.setdefault(keyword.casefold(), keyword)
    return tuple(found.values())


_MAX_SCRIPTS = 50  # pages have one to five
_MAX_CHARS = 2_000_000  # of a script; an article with all its comments is shorter
_MAX_KEYWORDS = 200  # of an article; many have ten
_MAX_NODES = 5_000  # of a page: a list of a hundred products has some thousands
_DEEPEST = 12  # @graph, article, author, name is 4; also ends reference loops

_WRAPPING = re.compile(r"[\s\ufeff;]*(?:<!--|(?://|/\*)?\s*<!\[CDATA\[(?:\s*\*/)?)?\s*")
_OTHER_ARTICLES = frozenset(["blogposting", "liveblogposting", "report", "medicalwebpage"])
# These properties contain other articles than the page's own.
_NOT_THE_PAGE = frozenset(
    "hasPart itemListElement comment citation mentions isPartOf relatedLink review liveBlogUpdate".split()  # noqa: SIM905
)


def json_ld(tree: HtmlElement) -> ArticleParts | None:
    """Return the parts of the article that the JSON-LD of the page *tree* describes; None if it describes none.

    If there are several, the first with a headline is used.
    """
    scripts = [script.text_content() for script in tree.xpath("//script[contains(@type, 'ld+json')]")]
    nodes = statements(scripts)
    by_id: dict[str, dict[str, Any]] = {}
    for node in nodes:
        if len(node) > 1 and isinstance(node.get("@id"), str):
            by_id.setdefault(node["@id"], node)
    articles = [node for node in nodes if is_article(node)]
    pages = [node for node in nodes if "webpage" in _types(node)]
    if not articles and not pages:
        return None

    def resolve(value: Any) -> Any:
        name = value.get("@id") if isinstance(value, dict) else None
        return by_id.get(name, value) if isinstance(name, str) else value

    best = max(articles or pages, key=lambda node: bool(_text(node.get("headline"))))
    parts = _parts(best.get, resolve)
    return parts if articles else parts._replace(title="")  # the name of a page includes the site's name


def statements(scripts: list[str]) -> list[dict[str, Any]]:
    """Return the objects in the JSON-LD *scripts* of a page that describe the page, not pages that it lists."""
    nodes = (node for text in scripts[:_MAX_SCRIPTS] for value in _values(text) for node in _nodes(value, _DEEPEST))
    return list(islice(nodes, _MAX_NODES))


def _values(text: str) -> Iterator[Any]:
    """Yield the JSON values of a script, up to the first one that is broken."""
    decoder = json.JSONDecoder(strict=False)  # line breaks in strings are common
    text = text[:_MAX_CHARS]
    start = _WRAPPING.match(text).end()  # type: ignore[union-attr]
    with suppress(ValueError, RecursionError):
        while text[start : start + 1] in ("{", "["):
            value, end = decoder.raw_decode(text, start)
            yield value
            start = _WRAPPING.match(text, end).end()  # type: ignore[union-attr]


def _nodes(value: Any, deeper: int) -> Iterator[dict[str, Any]]:
    """Yield the objects in *value*, outer before inner ones, without those of other pages."""
    if isinstance(value, list):
        for part in value:
            yield from _nodes(part, deeper)
    elif isinstance(value, dict) and deeper:
        yield value
        for name, part in value.items():
            if isinstance(part, dict | list) and name not in _NOT_THE_PAGE:
                yield from _nodes(part, deeper - 1)


def _types(node: dict[str, Any]) -> Iterator[str]:
    for name in _listed(node.get("@type")):
        if isinstance(name, str):
            yield name.rpartition("/")[2].rpartition(":")[2].lower()


def is_article(node: dict[str, Any]) -> bool:
    """Return whether the object *node* is an article of any schema.org type."""
    return any(name.endswith("article") or name in _OTHER_ARTICLES for name in _types(node))


def _parts(get: Callable[[str], Any], resolve: Callable[[Any], Any]) -> ArticleParts:
    authors = [resolve(author) for author in _listed(get("author") or get("creator"))]
    publisher = resolve(next(iter(_listed(get("publisher"))), None))
    return ArticleParts(
        title=_text(get("headline")) or _text(get("name")),
        text=_text(get("articleBody")),
        published=_text(get("datePublished")) or _text(get("dateCreated")),
        authors=tuple(_author_names(authors)),
        section=_text(get("articleSection")),
        language=_text(get("inLanguage")),
        image=_image(get("image"), resolve) or _text(get("thumbnailUrl")),
        site_name=_text(publisher.get("name")) if isinstance(publisher, dict) else _text(publisher),
        description=_text(get("description")),
        keywords=tuple(filter(None, map(_text, _listed(get("keywords"))[:_MAX_KEYWORDS]))),
        modified=_text(get("dateModified")),
        is_free=_is_free(get),
    )


def _is_free(get: Callable[[str], Any]) -> bool | None:
    """Return whether all can read the article; None if nothing is said of it, or of its parts."""
    parts = [part for part in _listed(get("hasPart")) if isinstance(part, dict)]
    said = [get("isAccessibleForFree"), *(part.get("isAccessibleForFree") for part in parts)]
    words = [_text(str(one)).rpartition("/")[2].lower() for value in said for one in _listed(value)]
    # An article with one closed part is closed: some pages say nothing, or "true", of the whole.
    return False if "false" in words else True if "true" in words else None


def _author_names(authors: Iterable[Any]) -> Iterator[str]:
    for author in authors:
        if isinstance(author, dict):
            names = [name for name in _listed(author.get("name")) if isinstance(name, str)]
            names = names or [f"{_text(author.get('givenName'))} {_text(author.get('familyName'))}"]
        else:
            names = [author] if isinstance(author, str) else []
        yield from filter(None, map(_unescaped, names))


def _image(value: Any, resolve: Callable[[Any], Any]) -> str:
    for image in map(resolve, _listed(value)):
        url = (image.get("url") or image.get("contentUrl")) if isinstance(image, dict) else image
        if _text(url):
            return _text(url)
    return ""


def _text(value: Any) -> str:
    """Return the first text in *value*."""
    for part in _listed(value):
        if isinstance(part, str) and part.strip():
            return _unescaped(part)
        if isinstance(part, dict):
            inside = part.get("@value") or part.get("name") or part.get("alternateName")
            if isinstance(inside, str):
                return _unescaped(inside)
    return ""


def _unescaped(text: str) -> str:
    """Return *text* unescaped: scripts need no character references, yet many pages have them, some twice."""
    return unescape(unescape(text)).strip()


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


# For each part the names of its tags, the most reliable first; lower case, from property, name or itemprop.
_TITLES = ("og:title", "twitter:title")
_DATES = (
    "article:published_time", "og:article:published_time", "datepublished", "dc.date.issued", "parsely-pub-date",
    "publishdate", "publish_date", "cxenseparse:recs:publishtime", "citation_publication_date", "date", "dc.date",
)  # fmt: skip
_AUTHORS = ("author", "article:author", "parsely-author", "sailthru.author", "cxenseparse:author")
_SECTIONS = ("article:section", "og:article:section", "articlesection", "parsely-section", "section")
_IMAGES = ("og:image", "og:image:url", "twitter:image", "image")
_SITES = ("og:site_name", "application-name", "twitter:site")
_DESCRIPTIONS = ("og:description", "description", "twitter:description")
_KEYWORDS = ("news_keywords", "article:tag", "keywords", "parsely-tags", "sailthru.tags", "dc.subject")
_CHANGES = (
    "article:modified_time", "og:article:modified_time", "og:updated_time", "datemodified", "last-modified",
    "dcterms.modified", "article:modified",
)  # fmt: skip
_FREE = {"free": True, "locked": False, "metered": False}  # of article:content_tier, by Facebook
_LANGUAGES = ("og:locale", "dc.language", "language", "content-language")


def meta_tags(tree: HtmlElement) -> ArticleParts:
    """Return the article parts in the meta tags of the page *tree*."""
    values: dict[str, list[str]] = {}
    for node in tree.iter("meta"):
        content = (node.get("content") or "").strip()
        if content:
            for attribute in ("property", "name", "itemprop", "http-equiv"):
                for name in (node.get(attribute) or "").lower().split():
                    values.setdefault(name, []).append(content)

    def first(names: tuple[str, ...]) -> str:
        return next((values[name][0] for name in names if name in values), "")

    def names(name: str) -> list[str]:
        # Facebook expects URLs of profiles there.
        return [value for value in values.get(name, ()) if not value.lower().startswith(("http", "@"))]

    return ArticleParts(
        title=first(_TITLES),
        published=first(_DATES),
        authors=tuple(next(filter(None, map(names, _AUTHORS)), [])),
        section=first(_SECTIONS),
        language=tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or first(_LANGUAGES),
        canonical=_canonical(tree) or first(("og:url",)),
        image=first(_IMAGES),
        site_name=first(_SITES).lstrip("@"),
        description=first(_DESCRIPTIONS),
        keywords=tuple(next((values[name] for name in _KEYWORDS if name in values), [])),
        modified=first(_CHANGES),
        is_free=_FREE.get(first(("article:content_tier", "og:article:content_tier")).lower()),
    )


def _canonical(tree: HtmlElement) -> str:
    for node in tree.iter("link"):
        if "canonical" in (node.get("rel") or "").lower().split() and node.get("href"):
            return str(node.get("href"))
    return ""


_XPATH = re.compile(r"\.{0,2}/|\(|[a-z-]+\(")
# The attributes that hold the value of a selected element; the first existing one, otherwise its text.
_ATTRIBUTES = {
    "published": ("datetime", "content"),
    "image": ("src", "data-src", "content", "href"),
}


def check_selector(part: str, selector: str) -> None:
    """Raise `ConfigError` if the *selector* of a *part* is invalid."""
    try:
        _select(Selector("<html></html>"), selector)
    except (ValueError, SelectorError) as error:
        raise ConfigError(f"Invalid selector {selector!r} for {part}; write CSS or XPath ({error})") from error


def by_rules(tree: HtmlElement, rules: Mapping[str, str]) -> ArticleParts:
    """Return the parts of the page *tree* selected by *rules*; missing parts are empty."""
    if not rules:
        return ArticleParts()
    page = Selector(root=tree, type="html")
    found = {part: _found(page, part, selector) for part, selector in rules.items()}
    text, authors = "\n".join(found.pop("text", ())), tuple(found.pop("authors", ()))
    single: dict[str, Any] = {part: values[0] for part, values in found.items() if values}
    return ArticleParts(text=text, authors=authors, **single)


def _select(page: Selector, selector: str) -> list[Selector]:
    return page.xpath(selector) if _XPATH.match(selector) else page.css(selector)


def _found(page: Selector, part: str, selector: str) -> list[str]:
    values = []
    for match in _select(page, selector):
        node = match.root
        if hasattr(node, "iter"):
            named = (node.get(name) for name in _ATTRIBUTES.get(part, ()))
            value = next(filter(None, named), None) or lines_of(node)
        else:
            value = as_lines(str(node))
        if value:
            values.append(value)
    return values
