"""Reads texts in charsets other than UTF-8, and detects the charset of a page that declares none, or a wrong one.

Python's codecs decode most of each charset; this module corrects the characters in which they differ from the standard.

References
----------
.. [1] WHATWG Encoding Standard, 9-14, legacy encodings. https://encoding.spec.whatwg.org/
"""

from __future__ import annotations

import codecs
import re
from functools import cache

from charset_normalizer import from_bytes

from crawlers.pages.charset_names import DEFAULT, SEARCHED_BYTES, UTF16, codec_of

# A declaration is accepted if at most one in this many non-ASCII characters is broken. In the wrong
# charset about every second one is; in a truncated or concatenated page, only a few.
_BROKEN_ONE_IN = 10

# The language cannot be detected from fewer non-ASCII bytes.
_DETECTABLE_BYTES = 6
_SAMPLE_BYTES = 4096  # of its text; detection takes 1 ms for it, 25 ms for a page with its tags

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
_SHIFT = re.compile(rb"\x1b(?:\$[@B]|\([BIJ])")  # of ISO-2022-JP, to another set of characters
_BROKEN_WINDOWS = re.compile("[\x80-\x9f\ufffd]")
_WINDOWS = ("cp125", "cp874")  # charsets in which every byte of the controls is a character, if need be a control

# Characters that Python decodes differently, which have no other code in these charsets.
_DIFFERENT = {
    "big5hkscs": str.maketrans("•､‾∼♁☉¥¢£", "‧﹑¯～⊕⊙￥￠￡"),
    "euc_jp": str.maketrans("〜‖−¢£¬", "～∥－￠￡￢"),
    "cp932": str.maketrans("\uf8f0\uf8f1\uf8f2\uf8f3", "\ufffd" * 4),
    "gb18030": str.maketrans(
        "\ue5e5\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796\ue7c7ḿ\ue81e\ue826\ue82b\ue82c\ue832\ue843"
        "\ue854\ue864",
        "\u3000︐︒︑︓︔︕︖︗︘︙ḿ\ue7c7龴龵龶龷龸龹龺龻",
    ),
}
_TILDE_0212, _TILDE_0208 = b"\x8f\xa2\xb7", b"\xa1\xc1"  # both are U+FF5E in EUC-JP
_SLASHES = {b"\xa2A": "∕", b"\xa2B": "﹨"}  # of Big5, which Python decodes as two others
# Characters of Big5 that Python lacks (HKSCS-2008, control pictures, compatibility), each run with its first code.
_BIG5 = (
    "877a㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁"
    "𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋 8e69箸 8e6f簆 8e7e糎 8eab緒 8eb4縝 8ecd者 8ed0耨 8f57菁 8f69蒨 8f6e萏 "
    "8fcb覦覩 8ffe起 906d都 907a銹 90dc靜 90f1響 91bf鼖 9244蔃 92af兙兛兝兞 92c8鍮 92d1瑹 9447浧 94ca禛 95d9邗 "
    "9644靝 96ed瀞 96fc嬨 9b76爁 9b78矗 9b7b纇 9bc6駖 9bde釔 9bec惞 9bf6澶 9c42輶 9c53侻 9c62營 9c68鄄 9c6b鷰 "
    "9c77菏 9cbc尐秣 9cd0婧 9d57輋 9d5a筑 9dc4拐 9ea9恢 9eef痹 9efd汊 9f60鬮 9f66鼗 9fcb僭 9fd8弌 a063蠏 a077拎 "
    "a0d5瑨 a0df煢 a0e4牐 a3c0␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡€ c6cf廴 c6d3无 c6d5癶 c6d7隶 c6de〃仝 fa5f倩 "
    "fa66偽 fabd包 fac5卄 fad5卿 fb48嘅 fbb8婷 fbf3幵 fbf9廐 fc4f彘 fc6c悤 fcb9撐 fce2晴 fcf1杞 fdb7沜渝 fdbb港 "
    "fdf1煮 fe52猪 fe6f瑜 feaa瓩 fedd砉"
)
_BIG5_PAIR = re.compile(rb"[\x81-\xfe][\x40-\x7e\xa1-\xfe]")
_CORRECTED_BYTES = 4 * 1024 * 1024  # of a page, in which what Python lacks is read: a second for 4 MB of nothing else
_SINGLE = {"cp1255": {0xCA: "\u05ba"}, "koi8-u": {0xAE: "ў", 0xBE: "Ў"}}

_HIGH, _HIGH_KANA, _LOW = (
    bytes(byte | high if byte in valid else 0xFF for byte in range(256))
    for high, valid in (
        (0x80, range(0x21, 0x7F)),
        (0x80, range(0x21, 0x60)),
        (0, {*range(0x80)} - {0x0E, 0x0F, 0x1B}),
    )
)
_ROMAN = str.maketrans("\\~", "¥‾")
_LEADS = {
    "euc_jp": {0x8E, 0x8F, *range(0xA1, 0xFF)},
    "cp932": {*range(0x81, 0xA0), *range(0xE0, 0xFD)},
    **{codec: {*range(0x81, 0xFF)} for codec in ("cp949", "big5hkscs", "gb18030")},
}


def fits(text: str, charset: str) -> bool:
    """Return whether almost no characters are broken in *text*, which was read as *charset*."""
    broken = len(_BROKEN_WINDOWS.findall(text)) if charset.startswith(_WINDOWS) else text.count("\ufffd")
    return broken == 0 or broken * _BROKEN_ONE_IN <= len(text) - len(text.encode("ascii", "ignore"))


def read(body: bytes, charset: str) -> str:
    """Return the text of *body*, with U+FFFD for what is broken."""
    if charset == "iso2022_jp":
        return _read_iso_2022_jp(body)
    if charset in _SINGLE or charset.startswith(_WINDOWS):
        return codecs.charmap_decode(body, "replace", _single(charset))[0]
    if charset == "euc_jp":
        body = body.replace(_TILDE_0212, _TILDE_0208)
    elif charset == "big5hkscs" and any(slash in body for slash in _SLASHES):
        body = _BIG5_PAIR.sub(lambda pair: b"\xff" * (pair[0] in _SLASHES) + pair[0], body)  # for `_missing`
    try:
        text = body.decode(charset, "replace")
    except (LookupError, ValueError):  # a codec that does not support "replace", or requires complete units
        return body.decode(DEFAULT, "replace")
    if charset in _LEADS and "\ufffd" in text:
        end = body.find(b"<", _CORRECTED_BYTES) if len(body) > _CORRECTED_BYTES else -1  # "<" is no second byte
        end = len(body) if end < 0 else end
        text = body[:end].decode(charset, "crawlers.missing") + body[end:].decode(charset, "replace")
    return text.translate(_DIFFERENT[charset]) if charset in _DIFFERENT else text


def _read_iso_2022_jp(body: bytes) -> str:
    texts: list[str] = []
    shift, start = b"", 0
    for found in _SHIFT.finditer(body):
        texts.append(_of_set(shift, body[start : found.start()]) or ("\ufffd" if shift else ""))  # 12.2.1, escape
        shift, start = found[0], found.end()
    return "".join(texts) + _of_set(shift, body[start:])


def _of_set(shift: bytes, part: bytes) -> str:
    """Return *part* of a text in ISO-2022-JP, read in the set of characters that *shift* begins."""
    if shift[1:2] == b"$":
        return read(part.translate(_HIGH), "euc_jp")
    if shift[2:] == b"I":
        return read(part.translate(_HIGH_KANA), "cp932")
    text = part.translate(_LOW).decode("ascii", "replace")
    return text.translate(_ROMAN) if shift[2:] == b"J" else text


def _missing(error: UnicodeError) -> tuple[str, int]:
    """Decode the character that Python's codec does not know, as an error handler."""
    assert isinstance(error, UnicodeDecodeError)
    charset, start, end = error.encoding, error.start, error.end
    pair = error.object[start : start + 2]
    text = _lacking(charset).get(pair)
    if text is not None:
        return text, start + 2
    first = pair[0]
    if first in (0x80, 0xFF) and charset == "gb18030":  # Python takes a digit behind them as part of a character
        return "€" if first == 0x80 else "\ufffd", start + 1
    if first == 0xFF and charset == "big5hkscs" and error.object[start + 1 : start + 3] in _SLASHES:
        return _SLASHES[error.object[start + 1 : start + 3]], start + 3
    if pair[1:] > b"\x7f" and first in _LEADS[charset]:
        # An error has both bytes unless the second one is in ASCII, so that the rest is read from the right byte.
        has_third = first == 0x8F and charset == "euc_jp" and 0xA0 < pair[1] < 0xFF
        end = max(end, start + (3 if has_third and error.object[start + 2 : start + 3] > b"\x7f" else 2))
    return "\ufffd", end


codecs.register_error("crawlers.missing", _missing)


@cache
def _lacking(charset: str) -> dict[bytes, str]:
    """Return the characters of two bytes that Python's codec lacks: in EUC-JP those of NEC and IBM, which cp932 has."""
    if charset == "euc_jp":
        rows = (0xAD, *range(0xF9, 0xFD))
        codes = [bytes((row, cell)) for row in rows for cell in range(0xA1, 0xFF)]
        read = ((code, _shift_jis(*code).decode("cp932", "replace")) for code in codes)
        return {code: one for code, one in read if len(one) == 1 and one != "\ufffd"}
    if charset == "big5hkscs":
        trails = (*range(0x40, 0x7F), *range(0xA1, 0xFF))
        codes = [bytes((lead, trail)) for lead in range(0x81, 0xFF) for trail in trails]
        starts = ((codes.index(bytes.fromhex(run[:4])), run[4:]) for run in _BIG5.split())
        return {codes[start + at]: one for start, run in starts for at, one in enumerate(run)}
    return {}


def _shift_jis(lead: int, trail: int) -> bytes:
    """Return the code in Shift_JIS of a character of JIS X 0208, of which EUC-JP has the bytes *lead* and *trail*."""
    row, cell = divmod((lead - 0xA1) * 94 + trail - 0xA1, 188)
    return bytes((row + (0x81 if row < 0x1F else 0xC1), cell + (0x40 if cell < 0x3F else 0x41)))


@cache
def _single(charset: str) -> str:
    """Return the characters of the 256 bytes in *charset*."""
    known = (bytes((byte,)).decode(charset, "replace") for byte in range(256))
    controls = range(0x80, 0xA0)
    return "".join(
        _SINGLE.get(charset, {}).get(byte, chr(byte) if one == "\ufffd" and byte in controls else one)
        for byte, one in enumerate(known)
    )


def as_utf8(body: bytes, charset: str) -> bytes:
    """Return *body*, which is in *charset*, as UTF-8."""
    if charset == "utf-8":
        return body
    return read(body, charset).encode("utf-8", "replace")


def detected(body: bytes) -> str:
    """Return the most probable charset of bytes without a (correct) declaration."""
    if body[:2] in UTF16:
        return UTF16[body[:2]]
    if _SHIFT.search(body):
        return "iso2022_jp"
    if fits(body.decode("utf-8", "replace"), "utf-8"):
        return "utf-8"
    sample = _sample(body)
    high = len(sample) - len(sample.decode("ascii", "ignore"))
    if high < _DETECTABLE_BYTES:
        return DEFAULT
    known = _japanese(sample) or _russian(sample, high)
    if known is not None:
        return known
    best = from_bytes(sample, cp_isolation=_CANDIDATES).best()
    return DEFAULT if best is None else codec_of(best.encoding) or DEFAULT


def _japanese(sample: bytes) -> str | None:
    """Return the charset in which *sample* is Japanese: no other language has kana."""
    for charset in ("euc_jp", "cp932"):
        text = read(sample, charset)
        letters = len(text) - len(text.encode("ascii", "ignore"))
        if len(_KANA.findall(text)) >= _KANA_SHARE * letters and fits(text, charset):
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
    for piece in body[:SEARCHED_BYTES].split(b"<"):
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
