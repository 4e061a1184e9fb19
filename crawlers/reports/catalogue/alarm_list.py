"""The alarms of a news crawl."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import or_, select

from crawlers.algorithms.news.alarm_rules import (
    DEAD_FEED,
    DISCOVERY,
    DISCOVERY_SHARE,
    EXTRACTION,
    MIN_SHARE,
    SILENCE_FACTOR,
    SILENT,
    UNREACHABLE,
)
from crawlers.options import SETTINGS
from crawlers.reports.catalogue.crawl_report import Column, Group, Kind, Report, Row, Step
from crawlers.reports.catalogue.crawl_scope import NEWS
from crawlers.reports.catalogue.text_filter import contains
from crawlers.storage.schema.news_tables import alarm
from crawlers.storage.schema.tables import crawl

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection

    from crawlers.reports.catalogue.crawl_report import Cursor
    from crawlers.reports.catalogue.filters import Filters

ALARMS_AT_ONCE = 500
_LAST = 2**31 - 1  # after every alarm
_WITHIN = f"within {{}} days, or {SILENCE_FACTOR} times the usual interval"
HOURS, DAYS = "NEWS_ALARM_HOURS", "NEWS_ALARM_SILENT_DAYS"
# What is expected, by kind, with the setting that says how long it may take, and the share of it.
EXPECTED = {
    DEAD_FEED: ("a response within {} hours", HOURS, 1.0),
    UNREACHABLE: ("a response within {} hours", HOURS, 1.0),
    SILENT: (f"an article {_WITHIN}", DAYS, 1.0),
    EXTRACTION: (f"documents from {MIN_SHARE:.0%} of the pages that look like articles", "", 1.0),
    DISCOVERY: (f"a new URL {_WITHIN}", DAYS, DISCOVERY_SHARE),
}


class Alarms(Report):
    """Alarms: open ones first, and the latest of them first."""

    name = "alarms"
    title = "Alarms"
    group = Group.ERRORS
    about = "What needs attention in a news crawl: feeds and sources that fail, are silent, or yield nothing."
    columns = (
        Column("subject", "Feed or site", Kind.URL),
        Column("kind", "Kind", Kind.WORDS),
        Column("raised_at", "Since", Kind.TIME),
        Column("ended_at", "Ended", Kind.TIME),
        Column("expected", "Expected"),
        Column("got", "Got instead"),
        Column("remedy", "What to do"),
    )
    filters = frozenset({"text", "kind", "since", "until"})
    missions = NEWS
    cursor_ranges = (range(2), range(-_LAST, 1))  # whether it ended, number
    empty = "Nothing needs attention. A news crawl checks its sources every ten minutes."

    def steps(self, connection: Connection, crawl_id: int, filters: Filters, after: Cursor | None) -> Iterator[Step]:
        has_ended, before = (after[0], -after[1]) if after is not None else (0, _LAST)
        limits = _limits(connection, crawl_id)
        conditions = [alarm.c.crawl_id == crawl_id]
        if filters.text:
            conditions.append(or_(contains(alarm.c.subject, filters.text), contains(alarm.c.message, filters.text)))
        if filters.kind:
            conditions.append(alarm.c.kind == filters.kind)
        if filters.since is not None:
            conditions.append(alarm.c.raised_at >= filters.since)
        if filters.until is not None:
            conditions.append(alarm.c.raised_at < filters.until)
        while has_ended < 2:
            numbers = select(alarm.c.id).where(alarm.c.id < before).order_by(alarm.c.id.desc()).limit(ALARMS_AT_ONCE)
            found = list(connection.execute(numbers).scalars())
            is_over = alarm.c.ended_at.is_not(None) if has_ended else alarm.c.ended_at.is_(None)
            of_step = select(alarm).where(alarm.c.id.in_(found), is_over, *conditions).order_by(alarm.c.id.desc())
            rows = []
            for one in connection.execute(of_step):
                got, _, remedy = one.message.partition("; ")
                cells = (one.subject, one.kind, one.raised_at, one.ended_at, _expected(one.kind, limits), got, remedy)
                rows.append(Row(cells, (has_ended, -one.id)))
            if len(found) == ALARMS_AT_ONCE:
                before = found[-1]
            else:
                has_ended, before = has_ended + 1, _LAST
            yield Step(rows, (has_ended, -before) if has_ended < 2 else None)


def _limits(connection: Connection, crawl_id: int) -> dict[str, Any]:
    """Return the settings that were given to the crawl."""
    manifest = json.loads(connection.execute(select(crawl.c.manifest).where(crawl.c.id == crawl_id)).scalar_one())
    return dict(manifest.get("command", {}).get("settings", {}))


def _expected(kind: str, limits: Mapping[str, Any]) -> str | None:
    if kind not in EXPECTED:
        return None
    sentence, name, share = EXPECTED[kind]
    limit = limits.get(name, SETTINGS[name].default) if name else 0.0
    return sentence.format(f"{share * float(limit):.3g}")
