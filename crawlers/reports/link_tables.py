"""The rows of the files of links: to other sites, to what can't be loaded or is no URL, and the redirects of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlers.batches import batches
from crawlers.items import State
from crawlers.reasons import Reason, sentence
from crawlers.store.reading.redirect_chains import broken_ends, problems_of, redirect_cells
from crawlers.store.reading.url_counts import MIN_ERROR_STATUS
from crawlers.store.streaming import streamed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawlers.files.cells import Value
    from crawlers.graphs.site_graph import SiteGraph
    from crawlers.store.database import Database

EXTERNAL_COLUMNS = ("url", "host", "first_page", "anchor", "pages", "links")
_LEVEL_DIGITS = 10
# The least text names the first link: level, page, whether it has no text, text. A link with a text comes before one
# without, because an image or a redirect says less. A space, which no URL contains, is less than all that URLs contain.
_LINKS = f"""
    SELECT u.site, u.url, f.first, f.pages, f.links FROM (
        SELECT e.url_id, count(DISTINCT e.page_id) AS pages, sum(e.count) AS links,
            min((CAST(p.level + {10 ** (_LEVEL_DIGITS - 1)} AS text) || p.url || ' '
                || CASE k.anchor WHEN '' THEN '1' ELSE '0' END || k.anchor) {{c}}) AS first
        FROM page p JOIN external_link e ON e.page_id = p.id JOIN link_context k ON k.id = e.context_id
        WHERE p.site_id {{ids}} GROUP BY e.url_id
    ) f JOIN external_url u ON u.id = f.url_id ORDER BY u.site {{c}}, u.url {{c}}"""  # noqa: S608 - constants of ours


def external_rows(database: Database, site_ids: Collection[int]) -> Iterator[list[Value]]:
    """Yield the rows of the table of some sites, by host and URL; the database sorts them, in files if needed."""
    with database.read() as connection:
        for site, url, first, pages, links in streamed(connection, _LINKS, ids=site_ids):
            page, _, anchor = first[_LEVEL_DIGITS:].partition(" ")
            yield [url, urlsplit(site).hostname, page, anchor[1:], pages, links]


# The sign keeps SQLite from looking for each broken URL among the links of each page.
_HOLDERS = """
    SELECT t.id, a.anchor, l.count, s.url, s.level
    FROM page s JOIN link l ON l.source_id = s.id JOIN page t ON t.id = l.target_id
    LEFT JOIN link_anchor a ON a.source_id = l.source_id AND a.target_id = l.target_id
    WHERE s.site_id = :site AND +l.target_id {ids} ORDER BY t.url {c}, s.level, s.url {c}"""
_BAD = f"""
    SELECT b.raw, b.reason, max(b.anchor {{c}}), sum(b.count), p.url, p.level
    FROM page p JOIN bad_link b ON b.page_id = p.id
    WHERE p.site_id = :site AND b.reason NOT LIKE '{Reason.OTHER_SCHEME} %' GROUP BY b.raw, b.reason, p.url, p.level
    ORDER BY b.raw {{c}}, p.level, p.url {{c}}, b.reason {{c}}"""  # noqa: S608 - a constant of ours


def broken_link_rows(database: Database, graph: SiteGraph) -> Iterator[list[Value]]:
    """Yield the rows of the report `broken-links`, by target: first links to URLs, then links that are no URLs."""
    with database.read() as connection:
        ends = broken_ends(connection, graph.site_id)
        problems = problems_of(connection, ends, ends)
        for target_id, *of_page in streamed(connection, _HOLDERS, site=graph.site_id, ids=ends):
            url, status, reason = problems[target_id]
            yield [url, status, sentence(reason), *of_page]
        for raw, reason, *of_page in streamed(connection, _BAD, site=graph.site_id):
            yield [raw, None, sentence(reason), *of_page]


_REDIRECTS = f"""
    SELECT id, url, status, level FROM page WHERE site_id = :site AND (state = {State.MOVED:d}
    OR (state IN ({State.REFUSED:d}, {State.FAILED:d}) AND status >= 300 AND status < {MIN_ERROR_STATUS}))
    ORDER BY url {{c}}"""  # noqa: S608 - constants of ours


def redirect_rows(database: Database, graph: SiteGraph) -> Iterator[list[Value]]:
    """Yield the rows of the report `redirects`, by URL."""
    with database.read() as connection, database.read() as lookups:
        for pages in batches(streamed(connection, _REDIRECTS, site=graph.site_id)):
            for *cells, problem, level, chain in redirect_cells(lookups, pages):
                yield [*cells, sentence(problem), level, chain]
