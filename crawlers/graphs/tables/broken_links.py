"""The links of a site whose targets can't be loaded, or are no URLs: a row for each page that holds one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.reasons import Reason, sentence
from crawlers.storage.redirect_chains import broken_ends, problems_of
from crawlers.storage.streaming import streamed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.storage.database import Database
    from crawlers.storage.files.cells import Value

COLUMNS = ("url", "status", "reason", "anchor", "links", "page", "level")  # those of the report broken-links
_HOLDERS = """
    SELECT t.id, a.anchor, l.count, s.url, s.level
    FROM page s JOIN link l ON l.source_id = s.id JOIN page t ON t.id = l.target_id
    LEFT JOIN link_anchor a ON a.source_id = l.source_id AND a.target_id = l.target_id
    WHERE s.site_id = :site AND l.target_id {ids} ORDER BY t.url {c}, s.level, s.url {c}"""
_BAD = f"""
    SELECT b.raw, b.reason, max(b.anchor {{c}}), sum(b.count), p.url, p.level
    FROM page p JOIN bad_link b ON b.page_id = p.id
    WHERE p.site_id = :site AND b.reason NOT LIKE '{Reason.OTHER_SCHEME} %' GROUP BY b.raw, b.reason, p.url, p.level
    ORDER BY b.raw {{c}}, p.level, p.url {{c}}, b.reason {{c}}"""  # noqa: S608 - a constant of ours


def broken_link_rows(database: Database, site_id: int) -> Iterator[list[Value]]:
    """Yield the rows of the table of a site, by target: first links to URLs, then links that are no URLs."""
    with database.read() as connection:
        ends = broken_ends(connection, site_id)
        problems = problems_of(connection, ends, ends)
        for target_id, *of_page in streamed(connection, _HOLDERS, site=site_id, ids=ends):
            url, status, reason = problems[target_id]
            yield [url, status, sentence(reason), *of_page]
        for raw, reason, *of_page in streamed(connection, _BAD, site=site_id):
            yield [raw, None, sentence(reason), *of_page]
