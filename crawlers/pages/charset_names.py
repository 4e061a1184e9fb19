"""The charset that a response declares: in the HTTP header, in a `<meta>`, or in the XML prolog.

Labels mean what they mean in browsers. Declarations are found anywhere on a page: browsers, too, read a page again if a
`<meta>` behind the first 1024 bytes names another charset.

References
----------
.. [1] WHATWG Encoding Standard, 4.2, names and labels. https://encoding.spec.whatwg.org/
.. [2] WHATWG HTML Standard, 13.2.3.2, determining the character encoding. https://html.spec.whatwg.org/
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

import webencodings
from w3lib.encoding import resolve_encoding

DEFAULT = "cp1252"  # the default of browsers if nothing is declared or detected
USER_DEFINED = "x-user-defined"
SEARCHED_BYTES = 65536  # of a page, searched for text to detect the charset from, and in ASCII for a declaration
UTF16 = {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}  # no BOM, but a page begins with "<"

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
