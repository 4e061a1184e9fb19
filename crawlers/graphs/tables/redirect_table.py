"""The redirects of a site, each with its chain and where that ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.items import REDIRECT, State
from crawlers.reasons import sentence
from crawlers.storage.redirect_chains import Hop, chain_of
from crawlers.storage.streaming import streamed
from crawlers.storage.url_counts import MIN_ERROR_STATUS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.storage.database import Database
    from crawlers.storage.files.cells import Value

# Those of the report redirects.
COLUMNS = ("url", "status", "redirects", "final_url", "final_status", "problem", "level", "chain")
_REDIRECTS = f"""
    SELECT id, level, url, status, state, moved_to, reason FROM page WHERE site_id = :site AND (state = {State.MOVED:d}
    OR (state IN ({State.REFUSED:d}, {State.FAILED:d}) AND status >= 300 AND status < {MIN_ERROR_STATUS}))
    ORDER BY url {{c}}"""  # noqa: S608 - constants of ours
_TARGETS = f"""
    SELECT t.id, t.url, t.status, t.state, t.moved_to, t.reason FROM page p JOIN page t ON t.id = p.moved_to
    WHERE p.site_id = :site AND p.state = {State.MOVED:d}"""  # noqa: S608
_OUTWARD = f"""
    SELECT p.id, min(u.url) FROM page p JOIN external_link e ON e.page_id = p.id
    JOIN link_context k ON k.id = e.context_id AND k.tag = '{REDIRECT}' JOIN external_url u ON u.id = e.url_id
    WHERE p.site_id = :site GROUP BY p.id"""  # noqa: S608


def redirect_rows(database: Database, site_id: int) -> Iterator[list[Value]]:
    """Yield the rows of the table of a site, by URL. Memory: some 300 bytes per redirect."""
    with database.read() as connection:
        known = {page_id: Hop(*hop) for page_id, *hop in streamed(connection, _TARGETS, site=site_id)}
        levels = {}
        for page_id, level, *hop in streamed(connection, _REDIRECTS, site=site_id):
            known[page_id], levels[page_id] = Hop(*hop), level
        outward: dict[int, str] = {page_id: url for page_id, url in streamed(connection, _OUTWARD, site=site_id)}
    for page_id, level in levels.items():
        urls, final_status, problem = chain_of(page_id, known, outward)
        final_url = "" if len(urls) == 1 else urls[-1]
        redirect, chain = known[page_id], " > ".join(urls)
        yield [redirect.url, redirect.status, len(urls) - 1, final_url, final_status, sentence(problem), level, chain]
