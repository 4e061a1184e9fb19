"""Detects the charset of a page, and converts the page to UTF-8 for the parser.

No function raises, whatever the bytes, and nothing is kept between pages. A page in valid UTF-8 costs
one trial decoding; only other pages are examined further.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from charset_normalizer import from_bytes
from w3lib.encoding import read_bom

from crawlers.extraction.charset_declarations import DEFAULT, of_body, of_header

if TYPE_CHECKING:
    from collections.abc import Iterator

# A declaration is accepted if at most one in this many non-ASCII characters is broken. In the wrong
# charset about every second one is; in a truncated or concatenated page, only a few.
_BROKEN_ONE_IN = 10

# Three non-ASCII characters are valid UTF-8 by chance in one in thousands of pages in KOI8-R or
# EUC-JP, and only in pages of a few letters.
_SURE_UTF8_EXTRA_BYTES = 3

# The language cannot be detected from fewer non-ASCII bytes.
_DETECTABLE_BYTES = 6
_SEARCHED_BYTES = 65536  # of a page, searched for text to detect the charset from
_SAMPLE_BYTES = 4096  # of that text; detection takes 1 ms for it, 25 ms for a page with its tags

# Charsets of web pages (others only if declared). Fewer candidates are distinguished more reliably.
_CANDIDATES = ["koi8_r", "cp1251", "cp1252", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256"]
_CANDIDATES += ["euc_jp", "cp932", "gb18030", "big5", "euc_kr"]

# The fifteen most frequent letters make up four fifths of a Russian text, a third of it if read in the
# other Cyrillic charset, and half of a Greek text. More than half of a Japanese text is kana.
_RUSSIAN = "оеаинтсрвлкмдпу"
_RUSSIAN_SHARE = 0.65
_KANA_SHARE = 0.2

_HIGH_RUN = re.compile(rb"[\x80-\xff]{2,}")
_KANA = re.compile("[\u3041-\u30fe]")
_ISO_2022_JP = re.compile(rb"\x1b(?:\$[@B]|\([IJ])")
_UTF16 = {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}  # no BOM, but a page begins with "<"


def decode(body: bytes, content_type: str | None) -> tuple[bytes, str]:
    """Return *body* as UTF-8 without a BOM, and the name of the charset it was in.

    The first source that the bytes do not contradict is used: BOM, well-formed UTF-8, charset of the HTTP
    header *content_type*, declaration in the body (meta, or XML prolog), detection. Labels are interpreted as
    in browsers: iso-8859-1 is cp1252. A *body* in UTF-8 or ASCII is returned as the same
    object; it may contain a few broken sequences, which the parser reads as U+FFFD.

    >>> decode("<p>Привет</p>".encode("koi8-r"), "text/html; charset=koi8-r")[1]
    'koi8-r'
    """
    charset, bom = read_bom(body)
    if charset is not None and bom is not None:
        return _as_utf8(body[len(bom) :], charset), charset
    extra = _utf8_extra_bytes(body)
    if extra >= _SURE_UTF8_EXTRA_BYTES or (extra == 0 and b"\x1b" not in body and b"\0" not in body):
        return body, "utf-8"
    for declared in _declared(body, content_type):
        if _fits(body, declared):
            return _as_utf8(body, declared), declared
    detected = "utf-8" if extra >= 0 and b"\x1b" not in body and body[:2] not in _UTF16 else _detect(body)
    return _as_utf8(body, detected), detected


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
    inside = of_body(body)
    for name in (inside, header) if header == DEFAULT else (header, inside):
        if name is not None:
            yield name


def _fits(body: bytes, charset: str) -> bool:
    """Return whether almost no characters are broken if *body* is read as *charset*."""
    text = _read(body, charset)
    broken = text.count("\ufffd")
    return broken == 0 or broken * _BROKEN_ONE_IN <= len(text) - len(text.encode("ascii", "ignore"))


def _read(body: bytes, charset: str) -> str:
    try:
        return body.decode(charset, "replace")
    except (LookupError, ValueError):  # a codec that does not support "replace", or requires complete units
        return body.decode(DEFAULT, "replace")


def _as_utf8(body: bytes, charset: str) -> bytes:
    if charset == "utf-8":
        return body
    return _read(body, charset).encode("utf-8", "replace")


def _detect(body: bytes) -> str:
    """Return the most probable charset of bytes without a (correct) declaration."""
    if body[:2] in _UTF16:
        return _UTF16[body[:2]]
    if _ISO_2022_JP.search(body):
        return "iso2022_jp"
    if _fits(body, "utf-8"):
        return "utf-8"
    sample = _sample(body)
    high = len(sample) - len(sample.decode("ascii", "ignore"))
    if high < _DETECTABLE_BYTES:
        return DEFAULT
    known = _japanese(sample) or _russian(sample, high)
    if known is not None:
        return known
    best = from_bytes(sample, cp_isolation=_CANDIDATES).best()
    return DEFAULT if best is None else codecs.lookup(best.encoding).name


def _japanese(sample: bytes) -> str | None:
    """Return the charset in which *sample* is Japanese: no other language has kana."""
    for charset in ("euc_jp", "cp932"):
        text = sample.decode(charset, "replace")
        letters = len(text) - len(text.encode("ascii", "ignore"))
        if len(_KANA.findall(text)) >= _KANA_SHARE * letters and _fits(sample, charset):
            return charset
    return None


def _russian(sample: bytes, high: int) -> str | None:
    """Return the charset in which *sample*, with *high* bytes beyond ASCII, looks Russian."""
    # Russian text consists of whole non-ASCII words, not of single accented letters.
    if sum(map(len, _HIGH_RUN.findall(sample))) * 2 < high:
        return None
    for charset in ("cp1251", "koi8-r"):
        text = sample.decode(charset, "replace")
        if sum(map(text.count, _RUSSIAN)) >= _RUSSIAN_SHARE * high:
            return charset
    return None


def _sample(body: bytes) -> bytes:
    """Return the first texts between tags with non-ASCII characters, not cut within a character."""
    parts: list[bytes] = []
    room = _SAMPLE_BYTES
    for piece in body[:_SEARCHED_BYTES].split(b"<"):
        text = piece.rpartition(b">")[2]
        if text.isascii():
            continue
        if len(text) > room:
            # No byte up to "?" ends a character of two bytes, so the text may be cut after one.
            end = max(text.rfind(mark, 0, room) for mark in (b" ", b"\n", b".", b","))
            parts.append(text[: end + 1] if end >= 0 or parts else text[:room])
            break
        parts.append(text)
        room -= len(text)
    return b" ".join(parts)
