"""A site's own rules for its articles: CSS or XPath selectors of the parts.

    title: h1.headline
    text: div.story p
    published: //span[@class="when"]/@data-time
    authors: a[rel=author]::text

Selectors that begin with a slash, a bracket or a function name are XPath, all others CSS with parsel's `::text` and
`::attr(name)`. If several elements match, the first is used; for text and authors, all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cssselect import SelectorError
from parsel import Selector

from crawlers.errors import ConfigError
from crawlers.missions.news.article.article_parts import ArticleParts
from crawlers.missions.news.article.article_text import as_lines, lines_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml.html import HtmlElement

PARTS = ("title", "text", "published", "authors", "section", "language", "canonical", "image")

_XPATH = re.compile(r"\.{0,2}/|\(|[a-z-]+\(")
# The attributes that hold the value of a selected element; the first existing one, otherwise its text.
_ATTRIBUTES = {
    "published": ("datetime", "content"),
    "language": ("lang", "content"),
    "canonical": ("href", "content"),
    "image": ("src", "data-src", "content", "href"),
}


def check_rules(rules: Mapping[str, str]) -> None:
    """Raise `ConfigError` if one of *rules*, selectors by part, is invalid."""
    nothing = Selector("<html></html>")
    for part, selector in rules.items():
        if part not in PARTS:
            raise ConfigError(f"Unknown article part {part!r}; choose one of: {', '.join(PARTS)}")
        try:
            _select(nothing, selector)
        except (ValueError, SelectorError) as error:
            raise ConfigError(f"Invalid selector {selector!r} for {part}; write CSS or XPath ({error})") from error


def by_rules(tree: HtmlElement, rules: Mapping[str, str]) -> ArticleParts:
    """Return the parts of the page *tree* selected by *rules*; missing parts are empty."""
    if not rules:
        return ArticleParts()
    page = Selector(root=tree, type="html")
    found = {part: _found(page, part, selector) for part, selector in rules.items() if part in PARTS}
    single: dict[str, Any] = {
        part: values[0] for part, values in found.items() if values and part not in ("text", "authors")
    }
    return ArticleParts(text="\n".join(found.get("text", ())), authors=tuple(found.get("authors", ())))._replace(
        **single
    )


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
