"""What lets URLs through that were not requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.extraction.robots_rules import deciding_line
from crawlers.reasons import ROBOTS, TRAPS, Reason, code_of
from crawlers.reports.histories.history import Line, Moment, line

if TYPE_CHECKING:
    from typing import Any


_REMEDIES = {
    Reason.EXCLUDED: line("to fetch it, change URL_EXCLUDE and run the same command again"),
    Reason.NOT_INCLUDED: line("to fetch it, add an expression to URL_INCLUDE and run the same command again"),
    Reason.OUTSIDE_FOLDER: line(
        "to fetch it, name the site without the folder in the list of sites, and run the same command again"
    ),
    Reason.OTHER_ADDRESS: line(
        "to fetch it, name its address as an alias in the list of sites, and run the same command again"
    ),
    Reason.TOO_DEEP: line("to fetch it, give its site a higher limit, or MAX_LEVEL, and run the same command again"),
    Reason.EXTENSION: line("to fetch such URLs, remove the extension from IGNORED_EXTENSIONS and begin another crawl"),
    **dict.fromkeys(TRAPS, line("to fetch such URLs nevertheless, set TRAPS_ENABLED=0 and begin another crawl")),
    **dict.fromkeys(ROBOTS, line("only who runs the site can change that; ROBOTSTXT_OBEY=0 is for sites of your own")),
    **dict.fromkeys(
        (Reason.PRIVATE_HOST, Reason.PRIVATE_ADDRESS),
        line("to fetch it, name its site in the list of sites, or set REFUSE_PRIVATE_ADDRESSES=0"),
    ),
}


def remedies(reason: str) -> tuple[Line, ...]:
    """Return what to do about the *reason* why a URL was not requested; nothing if it is unknown."""
    code = code_of(reason)
    return (_REMEDIES[code],) if code in _REMEDIES else ()


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
