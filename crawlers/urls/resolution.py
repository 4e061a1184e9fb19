"""Resolves links to URLs, and determines which URL variants are the same page.

Joining follows the WHATWG URL standard, as in browsers. The normal form (see `normalization`) only determines which
URLs are the same page; URLs are requested as they were found.

Which statuses are redirects, and where their Location leads, is interpreted here only.

References
----------
.. [1] RFC 9110, HTTP Semantics, sections 10.2.2 (Location) and 15.4 (Redirection 3xx).
"""

from __future__ import annotations

import codecs
import re
import sys
from functools import lru_cache
from typing import NamedTuple

import can_ada

from crawlers.errors import BadUrl
from crawlers.items import Target
from crawlers.reasons import Reason
from crawlers.urls.keys import page_key
from crawlers.urls.normalization import Normalization, as_written, key_form

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})


class Redirect(NamedTuple):
    """The target of a redirect, or the reason why there is none: exactly one of the two is set."""

    target: Target | None
    problem: str = ""


def redirect_of(url: str, status: int, location: bytes | None, options: Normalization) -> Redirect | None:
    """Return the redirect of a response for *url*; None if *status* is not that of a redirect.

    *location* is the raw header: bytes beyond ASCII are percent-encoded unchanged, as in browsers.

    >>> from crawlers.urls.normalization import Normalization
    >>> redirect_of("http://a.example/x/", 302, b"../y", Normalization()).target.url
    'http://a.example/y'
    >>> redirect_of("http://a.example/", 301, None, Normalization()).problem
    'redirect_without_location 301'
    """
    if status not in REDIRECT_STATUSES:
        return None
    if not location:
        return Redirect(None, Reason.REDIRECT_WITHOUT_LOCATION.of(status))
    text = "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in location)
    try:
        return Redirect(resolve(url, text, options))
    except BadUrl as error:
        return Redirect(None, Reason.REDIRECT_TO_BAD_URL.of(error.reason))


# Characters; longer URLs are errors of scripts, as servers accept request lines of 8 kB (Apache's LimitRequestLine).
MAX_URL = 8192

_SCHEME = re.compile(r"[\x00-\x20]*([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CREDENTIALS = re.compile(r"([\x00-\x20]*(?:https?:[/\\]*|(?:[a-z][a-z0-9+.-]*:)?[/\\]{2,}))[^/\\?#]*@", re.IGNORECASE)
_AUTHORITY = re.compile(r"\A[\x00-\x20]*(?:https?:[/\\]*|(?:https?:)?[/\\]{2,})[^/\\?#]*", re.IGNORECASE)
_CAPITAL_S = re.compile("\u1e9e|%E1%BA%9E", re.IGNORECASE)
_PATH = re.compile(r"\Ahttps?://[^?#]*")
_BLANKS = "".join(map(chr, range(33)))
_NOT_ASCII = re.compile(rb"[\x80-\xff#]")
_WEB = ("http", "https")
_WEB_START = ("http://", "https://")

DEFAULT = Normalization()


def normalize(url: str, options: Normalization = DEFAULT) -> str:
    """Return the normal form of the absolute *url*, which all its variants share.

    The function is idempotent, because dot segments are removed before slashes are merged, and the trailing slash is
    added last. Raises `BadUrl` unless *url* is http or https and has at most `MAX_URL` characters.

    >>> normalize("HTTP://eXaMplE.com:80/f1/../f2//%3a?b=1&a=3&c=#x")
    'http://example.com/f2/%3A/?a=3&b=1'

    References
    ----------
    .. [1] RFC 3986, section 6. https://url.spec.whatwg.org/
    """
    standard = _serialised(parsed(url))
    check_web(standard)
    form = key_form(as_written(url, standard, options), options)
    if len(form) > MAX_URL:
        raise _too_long(form)
    return form


def join(base: str, href: str, encoding: str | None = None) -> str:
    """Return the absolute URL of the link *href* on the page *base*, without fragment and credentials.

    The scheme may be any.
    *encoding* is the charset of the page by its Python name, in which queries are sent instead of UTF-8 (WHATWG URL,
    query state). Raises `BadUrl` with a short reason.

    >>> join("http://example.com/a/b?c", " ../d?e#f\\n")
    'http://example.com/d?e'
    """
    return absolute(parsed(base), href, query_codec(encoding))


def resolve(base: str, href: str, options: Normalization = DEFAULT, encoding: str | None = None) -> Target:
    """Return the target of the link *href* on the page *base*; for many links, `LinkResolver` is faster.

    Raises `BadUrl`; for schemes other than http and https its text is `scheme mailto` and the like. For *encoding* see
    `join`.
    """
    return target_of(join(base, href, encoding), options)


def site_of(url: str) -> str:
    """Return scheme://host[:port] of the absolute *url*; raise `BadUrl` if it is not http or https.

    >>> site_of("HTTP://user@Example.com:80/x")
    'http://example.com'
    """
    whole = parsed(url)
    check_web(whole.href)
    return str(whole.origin)


def variant_rank(target: Target) -> int:
    """Return the distance of a variant from its normal form: 0 if equal, 1 but for the added slash, 2 otherwise.

    At another address of the site than that of the normal form, it is 2 if the paths are equal, and 3 otherwise. Of
    several variants with one key, the one with the lowest `(variant_rank, url)` is requested, so that the choice does
    not depend on the order of discovery.
    """
    url, normalized = target.url, target.normalized
    if url == normalized:
        return 0
    begin = normalized.find("/", 8)
    if not url.startswith(normalized[:begin]) or url[begin : begin + 1] != "/":
        return 2 if url[url.find("/", 8) :] == normalized[begin:] else 3
    end = len(url) if (mark := url.find("?")) < 0 else mark
    same = len(normalized) == len(url) + 1 and normalized == f"{url[:end]}/{url[end:]}"
    return 1 if same else 2


# ---- Functions that link_resolver also uses ----


def parsed(url: str) -> can_ada.URL:
    """Return the parsed absolute *url*; raise `BadUrl` if it is invalid or too long."""
    if len(url) > MAX_URL:
        raise _too_long(url)
    try:
        return can_ada.parse(_with_small_s(url))
    except TypeError:  # a lone surrogate, which the standard replaces with U+FFFD
        return parsed(_SURROGATE.sub("\ufffd", url))
    except ValueError:
        raise _no_url(url) from None


def absolute(base: can_ada.URL, href: str, codec: str | None) -> str:
    """Return the result of `join` for a parsed *base* and a *codec* from `query_codec`."""
    if "#" in href:
        href = href[: href.index("#")]
        if href and href[-1] <= " ":
            href += "#"  # otherwise blanks before the fragment would be stripped like trailing ones
    if len(href) > MAX_URL:
        raise _too_long(href)
    if codec and not href.isascii():
        scheme = _SCHEME.match(href)
        if not scheme or scheme[1].lower() in _WEB:
            href = _in_charset(href, codec)
    try:
        url = _serialised(base + _with_small_s(href))
    except TypeError:
        url = absolute(base, _SURROGATE.sub("\ufffd", href), None)
    except ValueError:
        raise _no_url(href) from None
    if href and href[-1] == "#":
        url = url.partition("#")[0]
    if len(url) > MAX_URL:
        raise _too_long(url)
    return without_credentials(url) if "@" in url else url


def _with_small_s(text: str) -> str:
    """Return *text* with small sharp s for capital ones in its host (Unicode 15.1); the parser would read `ss`."""
    if "\u1e9e" not in text and "%" not in text:
        return text
    return _AUTHORITY.sub(lambda found: _CAPITAL_S.sub("\xdf", found[0]), text)


def _serialised(url: can_ada.URL) -> str:
    """Return *url* as text. The standard escapes ^ in paths since 2023, which the parser does not yet."""
    href = str(url.href)
    return _PATH.sub(lambda found: found[0].replace("^", "%5E"), href) if "^" in href else href


def without_credentials(text: str) -> str:
    """Return a URL, or what is meant as one, without user and password, which are nobody else's business.

    >>> without_credentials("http://user:secret@example.com/@x")
    'http://example.com/@x'
    """
    found = _CREDENTIALS.match(text)
    return found[1] + text[found.end() :] if found else text


def target_of(url: str, options: Normalization) -> Target:
    """Return the `Target` of a *url* from `absolute`; raise `BadUrl` if it is not http or https, or too long."""
    check_web(url)
    normalized = key_form(url, options)
    if normalized == url:
        normalized = url  # one string in memory instead of two
    elif len(normalized) > MAX_URL:
        raise _too_long(normalized)
    return Target(url, normalized, page_key(normalized), sys.intern(normalized[: normalized.find("/", 8)]))


@lru_cache(maxsize=256)
def query_codec(encoding: str | None) -> str | None:
    """Return the codec for the queries of pages with the charset *encoding*; None for UTF-8."""
    try:
        name = codecs.lookup(encoding or "utf-8").name
        "".encode(name)
    except (LookupError, ValueError):  # unknown, or not a text encoding; ValueError: NUL in the name
        return None
    if name.startswith("utf"):
        return None  # the standard also sends the queries of UTF-16 pages in UTF-8
    # https://encoding.spec.whatwg.org/#names-and-labels
    return "cp1252" if name in ("ascii", "iso8859-1") else name


def _in_charset(href: str, codec: str) -> str:
    head, mark, query = href.partition("?")
    body, hash_, _ = query.partition("#")
    if not hash_:
        body = body.rstrip(_BLANKS)
    try:
        data = body.encode(codec, "crawlers.url_query")
    except UnicodeError:  # codecs with rules of their own, such as idna
        return href
    return f"{head}{mark}{_NOT_ASCII.sub(_escape, data).decode('ascii')}{hash_}"


def _escape(match: re.Match[bytes]) -> bytes:
    return b"%%%02X" % match[0][0]


def _character_reference(error: UnicodeError) -> tuple[str, int]:
    """Encode a character that is missing in the charset as the standard requires: `&#1234;`, percent-encoded."""
    assert isinstance(error, UnicodeEncodeError)
    numbers = (ord(one) for one in error.object[error.start : error.end])
    return "".join(f"%26%23{0xFFFD if 0xD800 <= n < 0xE000 else n}%3B" for n in numbers), error.end


codecs.register_error("crawlers.url_query", _character_reference)


def check_web(url: str) -> None:
    """Raise `BadUrl` if *url*, as serialised by the parser, is neither http nor https."""
    if not url.startswith(_WEB_START):
        raise BadUrl(Reason.OTHER_SCHEME.of(url.partition(":")[0][:32]))


def _too_long(url: str) -> BadUrl:
    return _other_scheme(url) or BadUrl(Reason.LONG_URL.of(MAX_URL))


def _no_url(url: str) -> BadUrl:
    return _other_scheme(url) or BadUrl(Reason.NOT_A_URL)


def _other_scheme(url: str) -> BadUrl | None:
    scheme = _SCHEME.match(url)
    if scheme and scheme[1].lower() not in _WEB:
        return BadUrl(Reason.OTHER_SCHEME.of(scheme[1].lower()[:32]))
    return None
