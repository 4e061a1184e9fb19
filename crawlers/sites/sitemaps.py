"""Reads sitemaps, sitemap indexes and news sitemaps, in XML or as text lines (https://www.sitemaps.org/protocol.html).

The XML is never held as a tree in memory, so that 50 MB of it need only the memory of the items.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from crawlers.reasons import Reason
from crawlers.sites.feed_items import MAX_ITEMS

if TYPE_CHECKING:
    from crawlers.sites.feed_items import FeedContent, Gathering

_CHUNK = 65_536
_VALUE_CHARS = 10_000  # of an address or a title; longer values are ignored
_PROBLEM_CHARS = 200
_ENTRIES = ("url", "sitemap")
_VALUES = frozenset(
    [
        ("url", "loc"), ("url", "lastmod"), ("sitemap", "loc"), ("sitemap", "lastmod"),
        ("news", "publication_date"), ("news", "title"), ("publication", "language"),
    ]
)  # fmt: skip
SITEMAP = "sitemap"  # the kind of one that is neither an index nor of news
_TEXT = re.compile(rb"\s*https?://", re.I)
UNDECLARED = "\ufffd"  # instead of the ampersand of a reference to an entity that XML does not know
_ENTITY = re.compile(rf"{UNDECLARED}(?=[A-Za-z][\w.-]*;)")


def is_text_sitemap(utf8: bytes) -> bool:
    """Return whether the bytes begin like a sitemap with one address per line."""
    return _TEXT.match(utf8) is not None


def read_text_sitemap(utf8: bytes, into: Gathering) -> FeedContent:
    """Return the addresses of a text sitemap."""
    for line in utf8.decode("utf-8", "replace").splitlines()[:MAX_ITEMS]:
        if line.lstrip()[:4].lower() == "http":
            into.item(line.strip(), None, is_article=False)
    return into.content(SITEMAP)


def read_sitemap(xml: bytes, into: Gathering) -> FeedContent:
    """Return the contents of the sitemap or index *xml*, which must be the root element only.

    The date of an item is that of its news, or of its last change. Only news items are articles. An address may stand
    in its entry without `<loc>`, and an entry may have several. One with an undeclared entity is unknown.
    """
    target = _Target(into)
    parser = etree.XMLParser(target=target, recover=True, no_network=True, resolve_entities=False, remove_pis=True)
    try:
        for start in range(0, len(xml), _CHUNK):
            parser.feed(xml[start : start + _CHUNK])
            if into.is_full:
                break
        parser.close()
    except (etree.LxmlError, UnicodeDecodeError):
        target.close()  # parsing cannot continue; the items so far are kept, and the error log has the cause
    error = next(iter(parser.feed_error_log.filter_from_errors()), None)
    problem = "" if error is None or into.is_full else Reason.FEED_BROKEN.of(str(error.message)[:_PROBLEM_CHARS])
    return into.content(target.kind, problem, target.language)


class _Target:
    """The target of lxml's parser events."""

    def __init__(self, into: Gathering) -> None:
        self.kind = SITEMAP
        self.language = ""
        self._into = into
        self._path: list[str] = []
        self._parents: list[str] = []  # the same, but without elements that hold only a value
        self._entry = ""
        self._is_news = False  # whether the entry is news
        self._values: dict[str, str] = {}
        self._value: list[str] | None = None
        self._direct: list[str] = []  # the text of the entry outside of its elements

    def start(self, tag: str, _attributes: object) -> None:
        name = tag.rpartition("}")[2].rpartition(":")[2].lower()
        parent = self._parents[-1] if self._parents else ""
        if self._value is not None:  # its element has no end tag
            self._take(self._path[-1], self._value)
        if name in _ENTRIES:
            self._hand_over()  # the previous entry has no end tag
            self._entry = name
        elif name == "loc" and parent in _ENTRIES and "loc" in self._values:
            self._hand_over()  # another address in the same entry
        elif name == "sitemapindex":
            self.kind = "sitemap index"
        elif name == "news":
            self.kind = "news sitemap"
            self._is_news = True
        self._value = [] if (parent, name) in _VALUES else None
        self._path.append(name)
        self._parents.append(parent if self._value is not None else name)

    def data(self, text: str) -> None:
        if self._value is not None:
            into = self._value
        elif self._path and self._path[-1] in _ENTRIES:
            into = self._direct
        else:
            return
        if len(into) < _VALUE_CHARS:
            into.append(text[:_VALUE_CHARS])

    def end(self, _tag: str) -> None:
        name = self._path.pop() if self._path else ""
        del self._parents[len(self._path) :]
        if self._value is not None:
            self._take(name, self._value)
        elif name in _ENTRIES:
            self._hand_over()

    def _take(self, name: str, value: list[str]) -> None:
        self._values.setdefault(name, "".join(value).strip()[:_VALUE_CHARS])
        self._value = None

    def close(self) -> None:
        self._hand_over()

    def _hand_over(self) -> None:
        values, self._values = self._values, {}
        direct, self._direct = "".join(self._direct).strip()[:_VALUE_CHARS], []
        is_news, self._is_news = self._is_news, False
        href = values.get("loc") or direct
        if _ENTITY.search(href):
            return
        if self._entry == "sitemap":
            self._into.more(href, values.get("lastmod"))
        else:
            date = values.get("publication_date") or values.get("lastmod")
            self._into.item(href, date, _ENTITY.sub("&", values.get("title", "")), is_article=is_news)
            self.language = self.language or values.get("language", "")
