"""Times of exports as text."""

from __future__ import annotations

from datetime import UTC, datetime


def iso_time(seconds: float | None) -> str | None:
    """Return a time in seconds since 1970 in ISO 8601, in UTC and whole seconds.

    >>> iso_time(0.0)
    '1970-01-01T00:00:00Z'
    """
    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
