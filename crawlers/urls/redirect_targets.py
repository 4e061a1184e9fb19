"""Redirects: which statuses are redirects, and where their Location leads. Only this module interprets them.

References
----------
.. [1] RFC 9110, HTTP Semantics, sections 10.2.2 (Location) and 15.4 (Redirection 3xx).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.errors import BadUrl
from crawlers.reasons import Reason
from crawlers.urls.resolution import resolve

if TYPE_CHECKING:
    from crawlers.items import Target
    from crawlers.urls.normalization import Normalization

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
