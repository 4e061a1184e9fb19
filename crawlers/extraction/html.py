"""What a page says: its links, title, base, canonical URL and text, from one pass of Lexbor over its bytes.

Parsed as a browser without scripting does: links in <noscript> count, links in comments, <template>,
<noframes> and scripts don't. Nothing is resolved, judged or dropped here; that is the caller's.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from crawlers.extraction.charset import decode
from crawlers.extraction.link_context import RawLink, Surroundings, collapse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

LINK_TAGS = {"a": "href", "area": "href", "link": "href", "frame": "src", "iframe": "src", "meta": "content"}
TITLE_CHARS = 500

_BLANK = "".join(map(chr, range(0x21)))  # C0 controls and space: what the URL Standard strips
_METADATA = frozenset(
    ["title", "base", "link", "meta", "script", "style", "noscript", "img", "iframe", "-text", "-comment"]
)
_REFRESH = re.compile(r"[\s\d.]*[;,]?\s*url\s*=\s*(.*)|\s*[\d.]+[\s;,]+(.*)", re.I | re.S)
_ONLY_A = frozenset({"a"})
_ROBOTS_SEPARATOR = re.compile(r"[\s,]+")

_MAX_DEPTH = 512  # as in browsers
_HARMLESS_BYTES = 8192  # too short for more than 70 MB and 70 ms
_PROBE_EVERY = 16384  # nesting that is harmful is longer than this
_PROBE_BYTES = 2048
_PROBE_OPEN = 48  # of some 100 tags; other pages leave a third of that open (<br>, <meta>)
_ANY_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# Void elements, and those that the next of their kind ends.
_NEVER_DEEP = frozenset(
    b"a area base br col dd dt embed frame hr img input li link meta option p param source td th tr wbr".split()
)
# Kept: links and metadata, and what hides tags from a parser.
_OTHER_TAG = re.compile(
    rb"</?(?!(?:a|area|base|body|frame|frameset|head|html|iframe|link|meta|noframes|script|style|template"
    rb"|textarea|title)[\s/>])[a-zA-Z](?:(?:[^<>\"']|\"[^<\"]*\"|'[^<']*')*+>|[^<>]*>)",
    re.I,
)

_MOST_ATTRIBUTES = 256  # of a tag, with different names; Lexbor compares each with all before it
_BLOCK_BYTES = 1024  # a tag that holds no whole block is short enough
_MOST_ROOTS = 8  # <html> and <body> in a probe; the attributes of all are gathered in the first one
_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]++))?+"""
_TAG = rb"<[a-zA-Z][^\s/>]*+"
_CROWDED = re.compile(rb"%b(?:%b){%d}" % (_TAG, _ATTRIBUTE, _MOST_ATTRIBUTES + 1))
# All that begins with <, so that what looks like a tag in a script is none; and what a tag has too many of.
_SURPLUS = re.compile(
    rb"(<!--.*?(?:-->|\Z)|<(?:script|style|textarea|title)\b.*?(?:</|\Z))|(%b(?:%b){0,%d}+)(?:%b)*+"
    % (_TAG, _ATTRIBUTE, _MOST_ATTRIBUTES, _ATTRIBUTE),
    re.I | re.S,
)
_ROOT_TAG = re.compile(rb"<(?:html|body)(?=[\s/>])[^>]*+>?", re.I)


class ParsedPage:
    """A page, parsed. Keeps the tree alive as long as it or one of its links lives.

    `hrefs` is for the hot path: the raw links in document order, stripped, repeated as often as on
    the page, so that `Counter(page.hrefs)` counts them; `hrefs[i]` is the link `link(i)`.
    """

    __slots__ = (
        "_around", "_json_ld", "_nodes", "_tag", "_tree", "base", "canonical", "charset", "hrefs", "robots", "title",
    )  # fmt: skip

    def __init__(self, tree: LexborHTMLParser, charset: str, tags: frozenset[str]) -> None:
        self._tree = tree
        self._around = Surroundings()
        self._json_ld: list[str] = []  # of the scripts that left the tree
        self.charset = charset
        self.title = ""
        self.base: str | None = None  # raw href of the first <base href>
        self.canonical = ""  # raw href of the first <link rel=canonical>
        self.robots: frozenset[str] = frozenset()  # out of noindex, nofollow
        self._read_metadata()
        self._tag = next(iter(tags)) if len(tags) == 1 else ""
        self._nodes, self.hrefs = _links(tree, tags)

    def link(self, index: int) -> RawLink:
        """Return the link whose href is `hrefs[index]`."""
        node = self._nodes[index]
        return RawLink(self.hrefs[index], self._tag or node.tag or "", node, self._around)

    def node(self, index: int) -> LexborNode:
        """Return the element whose href is `hrefs[index]`."""
        return self._nodes[index]

    @property
    def links(self) -> list[RawLink]:
        """All links in document order, made anew each time."""
        return [self.link(index) for index in range(len(self.hrefs))]

    def first(self) -> dict[str, int]:
        """Return the index of the first link of each distinct href; in no particular order."""
        last = len(self.hrefs) - 1
        return dict(zip(reversed(self.hrefs), range(last, -1, -1), strict=True))

    def text(self) -> str:
        """Return the text of the body without scripts and styles, with the whitespace of the page.

        To compare texts, drop whitespace at the speed of C: `text.encode().translate(None, b" \\t\\r\\n")`;
        collapsing it takes three times as long as all the rest. Scripts leave the tree, which no link
        notices.
        """
        root = self._tree.body or self._tree.root
        if root is None:
            return ""
        for node in root.css("script,style"):
            if "ld+json" in (node.attrs.sget("type") or ""):
                self._json_ld.append(node.text())
            node.decompose()
        return root.text(separator=" ", skip_empty=True)

    @property
    def tree(self) -> LexborHTMLParser:
        """The tree, to be read only; after `text` without scripts and styles of the body."""
        return self._tree

    @property
    def json_ld(self) -> list[str]:
        """What scripts say in JSON-LD, raw, before or after `text`."""
        return self._json_ld + [node.text() for node in self._tree.css('script[type*="ld+json"]')]

    def _read_metadata(self) -> None:
        robots: set[str] = set()
        titled = False
        for node in _metadata(self._tree):
            tag = node.tag
            if tag == "title" and not titled:
                self.title = collapse(node.text())[:TITLE_CHARS].rstrip()
                titled = True
                continue
            attributes = node.attributes
            if tag == "base" and self.base is None and "href" in attributes:
                self.base = _strip(attributes["href"])
            elif tag == "link" and not self.canonical:
                if "canonical" in (attributes.get("rel") or "").lower().split():
                    self.canonical = _strip(attributes.get("href"))
            elif tag == "meta" and _strip(attributes.get("name")).lower() == "robots":
                robots.update(_ROBOTS_SEPARATOR.split((attributes.get("content") or "").lower()))
        if self.base is None:
            base = self._tree.css_first("base[href]")
            self.base = None if base is None else _strip(base.attributes.get("href"))
        if "none" in robots:
            robots |= {"noindex", "nofollow"}
        self.robots = frozenset(robots & {"noindex", "nofollow"})


def parse_page(body: bytes, content_type: str | None, tags: frozenset[str]) -> ParsedPage:
    """Return what the page *body* says; never raises, whatever the bytes.

    *content_type* is the HTTP header, which may name a charset; *tags* are those whose links are
    wanted, out of `LINK_TAGS`. The caller limits the size of *body*.
    """
    utf8, charset = decode(body, content_type)
    return ParsedPage(LexborHTMLParser(thin(_flatten(utf8))), charset, frozenset(tags & LINK_TAGS.keys()))


def _links(tree: LexborHTMLParser, tags: frozenset[str]) -> tuple[list[LexborNode], list[str]]:
    """Return the nodes that are links, in document order, and their hrefs."""
    if not tags or tree.root is None:
        return [], []
    nodes = tree.css(_selector(tags))
    if tags == _ONLY_A:
        try:
            # Nearly every page: one attribute, the same of all nodes, with a value.
            hrefs = [node.attrs["href"].strip(_BLANK) for node in nodes]  # type: ignore[union-attr]
        except (KeyError, AttributeError):
            pass
        else:
            if "" not in hrefs:
                return nodes, hrefs
    found = [(node, href) for node in nodes if (href := _href(node)) is not None]
    return [node for node, _ in found], [href for _, href in found]


@cache
def _selector(tags: frozenset[str]) -> str:
    return ",".join(f"{tag}[{'http-equiv' if tag == 'meta' else LINK_TAGS[tag]}]" for tag in sorted(tags))


def _href(node: LexborNode) -> str | None:
    """Return the href of a node that `_selector` found; None if it is no link."""
    tag = node.tag or ""
    attributes = node.attributes
    name = LINK_TAGS.get(tag, "")
    if name not in attributes:  # the selector takes SVG's xlink:href for href
        return None
    value = attributes[name] or ""
    if tag == "meta":
        return _refresh(value) if _strip(attributes.get("http-equiv")).lower() == "refresh" else None
    href = value.strip(_BLANK)
    # An empty href is the page itself; blanks alone are a slip, and an empty frame is an empty frame.
    return href if href or (not value and name == "href") else None


def _refresh(content: str) -> str | None:
    """Return the URL in the *content* of a refresh, as browsers read it, None if it only reloads.

    >>> _refresh("5; URL='next.html'"), _refresh("0;/end"), _refresh("30")
    ('next.html', '/end', None)
    """
    found = _REFRESH.match(content)
    if found is None:
        return None
    url = found[1] if found[1] is not None else found[2]
    if url[:1] in ("'", '"'):
        url = url[1:].partition(url[0])[0]
    return url.strip(_BLANK) or None


def _metadata(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """Yield title, base, link and meta of the head, and of the first children of the body.

    An image in <noscript> (a tracking pixel) ends the head early; what was meant for the head then
    begins the body.
    """
    if tree.head is not None:
        yield from tree.head.css("title,base,link,meta")
    if tree.body is not None:
        for node in tree.body.iter():
            if node.tag not in _METADATA:
                break
            yield node


def _strip(value: str | None) -> str:
    return value.strip(_BLANK) if value else ""


def _flatten(body: bytes) -> bytes:
    """Return *body*, freed of the tags that are no links if its elements nest too deep to be parsed.

    Lexbor takes time quadratic in the depth, as the HTML Standard has it (1 MB of <div>: 174 s), and
    memory where styles are left open (30 kB of <p><font color=…>: 540 MB). Browsers stop at a depth of
    512; a page that deep is broken, and its links are all that can be had.
    """
    if len(body) < _HARMLESS_BYTES:
        return body
    for start in range(0, len(body), _PROBE_EVERY):
        # Each level opens an element that this probe doesn't close; <br> and <p> look the same.
        end = start + _PROBE_BYTES
        if body.count(b"<", start, end) - 2 * body.count(b"</", start, end) > _PROBE_OPEN:
            return _OTHER_TAG.sub(b" ", body) if _depth(body) > _MAX_DEPTH else body
    return body


def _depth(body: bytes) -> int:
    """Return how deep the elements of *body* nest, if each end tag ends the last one of its name."""
    opened: dict[bytes, int] = {}
    depth = deepest = 0
    for end, name in _ANY_TAG.findall(body):
        name = name.lower()
        if name in _NEVER_DEEP:
            continue
        count = opened.get(name, 0)
        if not end:
            opened[name] = count + 1
            depth += 1
            deepest = max(deepest, depth)
        elif count:
            opened[name] = count - 1
            depth -= 1
    return deepest


def thin(body: bytes) -> bytes:
    """Return *body*, freed of surplus attributes if a tag has too many of them to be parsed.

    Lexbor takes time quadratic in them (40,000: 3 s), as in those of repeated <body>. Such a page is broken.
    """
    if len(body) < _HARMLESS_BYTES:
        return body
    if _is_crowded(body):
        body = _SURPLUS.sub(rb"\1\2", body)
    for start in range(0, len(body), _PROBE_EVERY):
        if len(_ROOT_TAG.findall(body, start, start + _PROBE_BYTES)) > _MOST_ROOTS:
            return _ROOT_TAG.sub(b" ", body)
    return body


def _is_crowded(body: bytes) -> bool:
    """Whether a tag that is longer than usual has too many attributes."""
    for start in range(0, len(body) - _BLOCK_BYTES, _BLOCK_BYTES):
        if body.find(b">", start, start + _BLOCK_BYTES) < 0:
            tag = body.rfind(b"<", max(0, start - _BLOCK_BYTES), start + 1)
            if tag >= 0 and _CROWDED.match(body, tag):
                return True
    return False
