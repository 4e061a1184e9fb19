"""Prepares the bytes of a feed or sitemap for a parser: inflated, in UTF-8, only the root element."""

from __future__ import annotations

import re
from functools import partial

from crawlers.errors import BadBody, DamagedBody
from crawlers.pages.charset import decode
from crawlers.pages.decompression import decompressed
from crawlers.reasons import Reason

MAX_INFLATED = 50_000_000  # bytes; the limit of the sitemap protocol

_CHUNK = 1024  # lost before a damaged position
_GZIP_WINDOW = 31  # makes zlib expect a gzip header, with any window size
_NOT_XML = bytes(code for code in range(32) if code not in b"\t\n\r")
# Some programs write feeds behind the DOCTYPE of their pages: it counts only if no root of a feed follows it.
_FEED_FOLLOWS = rb"[^<>]*>(?>\s|<!--.*?-->|<\?.*?>)*+<(?:[\w.-]+:)?(?:rss|rdf|feed|urlset|sitemapindex)[\s/>]"
_ROOT = re.compile(
    rb"<(?:!doctype\s+(html)\b(?!"
    + _FEED_FOLLOWS
    + rb")|(?:[\w.-]+:)?(rss|rdf|feed|channel|urlset|sitemapindex|html|head|body)(?=[\s/>]|\Z))",
    re.I | re.S,
)
# Ampersands that do not begin an XML entity (common in addresses), and numeric references. In CDATA they are text.
_REFERENCE = re.compile(
    rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?!(?:amp|lt|gt|quot|apos);)"
    rb"(?:#(?P<code>\d{1,7}|x[0-9a-fA-F]{1,6});|(?P<name>(?=[a-zA-Z][\w.-]*;)))?",
    re.S,
)


def inflated(body: bytes, limit: int = MAX_INFLATED) -> tuple[bytes, str]:
    """Return *body* without gzip, at most *limit* bytes of it, and a description of the problem, if any.

    Truncated or damaged data is returned up to that point.
    """
    problem = ""
    for _ in range(2):  # servers compress files that are .gz already
        try:
            body = decompressed(body, ["gzip"], limit)
        except DamagedBody as error:
            body, problem = error.begun, Reason.GZIP_DAMAGED if error.__cause__ else Reason.GZIP_CUT
        except BadBody as error:
            body = error.begun
    return body[:limit], Reason.GZIP_LARGE.of(limit) if len(body) > limit else problem


def as_utf8(body: bytes, content_type: str | None) -> bytes:
    """Return *body* as well-formed UTF-8 without the characters that XML forbids."""
    utf8, _ = decode(body, content_type)
    try:
        utf8.decode()
    except UnicodeDecodeError:
        utf8 = utf8.decode("utf-8", "replace").encode()
    return utf8.translate(None, _NOT_XML).replace(b"\xef\xbf\xbe", b"").replace(b"\xef\xbf\xbf", b"").strip()


def root_of(utf8: bytes) -> str:
    """Return the local name of the root element of a feed, sitemap or HTML page in lower case; empty if there is none.

    >>> root_of(b"<?xml version='1.0'?><rdf:RDF>")
    'rdf'
    """
    found = _ROOT.search(utf8)
    return "" if found is None else (found[1] or found[2]).decode().lower()


def element(utf8: bytes, undeclared: bytes = b"&amp;") -> bytes:
    """Return only the root element, which must be known to `root_of`, with its ampersands repaired.

    Everything before it (output of scripts, a DOCTYPE with growing entities) and after it is removed, and so is a
    truncated text, because half an address would be a wrong one. *undeclared* replaces the ampersand of references to
    entities that XML does not know.
    """
    found = _ROOT.search(utf8)
    if found is None:
        return b""
    end = utf8.lower().rfind(b"</" + found[0][1:].lower())
    end = utf8.rfind(b">") if end < 0 else utf8.find(b">", end)
    xml = utf8[found.start() : end + 1] if end >= 0 else utf8[found.start() :]
    return _REFERENCE.sub(partial(_repaired, undeclared), xml) if b"&" in xml else xml


def _repaired(undeclared: bytes, found: re.Match[bytes]) -> bytes:
    if found[1] is not None:
        return found[1] if found[1].endswith(b"]]>") else found[1].replace(b"&", b"&amp;")
    if found["code"] is None:
        return b"&amp;" if found["name"] is None else undeclared
    code = int(found["code"][1:], 16) if found["code"][:1] == b"x" else int(found["code"])
    is_character = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000
    return found[0] if is_character else b""
