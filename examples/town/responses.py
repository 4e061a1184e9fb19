"""The town: ten densely linked sites, for cross-site crawls that revisit pages.

The response of a site is a function of the path, of the request headers and of the previous requests
(see `changes`): no clock, no network. `server` serves it on loopback.
"""

from __future__ import annotations

from email.utils import formatdate
from hashlib import sha256
from typing import TYPE_CHECKING

from examples.town import changes
from examples.town.plan import SITES, Page, plan
from examples.town.town_pages import passing, planned, story
from examples.webs.pages import HTML, Web, WebResponse, link, missing, typed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from examples.town.changes import RequestCounts

_OPENING = 1_700_000_000  # when the town opened; every Last-Modified is days later
_DAY_S = 86_400
_OFFER = Page(*changes.OFFER, "An offer: raised beds", "gardening")
_ENTRY = Page(*changes.ENTRY, "Spring is here", "gardening")


def town(scale: int = 1) -> Web:
    """Return the town with origins that do not exist: http://portal.test and so on."""
    return Web(scale, {name: f"http://{name}.test" for name in SITES})


def respond(
    web: Web, site: str, path: str, counts: RequestCounts, headers: Mapping[str, str] | None = None
) -> WebResponse:
    """Return the response of *site* to a GET of *path* (percent-encoded) after the requests in *counts*.

    >>> respond(town(), "news", "/story-8.html", {}).status
    404
    >>> respond(town(), "news", "/story-8.html", {("news", "/"): 3}).status
    200
    """
    if path == "/robots.txt":
        return typed("text/plain", b"User-agent: *\nDisallow:\n")
    text = _text(web, site, path, counts)
    return missing() if text is None else _validated(site, text.encode(), headers or {})


def _text(web: Web, site: str, path: str, counts: RequestCounts) -> str | None:
    """Return the page as HTML; None if it does not exist at present."""
    if (site, path) == changes.OFFER:
        return passing(web, _OFFER) if changes.has_offer(counts) else None
    if (site, path) == changes.ENTRY:
        return passing(web, _ENTRY) if changes.has_entry(counts) else None
    number = plan(web.scale).numbers.get((site, path))
    if number is not None:
        return planned(web, number, _extra(site, counts) if path == "/" else "")
    digits = path.removeprefix("/story-").removesuffix(".html")
    if site == "news" and digits.isdecimal() and len(digits) < 10 and story(int(digits)).path == path:
        return passing(web, story(int(digits))) if changes.has_story(int(digits), counts) else None
    return None


def _extra(site: str, counts: RequestCounts) -> str:
    """Return the variable part of a home page; all other content is constant."""
    if site == "news":
        return "".join(f"<h2>{link(page.path, page.title)}</h2>" for page in map(story, changes.headlines(counts)))
    if site == "gardening":
        return f"<p>{link(_OFFER.path, _OFFER.title)}</p>"
    if site == "diary":
        entry = f"<p>{link(_ENTRY.path, _ENTRY.title)}</p>" if changes.has_entry(counts) else ""
        return f"{entry}<p>You are visitor no. {counts.get(('diary', '/'), 0) + 1}.</p>"
    return ""


def _validated(site: str, body: bytes, headers: Mapping[str, str]) -> WebResponse:
    """Return the page with its validator; 304 if the request contains the current one."""
    version = sha256(body).hexdigest()
    validator = SITES[site].validator
    if validator == "etag":
        name, condition, value = "ETag", "If-None-Match", f'"{version[:16]}"'
    elif validator == "date":
        # There is no clock, so the date is derived from the text.
        name, condition, value = "Last-Modified", "If-Modified-Since", _date(int(version[:8], 16))
    else:
        return typed(HTML, body)
    if headers.get(condition) == value:
        return WebResponse(304, ((name, value),), b"")
    return WebResponse(200, (("Content-Type", HTML), (name, value)), body)


def _date(number: int) -> str:
    return formatdate(_OPENING + number % 500 * _DAY_S + number % _DAY_S, usegmt=True)
