"""Reads the meta tags and links in the head of a page: Open Graph, Dublin Core, Parsely …"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.missions.news.article.article_parts import ArticleParts

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# For each part the names of its tags, the most reliable first; lower case, from property, name or itemprop.
_TITLES = ("og:title", "twitter:title", "dc.title", "dcterms.title", "citation_title", "parsely-title", "headline")
_DATES = (
    "article:published_time", "og:article:published_time", "article:published", "datepublished", "date_published",
    "dc.date.issued", "dcterms.issued", "dc.date.created", "dcterms.created", "parsely-pub-date", "sailthru.date",
    "publishdate", "publish_date", "publish-date", "publication_date", "pubdate", "article.published",
    "cxenseparse:recs:publishtime", "cxenseparse:publishtime", "citation_publication_date", "date", "dc.date",
)  # fmt: skip
_AUTHORS = (
    "author", "article:author", "parsely-author", "dc.creator", "dcterms.creator", "byl", "sailthru.author",
    "cxenseparse:author", "authors", "citation_author", "og:article:author",
)  # fmt: skip
_SECTIONS = ("article:section", "og:article:section", "articlesection", "parsely-section", "section")
_IMAGES = ("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "image")
_SITES = ("og:site_name", "application-name", "dc.publisher", "publisher", "twitter:site")
_DESCRIPTIONS = ("og:description", "description", "twitter:description", "dc.description", "dcterms.description")
_KEYWORDS = (
    "news_keywords",
    "article:tag",
    "keywords",
    "parsely-tags",
    "sailthru.tags",
    "dc.subject",
    "dcterms.subject",
)
_CHANGES = (
    "article:modified_time", "og:article:modified_time", "og:updated_time", "datemodified", "date_modified",
    "last-modified", "dcterms.modified", "dc.date.modified", "article:modified", "lastmod", "revised",
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
