"""What the HTML of a page says for and against its being an article: evidence for `article_labels`.

Runs in the reactor for every page, so it reads the tree that is there already, and texts of links only as far as
they can matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.news.article_labels import Evidence
from crawlers.extraction.article.json_ld import is_article, statements

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from crawlers.extraction.html import ParsedPage

BLOCK_CHARS = 800  # of paragraphs next to each other: an article, not teasers
SPARSE = 0.3  # of the text in links: more is a list of teasers
_MOST_LINKS = 1_000  # whose texts are read; behind them a page is a list anyway
_MOST_JSON = 100_000  # characters of JSON-LD: more is a catalogue, and takes too long in the reactor
_NEAR_H1 = 6  # elements up from the h1 in which its date stands

_ITEM = '[itemtype*="Article"],[itemtype*="BlogPosting"]'
_HEAD = (
    'meta[property="og:type"],meta[property="article:published_time"],meta[itemprop="datePublished"],'
    'link[rel="next"],link[rel="prev"]'
)


def evidence(parsed: ParsedPage, text: str, is_prefix_of: int = 0) -> Evidence:
    """Return what speaks for and against an article on the page *parsed*, whose `text` is *text*.

    *is_prefix_of*: how many URLs of its links begin with its own.
    """
    tree = parsed.tree
    has_date, kind, has_pagination = _head(tree)
    headings = tree.css("h1")
    is_texty = len(headings) == 1 and len(text) > BLOCK_CHARS and _has_block(tree)
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
    """Return whether the head tells a date of publication, its og:type, and whether it names a next page."""
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
    """Tell whether the page says that it is one article; one that lists several in microdata is none."""
    scripts = parsed.json_ld
    if scripts and sum(map(len, scripts)) <= _MOST_JSON and any(map(is_article, statements(scripts))):
        return True
    return len(parsed.tree.css(_ITEM)) == 1


def _has_date_near(heading: LexborNode) -> bool:
    """Tell whether a <time datetime> stands near *heading*, in the smallest box around it that has one, alone."""
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
    linked = _bytes("".join([parsed.node(index).text() for index in range(min(_MOST_LINKS, len(parsed.hrefs)))]))
    return min(linked / whole, 1.0) if whole else 0.0


def _bytes(text: str) -> int:
    """Return the length of *text* without blanks; in bytes, which is the same for a ratio, and fast."""
    return len(text.encode("utf-8", "replace").translate(None, b" \t\r\n"))


def _has_block(tree: LexborHTMLParser) -> bool:
    """Tell whether paragraphs with one parent hold more than `BLOCK_CHARS` characters, few of them in links."""
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
