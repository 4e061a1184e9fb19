"""Finds the charset of a page, declared or detected, and converts the page to UTF-8 for the parser.

No function raises, whatever the bytes, and nothing is kept between pages. A page in valid UTF-8 costs
one trial decoding; only other pages are examined further. Python's codecs decode most of each charset; this module
corrects the characters in which they differ from the standard.

A response declares its charset in the HTTP header, in a `<meta>`, or in the XML prolog. Labels mean what they mean in
browsers. Declarations are found anywhere on a page: browsers, too, read a page again if a `<meta>` behind the first
1024 bytes names another charset.

References
----------
.. [1] WHATWG Encoding Standard, 4.2, names and labels; 9-14, legacy encodings. https://encoding.spec.whatwg.org/
.. [2] WHATWG HTML Standard, 13.2.3.2, determining the character encoding. https://html.spec.whatwg.org/
"""

from __future__ import annotations

import codecs
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import webencodings
from charset_normalizer import from_bytes
from w3lib.encoding import read_bom, resolve_encoding

if TYPE_CHECKING:
    from collections.abc import Iterator

DEFAULT = "cp1252"  # the default of browsers if nothing is declared or detected
USER_DEFINED = "x-user-defined"

# Codecs of Python that are not charsets of pages; decoding punycode takes quadratic time.
_NO_CHARSETS = frozenset({"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape", "utf-7"})
_LABEL = re.compile(r"[\w.:+-]{1,60}", re.ASCII)

_PARAMETER = re.compile(r"""(?:^|;)\s*(?P<name>[^\s;="]+)\s*=\s*(?:"(?P<quoted>[^"]*)"?|(?P<token>[^\s;,"]*))""")
_PROLOG = re.compile(rb"""\s*<\?xml\s[^<>]*?\bencoding\s*=\s*["']([^"'<>]*)""", re.I)
# What a page can hold besides tags is skipped as a whole, and so are quoted values, so that nothing in them is a tag.
_MARKUP = re.compile(
    rb"""<!--(?:-?>|.*?(?:--!?>|\Z))
    | <!\[CDATA\[.*?(?:\]\]>|\Z)
    | <(?P<raw>iframe|noembed|noframes|script|style|textarea|title|xmp)(?=[\s/>])
      (?:[^<>"']|"[^"]*"|'[^']*')*+.*?(?:</(?P=raw)(?=[\s/>])|\Z)
    | <meta(?=[\s/])(?P<meta>(?:[^<>"']|"[^"]*"|'[^']*')*+)
    | <[a-z](?:[^<>"']|"[^"]*"|'[^']*')*+""",
    re.I | re.S | re.X,
)
_ATTRIBUTE = re.compile(rb"""([^\s=/"'>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_PRAGMA = re.compile(rb"content[-_ ]?type", re.I)
_PRAGMA_NAMES = frozenset({b"http-equiv", b"http_equiv", b"httpequiv"})
_IN_CONTENT = re.compile(rb"""charset\s*=\s*(?:["']|&quot;|&apos;|&#3[49];)?\s*([^\s;"'&]+)""", re.I)


@lru_cache(1_000)
def codec_of(label: str) -> str | None:
    """Return Python's name of the charset *label*; None if it is unknown.

    The labels of the standard mean what they mean there; others, such as `win-1251`, what they mean to Python. For the
    charsets that browsers refuse to read, which are dangerous only where scripts run, Python's codec is used.

    >>> codec_of("ISO-8859-1"), codec_of(" x-gbk "), codec_of("logical"), codec_of("win-1251"), codec_of("rot13")
    ('cp1252', 'gb18030', 'iso8859-8', 'cp1251', None)
    """
    label = label.strip(" \t\n\f\r\"'")
    if not _LABEL.fullmatch(label):
        return None
    encoding = webencodings.lookup(label)
    if encoding is not None and encoding.name != "replacement":
        return "gb18030" if encoding.name == "gbk" else str(encoding.codec_info.name)
    name = resolve_encoding(label)
    # Python itself uses `_is_text_encoding` to distinguish charsets from rot13 or zlib.
    if name is None or name in _NO_CHARSETS or not getattr(codecs.lookup(name), "_is_text_encoding", False):
        return None
    return name


@lru_cache(1_000)
def of_header(content_type: str) -> str | None:
    """Return the charset that the HTTP header *content_type* names; None if it names none that is known.

    >>> of_header('text/html; title="; charset=koi8-r"; Charset = "windows-1251"')
    'cp1251'
    """
    for found in _PARAMETER.finditer(content_type):
        if found["name"].lower() == "charset":
            known = codec_of(found["quoted"] or found["token"] or "")
            if known is not None:
                return known
    return None


def of_body(body: bytes) -> str | None:
    """Return the first known charset that a `<meta>` of *body* names, else that of its XML prolog; None without one.

    The declaration was read as ASCII, so it is not in UTF-16: that means UTF-8.

    >>> of_body(b"<meta charset=nonsense><meta http-equiv=content-type content='text/html; charset=koi8-r'>")
    'koi8-r'
    """
    last = body.lower().rfind(b"charset")
    for found in _MARKUP.finditer(body) if last >= 0 else ():
        if found.start() > last:
            break
        if found["meta"] is not None and (known := _of_meta(found["meta"])) is not None:
            return known
    prolog = _PROLOG.match(body)
    return None if prolog is None else _readable(codec_of(prolog[1].decode("latin-1")))


def _of_meta(attributes: bytes) -> str | None:
    values: dict[bytes, bytes] = {}
    for name, *value in _ATTRIBUTE.findall(attributes):
        values.setdefault(name.lower(), b"".join(value))  # the first of equal attributes counts
    label = values.get(b"charset")
    if label is None and any(_PRAGMA.search(values.get(name, b"")) for name in _PRAGMA_NAMES):
        content = _IN_CONTENT.search(values.get(b"content", b""))
        label = None if content is None else content[1]
    known = None if label is None else _readable(codec_of(label.decode("latin-1")))
    return DEFAULT if known == USER_DEFINED else known


def _readable(known: str | None) -> str | None:
    return "utf-8" if known is not None and known.startswith("utf-16") else known


def _user_defined(name: str) -> codecs.CodecInfo | None:
    if name not in (USER_DEFINED, USER_DEFINED.replace("-", "_")):
        return None
    codec: codecs.CodecInfo = webencodings.lookup(USER_DEFINED).codec_info
    return codec


codecs.register(_user_defined)


# A declaration is accepted if at most one in this many non-ASCII characters is broken. In the wrong
# charset about every second one is; in a truncated or concatenated page, only a few.
_BROKEN_ONE_IN = 10

# Three non-ASCII characters are valid UTF-8 by chance in one in thousands of pages in KOI8-R or
# EUC-JP, and only in pages of a few letters.
_SURE_UTF8_EXTRA_BYTES = 3

# The language cannot be detected from fewer non-ASCII bytes.
_DETECTABLE_BYTES = 6
_SEARCHED_BYTES = 65536  # of a page, searched for text to detect the charset from, and in ASCII for a declaration
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
_UTF16 = {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}  # no BOM, but a page begins with "<"


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
    if charset is not None and bom is not None:
        return _as_utf8(body[len(bom) :], charset), charset
    extra = _utf8_extra_bytes(body)
    if extra >= _SURE_UTF8_EXTRA_BYTES:
        return body, "utf-8"
    if extra == 0 and b"\x1b" not in body and b"\0" not in body:
        return body, next(_declared(body[:_SEARCHED_BYTES], content_type), "utf-8")
    for declared in _declared(body, content_type):
        text = _read(body, declared)
        if _fits(text, declared):
            return body if declared == "utf-8" else text.encode("utf-8", "replace"), declared
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


def _fits(text: str, charset: str) -> bool:
    """Return whether almost no characters are broken in *text*, which was read as *charset*."""
    broken = len(_BROKEN_WINDOWS.findall(text)) if charset.startswith(_WINDOWS) else text.count("\ufffd")
    return broken == 0 or broken * _BROKEN_ONE_IN <= len(text) - len(text.encode("ascii", "ignore"))


def _read(body: bytes, charset: str) -> str:
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
        return _read(part.translate(_HIGH), "euc_jp")
    if shift[2:] == b"I":
        return _read(part.translate(_HIGH_KANA), "cp932")
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


def _as_utf8(body: bytes, charset: str) -> bytes:
    if charset == "utf-8":
        return body
    return _read(body, charset).encode("utf-8", "replace")


def _detect(body: bytes) -> str:
    """Return the most probable charset of bytes without a (correct) declaration."""
    if body[:2] in _UTF16:
        return _UTF16[body[:2]]
    if _SHIFT.search(body):
        return "iso2022_jp"
    if _fits(body.decode("utf-8", "replace"), "utf-8"):
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
        text = _read(sample, charset)
        letters = len(text) - len(text.encode("ascii", "ignore"))
        if len(_KANA.findall(text)) >= _KANA_SHARE * letters and _fits(text, charset):
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
