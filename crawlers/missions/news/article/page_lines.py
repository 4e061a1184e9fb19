"""The short lines of text that a page shows, with their places: near the headline are its date and its authors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lxml import etree

from crawlers.missions.news.article.headline import letters_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_ELEMENTS = 20_000  # of a page, that are looked at
MAX_LINES = 3_000  # that are kept

_MAX_CHARS = 150  # of a line
_BEFORE = 2  # times as far as behind the headline: there are the dates of the issue, and other articles
_MIN_SHARE = 0.5  # of a heading or title in the other one
_HEADINGS = frozenset(["h1", "h2", "h3"])
_UNRELATED = frozenset("script style noscript template nav footer select iframe svg".split())  # noqa: SIM905


class PageLine(NamedTuple):
    """The text of one element without its children."""

    position: int  # number of the element
    node: HtmlElement
    text: str
    names: str  # class, id and other names of the element


class PageLines(NamedTuple):
    """The lines of a page, and the positions of its headlines."""

    lines: tuple[PageLine, ...]
    headings: tuple[int, ...]

    def distance(self, line: PageLine) -> int:
        """Return the number of elements between *line* and the nearest headline; 0 if the page has no headline."""
        at = line.position
        return min((at - one if at >= one else _BEFORE * (one - at) for one in self.headings), default=0)


def page_lines(tree: HtmlElement, title: str) -> PageLines:
    """Return the lines of the page *tree* that are short, without those of navigation and footers.

    The headlines are those with the *title* of the article; if there is none, all h1 elements.
    """
    wanted = letters_of(title)
    titles: list[int] = []
    headings: list[int] = []
    lines: list[PageLine] = []
    walk = etree.iterwalk(tree, events=("start",))
    for position, (_, node) in enumerate(walk):
        if position > MAX_ELEMENTS or len(lines) > MAX_LINES:
            break
        if node.tag in _UNRELATED:
            walk.skip_subtree()
            continue
        if node.tag in _HEADINGS:
            if node.tag == "h1":
                headings.append(position)
            if _is_title(letters_of(node.text_content()), wanted):
                titles.append(position)
        text = " ".join("".join([node.text or "", *(child.tail or "" for child in node)]).split())
        if (text or node.tag == "time") and len(text) <= _MAX_CHARS:
            names = [node.get(name) for name in ("class", "id", "itemprop", "rel", "href")]
            lines.append(PageLine(position, node, text, " ".join(filter(None, names))))
    return PageLines(tuple(lines), tuple(titles or headings))


def _is_title(heading: str, title: str) -> bool:
    """Return whether a heading is the title, with or without a kicker; both in letters."""
    shorter, longer = sorted((heading, title), key=len)
    return shorter in longer and len(shorter) >= _MIN_SHARE * len(longer) > 0
