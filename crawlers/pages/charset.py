"""Finds the charset of a page, declared or detected, and converts the page to UTF-8 for the parser.

No function raises, whatever the bytes, and nothing is kept between pages. A page in valid UTF-8 costs
one trial decoding; only other pages are examined further, see `charset_texts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from w3lib.encoding import read_bom

from crawlers.pages.charset_names import DEFAULT, SEARCHED_BYTES, UTF16, of_body, of_header

if TYPE_CHECKING:
    from collections.abc import Iterator

# Three non-ASCII characters are valid UTF-8 by chance in one in thousands of pages in KOI8-R or
# EUC-JP, and only in pages of a few letters.
_SURE_UTF8_EXTRA_BYTES = 3


def decode(body: bytes, content_type: str | None) -> tuple[bytes, str]:
    """Return *body* as UTF-8 without a BOM, and the name of the charset it was in.

    The first source that the bytes do not contradict is used: BOM, well-formed UTF-8, charset of the HTTP
    header *content_type*, declaration in the body (meta, or XML prolog), detection. Labels are interpreted as
    in browsers: iso-8859-1 is cp1252. A *body* in UTF-8 or ASCII is returned as the same
    object; it may contain a few broken sequences, which the parser reads as U+FFFD. ASCII is in the charset that it
    declares, in which the queries of its links are sent.

    >>> decode("<p>Привет</p>".encode("koi8-r"), "text/html; charset=koi8-r")[1]
    'koi8-r'
    """
    charset, bom = read_bom(body)
    if charset is None or bom is None:
        extra = _utf8_extra_bytes(body)
        if extra >= _SURE_UTF8_EXTRA_BYTES:
            return body, "utf-8"
        if extra == 0 and b"\x1b" not in body and b"\0" not in body:
            return body, next(_declared(body[:SEARCHED_BYTES], content_type), "utf-8")
    # With the characters that codecs lack, and a detector, which most sites do not need.
    from crawlers.pages.charset_texts import as_utf8, detected, fits, read

    if charset is not None and bom is not None:
        return as_utf8(body[len(bom) :], charset), charset
    for declared in _declared(body, content_type):
        text = read(body, declared)
        if fits(text, declared):
            return body if declared == "utf-8" else text.encode("utf-8", "replace"), declared
    found = "utf-8" if extra >= 0 and b"\x1b" not in body and body[:2] not in UTF16 else detected(body)
    return as_utf8(body, found), found


def _utf8_extra_bytes(body: bytes) -> int:
    """Return by how many bytes *body* is longer than its text in UTF-8; -1 if it isn't UTF-8."""
    if body.isascii():
        return 0
    try:
        return len(body) - len(body.decode())
    except UnicodeDecodeError:
        return -1


def _declared(body: bytes, content_type: str | None) -> Iterator[str]:
    """Yield the declared charsets in order of precedence.

    Servers used to declare Latin 1 for every page (Apache's AddDefaultCharset), so a different declaration
    in the page takes precedence over it.
    """
    header = of_header(content_type) if content_type else None
    if header is not None and header != DEFAULT:
        yield header
    if (inside := of_body(body)) is not None:
        yield inside
    if header == DEFAULT:
        yield header
