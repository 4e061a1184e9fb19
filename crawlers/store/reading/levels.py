"""Computes the true levels of a site's pages: the clicks from the start URL by the stored links.

Orders that are not breadth-first reach pages by longer paths. The final graph is the same, so when no URL waits, the
levels can be corrected, and pages that only seemed too deep are detected.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select, update

from crawlers.items import State
from crawlers.reasons import Reason, code_of
from crawlers.store.schema.tables import link, page

if TYPE_CHECKING:
    from sqlalchemy import Connection


def correct_levels(connection: Connection, site_id: int, max_level: int | None) -> list[tuple[str, int]]:
    """Correct the levels of read pages; return (URL, level) of rejected pages that are not too deep after all.

    Everything must be committed. Holds the links of the site in memory, some 100 bytes each.
    """
    columns = (page.c.id, page.c.url, page.c.level, page.c.state, page.c.reason, page.c.found_on)
    pages = connection.execute(select(*columns).where(page.c.site_id == site_id)).all()
    levels = _levels(connection, site_id, [row.id for row in pages if row.found_on is None])
    true = [(row, levels.get(row.id, row.level)) for row in pages]
    wrong = [
        {"page": row.id, "true": level}
        for row, level in true
        if level != row.level and row.state not in (State.WAITING, State.REJECTED)
    ]
    if wrong:
        statement = update(page).where(page.c.id == bindparam("page")).values(level=bindparam("true"))
        connection.execute(statement, wrong)
    return [
        (row.url, level)
        for row, level in true
        if row.state == State.REJECTED
        and code_of(row.reason) is Reason.TOO_DEEP
        and (max_level is None or level <= max_level)
    ]


def _levels(connection: Connection, site_id: int, homes: list[int]) -> dict[int, int]:
    """Return the clicks from *homes* to every page; following a redirect is not a click."""
    of_site = page.c.site_id == site_id
    links: dict[int, list[int]] = {}
    statement = select(link.c.source_id, link.c.target_id).join(page, page.c.id == link.c.source_id).where(of_site)
    for source, target in connection.execute(statement):
        links.setdefault(source, []).append(target)
    moved = dict(
        connection.execute(select(page.c.id, page.c.moved_to).where(of_site, page.c.moved_to.is_not(None))).all()
    )
    levels = dict.fromkeys(homes, 0)
    queue = deque(homes)
    while queue:
        number = queue.popleft()
        level = levels[number]
        target = moved.get(number)
        if target is not None and level < levels.get(target, level + 1):
            levels[target] = level
            queue.appendleft(target)
        for target in links.get(number, ()):
            if level + 1 < levels.get(target, level + 2):
                levels[target] = level + 1
                queue.append(target)
    return levels
