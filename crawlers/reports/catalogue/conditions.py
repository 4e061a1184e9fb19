"""What the readers of a report ask for, and what that means in SQL; SQLite and PostgreSQL fold texts alike."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, String, and_, func, literal, or_, select, true
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import GenericFunction

from crawlers.errors import ConfigError
from crawlers.reasons import codes_with
from crawlers.store.reading.url_counts import UrlKind, has_reason
from crawlers.store.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy import Connection

    from crawlers.items import State

Condition = Callable[[Any], ColumnElement[bool]]  # of the value of a filter
MAX_CHARS = 200
_HALF = re.compile("[\ud800-\udfff]")  # of a character
MAX_LEVEL = 1_000_000


class by_code_points(GenericFunction[str]):
    """A text that is compared and folded by code points; PostgreSQL would do it by the language of the database."""

    type = String()
    inherit_cache = True


@compiles(by_code_points)
def _plain(element: by_code_points, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.clauses, **options))


@compiles(by_code_points, "postgresql")
def _collated(element: by_code_points, compiler: Any, **options: Any) -> str:
    return f'({compiler.process(element.clauses, **options)} COLLATE "C")'


def contains(column: ColumnElement[Any], text: str) -> ColumnElement[bool]:
    """Return whether *text* is part of the column, whatever the case of ASCII letters (SQLite knows no others)."""
    folded = text.encode("utf-8", "replace").lower().decode()  # ASCII letters only
    return func.lower(by_code_points(column)).contains(folded, autoescape=True)


def is_host(column: ColumnElement[Any], host: str) -> ColumnElement[bool]:
    """Return whether the column, scheme://host[:port], is on *host* or a host below it, at any port.

    With a scheme, *host* is the only site that meets the condition.
    """
    if "://" in host:
        return column == host
    address = column + ":"
    return or_(contains(address, f"://{host}:"), contains(address, f".{host}:"))


def in_text(*columns: ColumnElement[Any]) -> Condition:
    """Return the condition that a text is part of one of the *columns*."""
    return lambda text: or_(*(contains(column, text) for column in columns))


def of_reason(column: ColumnElement[Any]) -> Condition:
    """Return the condition that each word of a text is in a stored reason, or in the sentence of its code."""
    return lambda text: and_(
        true(), *(or_(contains(column, word), has_reason(column, codes_with(word))) for word in text.split())
    )


def equal(column: ColumnElement[Any]) -> Condition:
    """Return the condition that the column has a value."""
    return lambda value: column == value


OF_PAGE: dict[str, Condition] = {
    "text": in_text(page.c.url, page.c.title),
    "level": equal(page.c.level),
    "status": equal(page.c.status),
}


def of_page(*names: str) -> dict[str, Condition]:
    """Return some of the conditions on pages."""
    return {name: OF_PAGE[name] for name in names}


def is_wanted_site(crawl_id: int, filters: Filters) -> ColumnElement[bool]:
    """Return whether a site belongs to the crawl, and meets the filter `site`."""
    of_crawl = site.c.crawl_id == crawl_id
    if name := filters.site:
        return of_crawl & site.c.site.in_([name, f"http://{name}", f"https://{name}"])
    return of_crawl


def wanted_sites(connection: Connection, crawl_id: int, filters: Filters, most: int) -> dict[int, str]:
    """Return the names of at most *most* of these sites, by number, in the order of their names."""
    statement = select(site.c.id, site.c.site).where(is_wanted_site(crawl_id, filters))
    return {number: name for number, name in connection.execute(statement.order_by(site.c.site).limit(most))}


def sites_from(connection: Connection, crawl_id: int, filters: Filters, first: int) -> Sequence[int]:
    """Return the numbers of these sites from *first* on, any number of 64 bits, in order."""
    wanted = is_wanted_site(crawl_id, filters) & (site.c.id >= literal(first))
    return connection.execute(select(site.c.id).where(wanted).order_by(site.c.id)).scalars().all()


def is_wanted_page(crawl_id: int, filters: Filters, *states: State) -> ColumnElement[bool]:
    """Return whether a page is one of these sites, in one of the *states*."""
    sites = select(site.c.id).where(is_wanted_site(crawl_id, filters))
    return page.c.site_id.in_(sites) & page.c.state.in_([int(state) for state in states])


class Filters(NamedTuple):
    """Conditions that a row must meet, all of them; None and "" stand for any value."""

    site: str = ""  # scheme://host[:port] or host[:port], of the pages of the crawl
    host: str = ""  # of a link's target, or a domain above it; or scheme://host[:port]
    text: str = ""  # part of the URL, title or anchor, whatever the case of its ASCII letters
    words: str = ""  # of a document, in the syntax of full-text searches
    anchor: str = ""  # part of the text of a link, likewise
    level: int | None = None
    state: UrlKind | None = None
    status: int | None = None  # of HTTP
    reason: str = ""  # part of why a URL is not a page, likewise
    kind: str = ""  # of a feed or an alarm
    language: str = ""  # of a document
    since: float | None = None  # seconds since 1970
    until: float | None = None  # likewise, exclusive

    @property
    def given(self) -> dict[str, object]:
        """The conditions that are not empty, by name."""
        return {name: value for name, value in self._asdict().items() if value is not None and value != ""}


def _whole(text: str, most: int) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and int(text) <= most else None


def _kind(text: str) -> UrlKind | None:
    name = text.lower().replace("-", " ")
    return UrlKind(name) if name in list(UrlKind) else None


def _time(text: str) -> float | None:
    """Return the time of an ISO 8601 text; in UTC unless it says otherwise."""
    try:
        moment = datetime.fromisoformat(text)
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) else None


class Filter(NamedTuple):
    """How a filter is typed: its label in the panel, its meaning, and its value, which is None for another text."""

    label: str
    about: str
    value: Callable[[str], Any] = str
    expected: str = ""  # what such a text is not
    metavar: str | None = None
    example: str = ""


_TO = "must be a whole number from 0 to {}"
_ONE_OF = f"must be one of: {', '.join(UrlKind)}"
_WHEN = ("is not a time; write for example 2026-11-22 or 2026-11-22T18:30", "TIME", "2026-11-22")
FILTERS = {
    "words": Filter("Words", "only documents with these words, as in scrapy explain --search"),
    "text": Filter("Text", "only rows with this text in their URL, title or link text"),
    "anchor": Filter("Link text", "only links with this in their text", metavar="TEXT"),
    "site": Filter("Site", "only pages of this site, host[:port]"),
    "host": Filter("Host", "only links to this host, to hosts below it, or to this site", str.lower),
    "level": Filter("Level", "only pages of this level", partial(_whole, most=MAX_LEVEL), _TO.format(MAX_LEVEL), "N"),
    "state": Filter("State", "only URLs of this kind, such as error or not-requested", _kind, _ONE_OF),
    "status": Filter("HTTP status", "only URLs with this HTTP status", partial(_whole, most=999), _TO.format(999), "N"),
    "reason": Filter("Reason", "only URLs with these words in the reason of their state"),
    "kind": Filter("Kind", "only feeds or alarms of this kind, such as sitemap", str.lower),
    "language": Filter("Language", "only documents in this language, such as en", str.lower, "", "CODE", "en"),
    "since": Filter("From", "only what was requested, found or raised from this time (UTC) on", _time, *_WHEN),
    "until": Filter("Until", "only what was before this time", _time, *_WHEN),
}


def parsed_filters(given: Mapping[str, str], known: Collection[str]) -> Filters:
    """Return the filters *given* as text by name, of which a report knows those of *known*; others must be empty.

    Raises `ConfigError` with one sentence about the first one that is wrong.
    """
    values = {}
    for name, text in ((name, text.strip()) for name, text in given.items() if text.strip()):
        if name not in known:
            raise ConfigError(f"this report has no filter {name}; it has {', '.join(sorted(known)) or 'none'}")
        if len(text) > MAX_CHARS:
            raise ConfigError(f"{name}: at most {MAX_CHARS} characters, got {len(text)}")
        if _HALF.search(text):  # a terminal may pass any bytes
            raise ConfigError(f"{name}={text!r} is not valid text; write it in UTF-8")
        values[name] = FILTERS[name].value(text)
        if values[name] is None:
            raise ConfigError(f"{name}={text!r} {FILTERS[name].expected}")
    return Filters(**values)
