"""Resolves links to URLs, and determines which URL variants are the same page.

Joining follows the WHATWG URL standard, as in browsers; the steps of the normal form are in `normalization`.
That form defines which URLs are the same; the URL is requested as found.
"""

from __future__ import annotations

import codecs
import re
import sys
from functools import lru_cache

import can_ada

from crawlers.algorithms.urls.keys import page_key
from crawlers.algorithms.urls.normalization import Normalization, as_written, key_form
from crawlers.errors import BadUrl
from crawlers.items import Target

__all__ = [
    "URL_MAX",
    "Normalization",
    "join",
    "normalize",
    "resolve",
    "site_of",
    "variant_rank",
]

# Longer ones are script errors: servers accept request lines of 8 kB (Apache's LimitRequestLine).
URL_MAX = 8192

_SCHEME = re.compile(r"[\x00-\x20]*([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANKS = "".join(map(chr, range(33)))
_NOT_ASCII = re.compile(rb"[\x80-\xff#]")
_WEB = ("http", "https")
_WEB_START = ("http://", "https://")

DEFAULT = Normalization()


def normalize(url: str, options: Normalization = DEFAULT) -> str:
    """Return the normal form of the absolute *url*, which all its variants share; idempotent.

    Dots are resolved before slashes are merged, and the trailing slash comes last; otherwise the function would
    not be idempotent. Raises `BadUrl` for anything but http and https of at most `URL_MAX` characters.

    >>> normalize("HTTP://eXaMplE.com:80/f1/../f2//%3a?b=1&a=3&c#x")
    'http://example.com/f2/%3A/?a=3&b=1'

    References
    ----------
    .. [1] RFC 3986, section 6. https://url.spec.whatwg.org/
    """
    standard = parsed(url).href
    check_web(standard)
    form = key_form(as_written(url, standard, options), options)
    if len(form) > URL_MAX:
        raise _too_long(form)
    return form


def join(base: str, href: str, encoding: str | None = None) -> str:
    """Return the absolute URL of the link *href* on the page *base*, without fragment, with any scheme.

    *encoding* is the page's charset by its Python name, in which the characters of a query are sent instead of
    UTF-8 (WHATWG URL, query state). Raises `BadUrl` with a short reason.

    >>> join("http://example.com/a/b?c", " ../d?e#f\\n")
    'http://example.com/d?e'
    """
    return absolute(parsed(base), href, query_codec(encoding))


def resolve(base: str, href: str, options: Normalization = DEFAULT, encoding: str | None = None) -> Target:
    """Return the target of the link *href* on the page *base*; `link_resolver` is faster.

    Raises `BadUrl`; for schemes other than http and https its text is `scheme mailto` and the like.
    """
    return target_of(join(base, href, encoding), options)


def site_of(url: str) -> str:
    """Return scheme://host[:port] of an absolute http or https *url*; else raise `BadUrl`.

    >>> site_of("HTTP://user@Example.com:80/x")
    'http://example.com'
    """
    whole = parsed(url)
    check_web(whole.href)
    return str(whole.origin)


def variant_rank(target: Target) -> int:
    """Return how far the variant is from the normal form: 0 equal, 1 except for the added slash, else 2.

    Of several variants of one key, the one with the least `(variant_rank, url)` is requested, so that the
    choice does not depend on the order of discovery.
    """
    url, normalized = target.url, target.normalized
    if url == normalized:
        return 0
    end = len(url) if (mark := url.find("?")) < 0 else mark
    same = len(normalized) == len(url) + 1 and normalized == f"{url[:end]}/{url[end:]}"
    return 1 if same else 2


# ---- functions that link_resolver also uses ----


def parsed(url: str) -> can_ada.URL:
    """Return the parsed absolute *url*; raises `BadUrl`."""
    if len(url) > URL_MAX:
        raise _too_long(url)
    try:
        return can_ada.parse(url)
    except TypeError:  # a lone surrogate, which the standard replaces by U+FFFD
        return parsed(_SURROGATE.sub("\ufffd", url))
    except ValueError:
        raise _no_url(url) from None


def absolute(base: can_ada.URL, href: str, codec: str | None) -> str:
    """Join like `join`; *base* is parsed, *codec* comes from `query_codec`."""
    if "#" in href:
        href = href[: href.index("#")]
        if href and href[-1] <= " ":
            href += "#"  # otherwise the blanks before a fragment would be stripped like those at the end
    if len(href) > URL_MAX:
        raise _too_long(href)
    if codec and not href.isascii():
        scheme = _SCHEME.match(href)
        if not scheme or scheme[1].lower() in _WEB:
            href = _in_charset(href, codec)
    try:
        url = (base + href).href
    except TypeError:
        url = absolute(base, _SURROGATE.sub("\ufffd", href), None)
    except ValueError:
        raise _no_url(href) from None
    if href and href[-1] == "#":
        url = url.partition("#")[0]
    if len(url) > URL_MAX:
        raise _too_long(url)
    return url


def target_of(url: str, options: Normalization) -> Target:
    """Return the `Target` of a *url* created by `absolute`; raises `BadUrl`."""
    check_web(url)
    normalized = key_form(url, options)
    if normalized == url:
        normalized = url  # one text in memory instead of two
    elif len(normalized) > URL_MAX:
        raise _too_long(normalized)
    site = normalized[: normalized.find("/", 8)]
    if "@" in site:
        site = f"{site.partition('://')[0]}://{site.rpartition('@')[2]}"
    return Target(url, normalized, page_key(normalized), sys.intern(site))


@lru_cache(maxsize=256)
def query_codec(encoding: str | None) -> str | None:
    """Return the codec for the queries of pages in *encoding*; None means UTF-8."""
    try:
        name = codecs.lookup(encoding or "utf-8").name
        "".encode(name)
    except (LookupError, ValueError):  # unknown, or not a text encoding; ValueError: NUL in the name
        return None
    if name.startswith("utf"):
        return None  # the standard sends queries of UTF-16 pages in UTF-8, too
    # https://encoding.spec.whatwg.org/#names-and-labels
    return "cp1252" if name in ("ascii", "iso8859-1") else name


def _in_charset(href: str, codec: str) -> str:
    head, mark, query = href.partition("?")
    body, hash_, _ = query.partition("#")
    if not hash_:
        body = body.rstrip(_BLANKS)
    try:
        data = body.encode(codec, "crawlers.url_query")
    except UnicodeError:  # codecs with their own rules, such as idna
        return href
    return f"{head}{mark}{_NOT_ASCII.sub(_escape, data).decode('ascii')}{hash_}"


def _escape(match: re.Match[bytes]) -> bytes:
    return b"%%%02X" % match[0][0]


def _character_reference(error: UnicodeError) -> tuple[str, int]:
    """Return a character that the charset lacks as the standard requires: `&#1234;`, percent-encoded."""
    assert isinstance(error, UnicodeEncodeError)
    numbers = (ord(one) for one in error.object[error.start : error.end])
    return "".join(f"%26%23{0xFFFD if 0xD800 <= n < 0xE000 else n}%3B" for n in numbers), error.end


codecs.register_error("crawlers.url_query", _character_reference)


def check_web(url: str) -> None:
    """Raise `BadUrl` if *url*, as serialised by the parser, is neither http nor https."""
    if not url.startswith(_WEB_START):
        raise BadUrl(f"scheme {url.partition(':')[0][:32]}")


def _too_long(url: str) -> BadUrl:
    return _other_scheme(url) or BadUrl(f"longer than {URL_MAX} characters")


def _no_url(url: str) -> BadUrl:
    return _other_scheme(url) or BadUrl("not a URL")


def _other_scheme(url: str) -> BadUrl | None:
    scheme = _SCHEME.match(url)
    if scheme and scheme[1].lower() not in _WEB:
        return BadUrl(f"scheme {scheme[1].lower()[:32]}")
    return None
