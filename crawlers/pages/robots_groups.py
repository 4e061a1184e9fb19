"""Tells whether a robots.txt can be read, and which of its lines apply to one crawler (RFC 9309)."""

from __future__ import annotations

import re

UNREACHABLE = 0  # instead of a status: there was no response
SERVER_ERROR = 500  # the lowest status of an error of the server
TOO_MANY_REQUESTS = 429  # unlike other 4xx (section 2.3.1.3), this does not mean that there are no rules

# A field of a line without comment; the variants and misspellings are those that protego reads as well.
_AGENT = re.compile(r"user(?:-|\s+)?agent(?:\s*:|\s|$)\s*(.*)", re.IGNORECASE)
_RULE = re.compile(r"(?:allow|dis{1,2}al{1,2}ow|diasllow|disallaw)(?:\s*:|\s|$)", re.IGNORECASE)
_DELAY = re.compile(r"crawl(?:-|\s+)delay(?:\s*:|\s|$)", re.IGNORECASE)

_TOKEN = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
_COMPATIBLE = re.compile(r"\bcompatible[;,]\s*([A-Za-z0-9_][\w.-]*)", re.ASCII | re.IGNORECASE)
_COMMENT = re.compile(r"\([^()]*\)")
_BROWSERS = frozenset(
    {"mozilla", "applewebkit", "chrome", "safari", "gecko", "firefox", "version", "mobile", "edg", "opr"}
)


def is_unreachable(status: int) -> bool:
    """Return whether a robots.txt with that *status* could not be read, so that nothing may be fetched (2.3.1.4)."""
    return status in (UNREACHABLE, TOO_MANY_REQUESTS) or status >= SERVER_ERROR


def product_token(user_agent: str) -> str | None:
    """Return the name by which robots.txt addresses the sender of *user_agent*; None if it contains no name.

    That of a crawler that presents itself as a browser stands behind `compatible;`, or between the names of browsers.

    >>> product_token("crawlers/0.1 (+https://example.org/crawlers)")
    'crawlers'
    >>> product_token("Mozilla/5.0 (compatible; mybot/1.0; +https://example.org)")
    'mybot'
    >>> product_token("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) mybot/1.0 Safari/537.36")
    'mybot'
    """
    compatible = _COMPATIBLE.search(user_agent)
    if compatible is not None:
        return compatible[1].rstrip(".")
    names: list[str] = []
    for product in _COMMENT.sub(" ", user_agent).split():
        name = _TOKEN.match(product)
        if name is not None:
            names.append(name[0].rstrip("."))
    if names and names[0].lower() == "mozilla":
        return next((name for name in names if name.lower() not in _BROWSERS), names[0])
    return names[0] if names else None


def lines_for(text: str, token: str) -> list[str]:
    """Return the rules and delays of robots.txt *text* that apply to the product *token*, without comments.

    The groups that name *token* apply together; without one, those for `*`. Only rules end a list of User-agent lines,
    so Crawl-delay does not begin a new group. Within the list, Crawl-delay applies to the agents directly above it:
    those that follow have their own. A byte order mark is ignored wherever it is.

    >>> text = "User-agent: a\\nCrawl-delay: 2\\nUser-agent: MyBot/1.0\\nDisallow: /x\\nUser-agent: *\\nDisallow: /"
    >>> lines_for(text, "mybot")
    ['Disallow: /x']

    Notes
    -----
    Linear in the length of *text*.

    References
    ----------
    .. [1] RFC 9309 (2022), Robots Exclusion Protocol, sections 2.2.1 (matching) and 2.2.4 (other records).
    """
    wanted = token.lower()
    lines: dict[str, list[str]] = {wanted: [], "*": []}
    ruled: set[str] = set()  # the agents to which the next rule applies
    delayed: set[str] = set()  # those to which the next delay applies
    is_named = has_rules = has_delay = False  # has_rules, has_delay: since the last User-agent line
    for raw in text.replace("\ufeff", "").splitlines():
        line = raw.partition("#")[0].strip()
        if agent := _AGENT.match(line):
            if has_rules:
                ruled = set()
            if has_rules or has_delay:
                delayed = set()
            has_rules = has_delay = False
            name = _agent_name(agent[1])
            is_named = is_named or name == wanted
            ruled.add(name)
            delayed.add(name)
        elif _RULE.match(line):
            has_rules = True
            for name in ruled & lines.keys():
                lines[name].append(line)
        elif _DELAY.match(line):
            has_delay = True
            for name in delayed & lines.keys():
                lines[name].append(line)
    return lines[wanted if is_named else "*"]


def _agent_name(value: str) -> str:
    """Return the product token in the *value* of a User-agent line, in lower case: the version does not count."""
    word = (value.split(None, 1) or [""])[0]
    return word if word == "*" else word.partition("/")[0].replace("*", "").rstrip(",;:.").lower()
