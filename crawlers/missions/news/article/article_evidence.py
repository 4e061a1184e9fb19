"""Is a page an article? The evidence in its HTML and in feeds, as a sum of log-odds.

The HTML is searched in the reactor for every page, so the existing tree is used, and texts of links are read only as
far as they can change the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crawlers.missions.news.article.page_metadata import is_article, statements

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from crawlers.pages.html import ParsedPage

SURE = 2.0  # positive evidence must exceed this value, negative evidence must reach it
IN_FEED = 3.0  # the page is in RSS, Atom, JSON Feed or a news sitemap
DATED = 1.5  # the page has a date of publication
DENSE = 0.6  # a page with a larger share of its text in links is a list
MIN_PREFIXES = 5  # a URL with which at least this many other URLs begin is a directory


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence in the HTML of a page."""

    structured: bool = False  # JSON-LD or microdata: NewsArticle, Article, BlogPosting
    og_article: bool = False
    has_date: bool = False  # article:published_time, or <time datetime> near the h1
    is_texty: bool = False  # one to three h1, a block of more than 800 characters, link density below 0.3
    link_density: float = 0.0  # share of the text in links
    og_website: bool = False
    has_pagination: bool = False  # rel=next or prev
    is_prefix_of: int = 0  # number of other URLs of the host that begin with this one


def log_odds(evidence: Evidence) -> float:
    """Return the evidence for (positive) or against (negative) an article, as a sum of log-odds.

    >>> log_odds(Evidence(structured=True, is_prefix_of=5))
    1.0

    Notes
    -----
    The weights are estimates, not fitted: explicit declarations of a site (its feed, its markup) count most.
    """
    weights = (
        (evidence.structured, 3.0),
        (evidence.og_article, 2.0),
        (evidence.has_date, DATED),
        (evidence.is_texty, 1.5),
        (evidence.link_density > DENSE, -2.0),
        (evidence.og_website, -1.5),
        (evidence.has_pagination, -1.5),
        (evidence.is_prefix_of >= MIN_PREFIXES, -2.0),
    )
    return sum(weight for holds, weight in weights if holds)


class StoredLabel(NamedTuple):
    """What was found on a page when it was read for the first time."""

    site: str
    url: str
    odds: float  # that it is an article, see `log_odds`
    at: float = 0.0  # when it was labelled


def label(odds: float) -> bool | None:
    """Return whether a page with these *odds*, from `log_odds`, is an article; None if they are uncertain.

    A single og:type is not enough for an article, whereas a high link density is enough against one: the page is a
    list, whatever its URL looks like, unless its markup, its date or its text outweigh the links.

    >>> label(3.0), label(2.0), label(-2.0)
    (True, None, False)
    """
    return True if odds > SURE else False if odds <= -SURE else None


BLOCK_CHARS = 800  # of adjacent paragraphs: an article, not teasers
MOST_H1 = 3  # of an article: the name of the paper or a rubric may be others; comments often have none, lists many
SPARSE = 0.3  # of the text in links: a higher share is a list of teasers
_MAX_LINKS = 1_000  # whose texts are read; a page with more links is a list anyway
_MAX_JSON = 100_000  # characters of JSON-LD: longer ones are catalogues, and too slow for the reactor
_NEAR_H1 = 6  # levels from the h1 up to the element with the date

_ITEM = '[itemtype*="Article"],[itemtype*="BlogPosting"]'
_HEAD = (
    'meta[property="og:type"],meta[property="article:published_time"],meta[itemprop="datePublished"],'
    'link[rel="next"],link[rel="prev"]'
)


def evidence(parsed: ParsedPage, is_prefix_of: int = 0) -> Evidence:
    """Return the evidence for and against an article on the page *parsed*.

    *is_prefix_of* is the number of links whose URLs begin with the URL of the page.
    """
    text, tree = parsed.text, parsed.tree
    has_date, kind, has_pagination = _head(tree)
    headings = tree.css("h1")
    is_texty = 1 <= len(headings) <= MOST_H1 and len(text) > BLOCK_CHARS and _has_block(tree)
    return Evidence(
        structured=_is_structured(parsed),
        og_article=kind.startswith("article"),
        has_date=has_date or (len(headings) > 0 and _has_date_near(headings[0])),
        is_texty=is_texty,
        link_density=_link_density(parsed, text),
        og_website=kind == "website",
        has_pagination=has_pagination or tree.css_first('a[rel="next"],a[rel="prev"]') is not None,
        is_prefix_of=is_prefix_of,
    )


def _head(tree: LexborHTMLParser) -> tuple[bool, str, bool]:
    """Return whether the head has a date of publication, its og:type, and whether it links to a next page."""
    has_date = has_pagination = False
    kind = ""
    for node in tree.css(_HEAD):
        attributes = node.attributes
        if node.tag == "link":
            has_pagination = True
        elif attributes.get("property") == "og:type":
            kind = kind or (attributes.get("content") or "").strip().lower()
        else:
            has_date = has_date or bool(attributes.get("content"))
    return has_date, kind, has_pagination


def _is_structured(parsed: ParsedPage) -> bool:
    """Return whether the page is marked up as one article; several articles in microdata do not count."""
    scripts = parsed.json_ld
    if scripts and sum(map(len, scripts)) <= _MAX_JSON and any(map(is_article, statements(scripts))):
        return True
    return len(parsed.tree.css(_ITEM)) == 1


def _has_date_near(heading: LexborNode) -> bool:
    """Return whether <time datetime> is alone near *heading*, in the smallest box around it that has one."""
    box = heading.parent
    for _ in range(_NEAR_H1):
        if box is None or box.tag in ("body", "html"):
            return False
        times = box.css("time[datetime]")
        if times:
            return len(times) <= 2  # published, and updated
        box = box.parent
    return False


def _link_density(parsed: ParsedPage, text: str) -> float:
    whole = _bytes(text)
    linked = _bytes("".join([parsed.node(index).text() for index in range(min(_MAX_LINKS, len(parsed.hrefs)))]))
    return min(linked / whole, 1.0) if whole else 0.0


def _bytes(text: str) -> int:
    """Return the length of *text* without blanks, in bytes, which is fast and equivalent for a ratio."""
    return len(text.encode("utf-8", "replace").translate(None, b" \t\r\n"))


def _has_block(tree: LexborHTMLParser) -> bool:
    """Return whether paragraphs of one parent have more than `BLOCK_CHARS` characters, few of them in links."""
    blocks: dict[int, int] = {}
    for node in tree.css("body p"):
        parent = node.parent
        if parent is None:
            continue
        held = blocks.get(parent.mem_id, 0)
        chars = blocks[parent.mem_id] = held + len(node.text())
        if held <= BLOCK_CHARS < chars and sum(len(link.text()) for link in parent.css("p a")) < SPARSE * chars:
            return True
    return False
