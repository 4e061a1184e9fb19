"""Reads structured data about an article: schema.org, as JSON-LD or as microdata.

Pages use it carelessly: several blocks, several articles (including those of the sidebar), names in place of
objects, invalid JSON. Unreadable parts are skipped; nothing here raises.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

from crawlers.missions.news.article.article_parts import ArticleParts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lxml.html import HtmlElement

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
_ARTICLE_ITEM = "//*[@itemscope and @itemtype and (contains(@itemtype, 'Article') or contains(@itemtype, 'Posting'))]"


def json_ld(tree: HtmlElement, urls: frozenset[str]) -> ArticleParts | None:
    """Return the parts of the article that the JSON-LD of the page *tree* describes; None if it describes none.

    If there are several, the first that names one of *urls* (the URLs of the page) is used, or the first of all.
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

    best = max(articles or pages, key=lambda node: (_names(node, urls), bool(_text(node.get("headline")))))
    parts = _parts(best.get, resolve)
    return parts if articles else parts._replace(title="")  # the name of a page includes the site's name


def statements(scripts: list[str]) -> list[dict[str, Any]]:
    """Return the objects in the JSON-LD *scripts* of a page that describe the page, not pages that it lists."""
    nodes = (node for text in scripts[:_MAX_SCRIPTS] for value in _values(text) for node in _nodes(value, _DEEPEST))
    return list(islice(nodes, _MAX_NODES))


def microdata(tree: HtmlElement) -> ArticleParts | None:
    """Return the parts of the first article marked up in microdata on the page *tree*; None if there is none."""
    for item in tree.xpath(_ARTICLE_ITEM)[:_MAX_SCRIPTS]:
        found: dict[str, list[Any]] = {}
        for node in item.iterdescendants():
            names = node.get("itemprop")
            if names and _item_of(node) is item:
                for name in names.split():
                    found.setdefault(name, []).append(_microdata_value(node))
        if "headline" in found or "name" in found or "datePublished" in found:
            found.setdefault("headline", found.get("name", []))
            return _parts(found.get, lambda value: value)
    return None


def _item_of(node: HtmlElement) -> HtmlElement | None:
    return next((above for above in node.iterancestors() if above.get("itemscope") is not None), None)


def _microdata_value(node: HtmlElement) -> Any:
    if node.get("itemscope") is not None:
        inside = {
            child.get("itemprop"): _plain_value(child)
            for child in node.iterdescendants()
            if child.get("itemprop") and _item_of(child) is node
        }
        return inside or _plain_value(node)
    return _plain_value(node)


def _plain_value(node: HtmlElement) -> str:
    for name in ("content", "datetime", "src", "href"):
        value = node.get(name)
        if value and (name != "href" or node.tag == "link"):
            return str(value)
    return " ".join(node.text_content().split())


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


def _names(node: dict[str, Any], urls: frozenset[str]) -> bool:
    for name in ("mainEntityOfPage", "url", "@id"):
        for value in _listed(node.get(name)):
            url = value.get("@id") or value.get("url") if isinstance(value, dict) else value
            if isinstance(url, str) and urldefrag(url)[0] in urls:
                return True
    return False


def _parts(get: Callable[[str], Any], resolve: Callable[[Any], Any]) -> ArticleParts:
    authors = [resolve(author) for author in _listed(get("author") or get("creator"))]
    persons = [author for author in authors if not _is_organisation(author)]
    publisher = resolve(next(iter(_listed(get("publisher"))), None))
    return ArticleParts(
        title=_text(get("headline")) or _text(get("name")),
        text=_text(get("articleBody")),
        published=_text(get("datePublished")) or _text(get("dateCreated")),
        authors=tuple(_author_names(persons or authors)),
        organisations=tuple(_author_names(author for author in authors if _is_organisation(author))),
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


def _is_organisation(author: Any) -> bool:
    types = [*_types(author)] if isinstance(author, dict) else []
    return "person" not in types and any(name.endswith("organization") for name in types)


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
