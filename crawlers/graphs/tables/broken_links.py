"""The links of a site whose targets can't be loaded, or are no URLs: a row for each page that holds one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.graphs.tables.reading import streamed
from crawlers.items import State
from crawlers.storage.crawl_results import MIN_ERROR_STATUS
from crawlers.storage.redirect_chains import final_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.storage.database import Database
    from crawlers.storage.files.cells import Value

COLUMNS = ("target", "status", "error", "page", "level", "links", "anchor")
_BROKEN = f"""
    SELECT id FROM page WHERE site_id = :site
    AND (state = {State.FAILED:d} OR (state = {State.REFUSED:d} AND status >= {MIN_ERROR_STATUS}))"""  # noqa: S608
_MOVED = f"SELECT id, moved_to FROM page WHERE site_id = :site AND state = {State.MOVED:d}"  # noqa: S608
_HOLDERS = """
    SELECT t.id, t.url, t.status, t.reason, s.url, s.level, l.count, a.anchor
    FROM page s JOIN link l ON l.source_id = s.id JOIN page t ON t.id = l.target_id
    LEFT JOIN link_anchor a ON a.source_id = l.source_id AND a.target_id = l.target_id
    WHERE s.site_id = :site AND l.target_id {ids} ORDER BY t.url {c}, s.level, s.url {c}"""
# Links with another scheme, such as mailto, are not broken.
_BAD = """
    SELECT b.raw, b.reason, p.url, p.level, sum(b.count), max(b.anchor {c})
    FROM page p JOIN bad_link b ON b.page_id = p.id
    WHERE p.site_id = :site AND b.reason NOT LIKE 'scheme %' GROUP BY b.raw, b.reason, p.url, p.level
    ORDER BY b.raw {c}, p.level, p.url {c}, b.reason {c}"""


def broken_link_rows(database: Database, site_id: int) -> Iterator[list[Value]]:
    """Yield the rows of the table of a site, by target: first links to URLs, then links that are no URLs."""
    with database.read() as connection:
        ends = _broken(connection, site_id)
        problems = _problems(connection, set(ends.values()))
        for target_id, target, status, reason, page, level, links, anchor in streamed(
            connection, _HOLDERS, site=site_id, ids=ends
        ):
            if ends[target_id] != target_id:
                url, status, reason = problems[ends[target_id]]
                reason = f"redirects to {url}: {reason}"
            yield [target, status, reason, page, level, links, anchor]
        for raw, reason, page, level, links, anchor in streamed(connection, _BAD, site=site_id):
            yield [raw, None, reason, page, level, links, anchor]


def _broken(connection: Connection, site_id: int) -> dict[int, int]:
    """Return the broken pages, and the redirects that end at one, with the broken page."""
    broken = {page_id: page_id for (page_id,) in streamed(connection, _BROKEN, site=site_id)}
    moved: dict[int, int] = {page_id: target for page_id, target in streamed(connection, _MOVED, site=site_id)}
    ends = ((page_id, final_target(page_id, moved)) for page_id in moved)
    return broken | {page_id: end for page_id, end in ends if end in broken}


def _problems(connection: Connection, page_ids: set[int]) -> dict[int, tuple[str, int | None, str]]:
    rows = streamed(connection, "SELECT id, url, status, reason FROM page WHERE id {ids}", ids=page_ids)
    return {page_id: (url, status, reason) for page_id, url, status, reason in rows}
