"""A small web of six sites, for a first crawl, for tests and for the documentation.

The response of a site is a pure function of site, path and query (and of the web's size and origins): no clock,
no network, no state. `server` serves it on loopback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from examples.webs import archive, babel, faculty, grumpy, library, mirror
from examples.webs.pages import LANDMARKS, Site, Web, WebResponse, missing, typed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["DEFAULT", "SITES", "Site", "Web", "WebResponse", "respond"]

SITES: tuple[Site, ...] = tuple(LANDMARKS)
DEFAULT = Web()

_RESPONDERS: Mapping[Site, Callable[[Web, str, str], WebResponse]] = {
    "library": library.respond,
    "faculty": faculty.respond,
    "mirror": mirror.respond,
    "archive": archive.respond,
    "babel": babel.respond,
    "grumpy": grumpy.respond,
}

# faculty and babel have no robots.txt: a 404.
_ROBOTS: Mapping[str, str] = {
    "library": "User-agent: *\nDisallow:\n",
    "mirror": "User-agent: *\nAllow: /\n",
    "archive": "# All are welcome.\n",
    "grumpy": grumpy.ROBOTS,
}


def respond(site: Site, path: str, query: str = "", web: Web = DEFAULT) -> WebResponse:
    """Return the response of *site* to a GET of *path* (as sent: percent-encoded) and *query* (without "?").

    >>> respond("faculty", "/staff").status
    301
    """
    if path == "/robots.txt":
        return typed("text/plain", _ROBOTS[site].encode()) if site in _ROBOTS else missing()
    return _RESPONDERS[site](web, path, query)
