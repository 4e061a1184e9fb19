"""Which filter judged a URL that was not requested, and what lets such URLs through."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.extraction.robots_rules import deciding_line
from crawlers.reports.histories.history import Line, Moment, line
from crawlers.storage.page_selection import NOT_SELECTED, TOO_DEEP

if TYPE_CHECKING:
    from typing import Any


class _Filter(NamedTuple):
    """A filter: how its reasons begin, or what they contain, what it is, and what to do."""

    sign: str
    judged: Line
    remedy: Line


_FILTERS = (
    _Filter(
        f"{NOT_SELECTED}: URL_EXCLUDE",
        line("judged by URL_EXCLUDE, the expressions of URLs that are left out"),
        line("to fetch it, change URL_EXCLUDE and run the same command again"),
    ),
    _Filter(
        f"{NOT_SELECTED}: no expression",
        line("judged by URL_INCLUDE, the expressions of URLs that are fetched"),
        line("to fetch it, add an expression to URL_INCLUDE and run the same command again"),
    ),
    _Filter(
        f"{NOT_SELECTED}: outside",
        line("judged by the folder in which the crawl of its site stays"),
        line("to fetch it, name the site without the folder in the list of sites, and run the same command again"),
    ),
    _Filter(
        NOT_SELECTED,
        line("judged by the addresses of its site"),
        line("to fetch it, name its address as an alias in the list of sites, and run the same command again"),
    ),
    _Filter(
        TOO_DEEP,
        line("judged by the limit of levels"),
        line("to fetch it, give its site a higher limit, or MAX_LEVEL, and run the same command again"),
    ),
    _Filter(
        "extension ",
        line("judged by its extension, which is one of IGNORED_EXTENSIONS"),
        line("to fetch such URLs, remove the extension from IGNORED_EXTENSIONS and begin another crawl"),
    ),
    _Filter(
        "trap: ",
        line("judged by the detection of traps: endless parts of sites"),
        line("to fetch such URLs nevertheless, set TRAPS_ENABLED=0 and begin another crawl"),
    ),
    _Filter(
        "robots.txt disallows it",
        line("judged by the robots.txt of its site"),
        line("only who runs the site may allow it; ROBOTSTXT_OBEY=0 is for sites of your own"),
    ),
    _Filter(
        "robots.txt ",
        line("judged by the robots.txt of its site, which can't be used"),
        line("only who runs the site can mend it; ROBOTSTXT_OBEY=0 is for sites of your own"),
    ),
)
_NOT_PUBLIC = _Filter(
    "which is not public",
    line("judged by the filter of addresses, which keeps the crawl out of private networks"),
    line("to fetch it, name its site in the list of sites, or set REFUSE_PRIVATE_ADDRESSES=0"),
)


def verdict(reason: str) -> tuple[Line, ...]:
    """Return which filter gave the *reason*, and what to do about it; nothing if it is unknown."""
    for one in _FILTERS:
        if reason.startswith(one.sign):
            return one.judged, one.remedy
    if _NOT_PUBLIC.sign in reason:
        return _NOT_PUBLIC.judged, _NOT_PUBLIC.remedy
    return ()


def robots_lines(site: Any, url: str, token: str) -> tuple[Line, ...]:
    """Return what the stored robots.txt of the row *site* says of *url* for the product *token*."""
    if site.robots_at is None:
        return ()
    if site.robots_status != 200 or not site.robots_text:
        if site.robots_status:
            return (
                line(
                    "its robots.txt was read %(at)s: status %(status)s",
                    at=Moment(site.robots_at),
                    status=site.robots_status,
                ),
            )
        return (line("its robots.txt was requested %(at)s without success", at=Moment(site.robots_at)),)
    found = deciding_line(site.robots_text, token, url)
    if found is None:
        return (line("its robots.txt, read %(at)s, allows it now", at=Moment(site.robots_at)),)
    return (
        line(
            'its robots.txt, read %(at)s, says "%(rule)s" to %(token)s',
            at=Moment(site.robots_at),
            rule=found,
            token=token,
        ),
    )
