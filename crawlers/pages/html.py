"""Parses a page with Lexbor in one pass: links, title, base, canonical URL and text.

The page is parsed like in a browser without scripting: links in <noscript> count, links in comments,
<template>, <noframes> and scripts do not. Resolving, classifying and filtering links is up to the caller.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from itertools import islice
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from crawlers.pages.charset import decode
from crawlers.pages.link_context import LinkTexts, Surroundings, collapse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selectolax.lexbor import LexborNode

LINK_TAGS = {"a": "href", "area": "href", "link": "href", "frame": "src", "iframe": "src", "meta": "content"}
TITLE_CHARS = 500
MAX_LINKS = 30_000  # of a page, 2 kB and 10 µs each; pages that people read have some hundred, rarely ten thousand

_LINK_BYTES = len("<a>")
_BLANK = "".join(map(chr, range(0x21)))  # C0 controls and space: what the URL Standard strips
_HTML_IN_SVG = "foreignObject"
_METADATA = 'title,base[href],link[rel*="canonical" i],meta[name*="robots" i]'
_FOREIGN = frozenset({"svg", "math", _HTML_IN_SVG})
_MAX_METADATA = 1000  # elements whose ancestors are examined; icons may have titles
# The shared declarative refresh steps of the HTML Standard, 4.2.5.3: seconds, a separator, and the rest.
_REFRESH = re.compile(
    r"[\t\n\f\r ]*(?:[0-9]+|(?=\.))[0-9.]*(?=[;,\t\n\f\r ])[\t\n\f\r ]*+[;,]?+[\t\n\f\r ]*+(.+)", re.S
)
_REFRESH_URL = re.compile(r"url[\t\n\f\r ]*=[\t\n\f\r ]*", re.I)
_ROBOTS_SEPARATOR = re.compile(r"[\s,]+")

_MAX_DEPTH = 512  # as in browsers
_MAX_TAGS = 200_000  # start and end tags, up to 300 bytes each in the tree; of 42,000 real pages one has more
_PART_BYTES = 1 << 20  # in which tags are removed together, since each takes 100 bytes meanwhile
_HARMLESS_BYTES = 8192  # too short to take more than 70 MB and 70 ms
_PROBE_EVERY = 16384  # harmful nesting is longer than this
_PROBE_BYTES = 2048
_PROBE_OPEN = 48  # of some 100 tags; a third of them stays open in other pages (<br>, <meta>)
_ANY_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# Void elements, and elements that end where the next of their kind begins.
_NEVER_DEEP = frozenset(
    b"a area base br col dd dt embed frame hr img input li link meta option p param source td th tr wbr".split()
)
# Links, metadata, and elements whose content is not parsed as tags are kept.
_OTHER_TAG = re.compile(
    rb"</?(?!(?:a|area|base|body|frame|frameset|head|html|iframe|link|meta|noframes|script|style|template"
    rb"|textarea|title)[\s/>])[a-zA-Z](?:(?:[^<>\"']|\"[^<\"]*\"|'[^<']*')*+>|[^<>]*>)",
    re.I,
)

_MAX_ATTRIBUTES = 256  # different attributes of one tag; Lexbor compares each with all previous ones
_BLOCK_BYTES = 1024  # a tag that contains no complete block is short enough
_MAX_ROOTS = 8  # <html> and <body> in a probe; the first one collects the attributes of all
_ATTRIBUTE = rb"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]++))?+"""
_TAG = rb"<[a-zA-Z][^\s/>]*+"
_CROWDED = re.compile(rb"%b(?:%b){%d}" % (_TAG, _ATTRIBUTE, _MAX_ATTRIBUTES + 1))
# Alternatives for everything that begins with <, so that text in scripts is not read as tags; then surplus attributes.
_SURPLUS = re.compile(
    rb"(<!--.*?(?:-->|\Z)|<(?:script|style|textarea|title)\b.*?(?:</|\Z))|(%b(?:%b){0,%d}+)(?:%b)*+"
    % (_TAG, _ATTRIBUTE, _MAX_ATTRIBUTES, _ATTRIBUTE),
    re.I | re.S,
)
_ROOT_TAG = re.compile(rb"<(?:html|body)(?=[\s/>])[^>]*+>?", re.I)


class ParsedPage:
    """A parsed page. Keeps the tree alive as long as the page or one of its links is alive.

    `hrefs` is for the hot path: the raw links in document order, stripped, including duplicates, so that
    `Counter(page.hrefs)` counts them; `hrefs[i]` belongs to the link `link(i)`.
    """

    def __init__(self, tree: LexborHTMLParser, charset: str, tags: frozenset[str], unread_links: int) -> None:
        self.tree = tree  # for reading only; after `text` without scripts and styles of the body
        self._around = Surroundings()
        self._json_ld: list[str] = []  # of the scripts removed from the tree
        self.charset = charset
        self.title = ""
        self.base: str | None = None  # raw href of the first <base href>
        self.canonical = ""  # raw href of the first <link rel=canonical>
        self.robots: frozenset[str] = frozenset()  # a subset of noindex, nofollow
        self._read_metadata()
        self._nodes, self.hrefs = _links(tree, tags)
        self.unread_links = unread_links

    def link(self, index: int) -> LinkTexts:
        """Return the texts of the link whose href is `hrefs[index]`."""
        return self._around.texts(self._nodes[index])

    def anchor(self, index: int) -> str:
        """Return the text of the link whose href is `hrefs[index]`."""
        return self._around.anchor(self._nodes[index])

    def anchors(self, hrefs: Iterable[str]) -> list[str]:
        """Return the text of the first link with each of *hrefs*."""
        first = dict(zip(reversed(self.hrefs), reversed(self._nodes), strict=True))
        return self._around.anchors([first[href] for href in hrefs])

    def node(self, index: int) -> LexborNode:
        """Return the element whose href is `hrefs[index]`."""
        return self._nodes[index]

    @cached_property
    def text(self) -> str:
        """The text of the body without scripts and styles, with the whitespace of the page.

        To compare texts, remove whitespace with `text.encode().translate(None, b" \\t\\r\\n")`, which runs in C;
        collapsing it takes three times as long as everything else. When it is first read, scripts and styles are
        removed from the tree, which affects only links within those of SVG and MathML.
        """
        root = self.tree.body or self.tree.root
        if root is None:
            return ""
        for node in root.css("script,style"):
            if "ld+json" in (node.attrs.sget("type") or ""):
                self._json_ld.append(node.text())
            node.decompose()
        return root.text(separator=" ", skip_empty=True)

    @property
    def json_ld(self) -> list[str]:
        """The raw contents of JSON-LD scripts; may be read before or after `text`."""
        return self._json_ld + [node.text() for node in self.tree.css('script[type*="ld+json"]')]

    def _read_metadata(self) -> None:
        """Read the first title, base and canonical link in tree order, as browsers do, and all meta robots."""
        robots: set[str] = set()
        titled = False
        checked = 0
        for node in self.tree.css(_METADATA):
            tag = node.tag
            attributes = node.attributes
            if tag == "title":
                is_wanted = not titled
            elif tag == "base":
                is_wanted = self.base is None and "href" in attributes
            elif tag == "link":
                is_wanted = not self.canonical and "canonical" in (attributes.get("rel") or "").lower().split()
            else:
                is_wanted = _strip(attributes.get("name")).lower() == "robots"
            if not is_wanted or checked >= _MAX_METADATA:
                continue
            checked += 1
            if not _is_html(node):
                continue
            if tag == "title":
                self.title = collapse(node.text())[:TITLE_CHARS].rstrip()
                titled = True
            elif tag == "base":
                self.base = _strip(attributes["href"])
            elif tag == "link":
                self.canonical = _strip(attributes.get("href"))
            else:
                robots.update(_ROBOTS_SEPARATOR.split((attributes.get("content") or "").lower()))
        if "none" in robots:
            robots |= {"noindex", "nofollow"}
        self.robots = frozenset(robots & {"noindex", "nofollow"})


def parse_page(body: bytes, content_type: str | None, tags: frozenset[str]) -> ParsedPage:
    """Return the parsed page *body*; never raises, whatever the bytes.

    *content_type* is the HTTP header, which may name a charset; *tags*, a subset of `LINK_TAGS`, selects
    the links to return. The caller limits the size of *body*.
    """
    utf8, charset = decode(body, content_type)
    tags = frozenset(tags & LINK_TAGS.keys())
    first, unread_links = _first_links(utf8, tags)
    return ParsedPage(LexborHTMLParser(thin(_flatten(first))), charset, tags, unread_links)


def _first_links(body: bytes, tags: frozenset[str]) -> tuple[bytes, int]:
    """Return *body* up to its `MAX_LINKS` first tags of links, and the number of the others.

    It is cut before it is parsed, since a link takes 700 bytes in the tree. Tags in comments and scripts, and those
    without an address, count, too.
    """
    if not tags or len(body) < MAX_LINKS * _LINK_BYTES:
        return body, 0
    tag = re.compile(rb"<(?:%b)[\s/>]()" % "|".join(sorted(tags)).encode(), re.I)
    last = next(islice(tag.finditer(body), MAX_LINKS, None), None)
    return (body, 0) if last is None else (body[: last.start()], len(tag.findall(body, last.start())))


def _links(tree: LexborHTMLParser, tags: frozenset[str]) -> tuple[list[LexborNode], list[str]]:
    """Return the nodes that are links, and their hrefs, in document order."""
    if not tags or tree.root is None:
        return [], []
    found: list[LexborNode] = []
    hrefs: list[str] = []
    only_anchors = tags == {"a"}
    # Walking over the elements of one name takes half the time of a selector.
    for node in tree.tags("a") if only_anchors else tree.css(_selector(tags)):
        # Nearly every link is an <a> with a value.
        value = node.attrs.get("href") if only_anchors or node.tag == "a" else None
        href = (value and value.strip(_BLANK)) or _href(node)
        if href is not None:
            found.append(node)
            hrefs.append(href)
    return found, hrefs


@cache
def _selector(tags: frozenset[str]) -> str:
    return ",".join(f"{tag}[{'http-equiv' if tag == 'meta' else LINK_TAGS[tag]}]" for tag in sorted(tags))


def _href(node: LexborNode) -> str | None:
    """Return the href of a node that `_selector` found; None if it is not a link."""
    tag = node.tag or ""
    attributes = node.attributes
    name = LINK_TAGS.get(tag, "")
    if name not in attributes:  # the selector matches SVG's xlink:href as href
        return None
    value = attributes[name] or ""
    if tag == "meta":
        return _refresh(value) if _strip(attributes.get("http-equiv")).lower() == "refresh" else None
    href = value.strip(_BLANK)
    # An empty href links to the page itself; a blank one is a mistake, and an empty frame has no target.
    return href if href or (not value and name == "href") else None


def _refresh(content: str) -> str | None:
    """Return the URL in the *content* of a refresh, as browsers read it; None if it only reloads.

    >>> _refresh("5; URL='next.html'"), _refresh("0;/end"), _refresh("30")
    ('next.html', '/end', None)
    """
    found = _REFRESH.match(content)
    if found is None:
        return None
    name = _REFRESH_URL.match(found[1])
    url = found[1] if name is None else found[1][name.end() :]
    if url[:1] in ("'", '"'):
        url = url[1:].partition(url[0])[0]
    return url.strip(_BLANK) or None


def _is_html(node: LexborNode) -> bool:
    """Return whether *node* is an element of HTML, rather than of a picture or a formula in the page."""
    parent = node.parent
    while parent is not None and parent.tag not in _FOREIGN:
        parent = parent.parent
    return parent is None or parent.tag == _HTML_IN_SVG


def _strip(value: str | None) -> str:
    return value.strip(_BLANK) if value else ""


def _flatten(body: bytes) -> bytes:
    """Return *body*, with only link and metadata tags if its elements are too many, or nest too deeply, to be parsed.

    Lexbor takes quadratic time in the depth, as the HTML Standard requires (1 MB of <div>: 174 s), and much
    memory if styles are left open (30 kB of <p><font color=…>: 540 MB). Browsers stop at a depth of 512. A page
    that deep is broken, and only its links are useful.
    """
    if len(body) < _HARMLESS_BYTES:
        return body
    if len(body) > _MAX_TAGS and body.count(b"<") > _MAX_TAGS:
        return _only_links(body)
    for start in range(0, len(body), _PROBE_EVERY):
        # Each level opens an element that this probe does not close; <br> and <p> look the same.
        end = start + _PROBE_BYTES
        if body.count(b"<", start, end) - 2 * body.count(b"</", start, end) > _PROBE_OPEN:
            return _only_links(body) if _depth(body) > _MAX_DEPTH else body
    return body


def _only_links(body: bytes) -> bytes:
    parts, start = list[bytes](), 0
    while start < len(body):
        end = body.find(b"<", start + _PART_BYTES) % (len(body) + 1)  # none: the end
        parts.append(_OTHER_TAG.sub(b" ", body[start:end]))
        start = end
    return b"".join(parts)


def _depth(body: bytes) -> int:
    """Return the nesting depth of the elements in *body*, if each end tag closes the last open tag of its name."""
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
    """Return *body* without surplus attributes if a tag has too many of them to be parsed.

    Lexbor takes quadratic time in their number (40,000: 3 s), also for repeated <body>. Such a page is broken.
    """
    if len(body) < _HARMLESS_BYTES:
        return body
    if _is_crowded(body):
        body = _SURPLUS.sub(rb"\1\2", body)
    for start in range(0, len(body), _PROBE_EVERY):
        if len(_ROOT_TAG.findall(body, start, start + _PROBE_BYTES)) > _MAX_ROOTS:
            return _ROOT_TAG.sub(b" ", body)
    return body


def _is_crowded(body: bytes) -> bool:
    """Return whether an unusually long tag has too many attributes."""
    for start in range(0, len(body) - _BLOCK_BYTES, _BLOCK_BYTES):
        if body.find(b">", start, start + _BLOCK_BYTES) < 0:
            tag = body.rfind(b"<", max(0, start - _BLOCK_BYTES), start + 1)
            if tag >= 0 and _CROWDED.match(body, tag):
                return True
    return False
