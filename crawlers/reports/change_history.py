"""Describes the changes of a page between visits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, text

from crawlers.items import State
from crawlers.reports.history_wording import SHOWN, url_of, when
from crawlers.storage.schema.score_tables import link_change, page_change

if TYPE_CHECKING:
    from sqlalchemy import Connection

# The count of a link before and after each change, and the time of its earlier appearance, if that was observed.
_LINKS = """
    SELECT c.target_id, c.changed_at, c.last_seen, c.count AS before, coalesce(
            lead(c.count) OVER (PARTITION BY c.target_id ORDER BY c.changed_at), l.count, 0) AS after,
        max(CASE WHEN c.count = 0 THEN c.changed_at END) OVER (
            PARTITION BY c.target_id ORDER BY c.changed_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS came_at
    FROM link_change c LEFT JOIN link l ON l.source_id = c.source_id AND l.target_id = c.target_id
    WHERE c.source_id = :page ORDER BY c.changed_at DESC, c.target_id LIMIT :shown"""


def change_history(connection: Connection, page_id: int) -> list[str]:
    """Return lines about earlier states of a page, and about its added and removed links, the latest first."""
    of_page = page_change.c.page_id == page_id
    changes = connection.execute(select(func.count()).where(of_page)).scalar_one()
    if not changes:
        return []
    lines = [f"  changed {_times(changes)}"]
    previous = select(page_change).where(of_page).order_by(page_change.c.changed_at.desc()).limit(SHOWN)
    lines += [f"    {_previous(row)}" for row in connection.execute(previous)]
    number = connection.execute(
        select(func.count()).select_from(link_change).where(link_change.c.source_id == page_id)
    ).scalar_one()
    if number:
        lines.append(f"  its links changed {_times(number)}")
        rows = connection.execute(text(_LINKS), {"page": page_id, "shown": SHOWN})
        lines += [f"    {url_of(connection, row.target_id)}: {_link(row)}" for row in rows]
    return lines


def _times(number: int) -> str:
    shown = f", the last {SHOWN} of them:" if number > SHOWN else ":"
    return f"{number} time{'s' if number > 1 else ''}{shown}"


def _previous(row: Any) -> str:
    was = State(row.state).name.lower()
    status = f", status {row.status}" if row.status else ""
    content = f", content {row.content_hash[:8]}" if row.content_hash else ""
    return f"{was}{status}{content} until {_last_seen(row)}; different on {when(row.changed_at)}"


def _link(row: Any) -> str:
    if not row.before:
        return f"first seen {when(row.changed_at)}"
    if row.after:
        return f"{row.before} until {_last_seen(row)}, {row.after} on {when(row.changed_at)}"
    came = f"first seen {when(row.came_at)}, " if row.came_at else ""
    return f"{came}last seen {_last_seen(row)}, gone on {when(row.changed_at)}"


def _last_seen(row: Any) -> str:
    return when(row.last_seen) if row.last_seen is not None else "an unknown time"
