"""What the readers of a report ask for: which of its rows they want to see."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from crawlers.errors import ConfigError
from crawlers.storage.url_kinds import UrlKind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

MAX_CHARS = 200
_HALF = re.compile("[\ud800-\udfff]")  # of a character
MAX_LEVEL = 1_000_000


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


def parsed_filters(given: Mapping[str, str], known: Collection[str]) -> Filters:
    """Return the filters *given* as text by name, of which a report knows those of *known*; others must be empty.

    Raises `ConfigError` with one sentence about the first one that is wrong.
    """
    values = {name: text.strip() for name, text in given.items() if text.strip()}
    for name, text in values.items():
        if name not in known:
            raise ConfigError(f"this report has no filter {name}; it has {', '.join(sorted(known)) or 'none'}")
        if len(text) > MAX_CHARS:
            raise ConfigError(f"{name}: at most {MAX_CHARS} characters, got {len(text)}")
        if _HALF.search(text):  # a terminal may pass any bytes
            raise ConfigError(f"{name}={text!r} is not valid text; write it in UTF-8")
    return Filters(
        site=values.get("site", ""),
        host=values.get("host", "").lower(),
        text=values.get("text", ""),
        words=values.get("words", ""),
        anchor=values.get("anchor", ""),
        level=_whole(values, "level", MAX_LEVEL),
        state=_state(values),
        status=_whole(values, "status", 999),
        reason=values.get("reason", ""),
        kind=values.get("kind", "").lower(),
        language=values.get("language", "").lower(),
        since=_time(values, "since"),
        until=_time(values, "until"),
    )


def _whole(values: Mapping[str, str], name: str, most: int) -> int | None:
    if name not in values:
        return None
    text = values[name]
    if not (text.isascii() and text.isdecimal()) or int(text) > most:
        raise ConfigError(f"{name}={text!r} must be a whole number from 0 to {most}")
    return int(text)


def _state(values: Mapping[str, str]) -> UrlKind | None:
    if "state" not in values:
        return None
    try:
        return UrlKind(values["state"].lower().replace("-", " "))
    except ValueError:
        raise ConfigError(f"state={values['state']!r} must be one of: {', '.join(UrlKind)}") from None


def _time(values: Mapping[str, str], name: str) -> float | None:
    """Return the time of an ISO 8601 text; in UTC unless it says otherwise."""
    if name not in values:
        return None
    try:
        moment = datetime.fromisoformat(values[name])
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        seconds = math.nan
    if not math.isfinite(seconds):
        raise ConfigError(f"{name}={values[name]!r} is not a time; write for example 2026-11-22 or 2026-11-22T18:30")
    return seconds
