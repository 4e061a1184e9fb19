"""The redirects of a site, each with its chain and where that ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.items import State
from crawlers.reasons import sentence
from crawlers.storage.redirect_chains import chain_of, hops_after, outward_targets
from crawlers.storage.streaming import streamed
from crawlers.storage.url_counts import MIN_ERROR_STATUS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.storage.database import Database
    from crawlers.storage.files.cells import Value

# Those of the report redirects.
COLUMNS = ("url", "status", "redirects", "final_url", "final_status", "problem", "level", "chain")
_REDIRECTS = f"""
    SELECT id, level FROM page WHERE site_id = :site AND (state = {State.MOVED:d}
    OR (state IN ({State.REFUSED:d}, {State.FAILED:d}) AND status >= 300 AND status < {MIN_ERROR_STATUS}))
    ORDER BY url {{c}}"""  # noqa: S608 - constants of ours


def redirect_rows(database: Database, site_id: int) -> Iterator[list[Value]]:
    """Yield the rows of the table of a site, by URL. Memory: some 300 bytes per redirect."""
    with database.read() as connection:
        levels: dict[int, int] = {page_id: level for page_id, level in streamed(connection, _REDIRECTS, site=site_id)}
        known = hops_after(connection, levels)
        outward = outward_targets(connection, known)
    for page_id, level in levels.items():
        urls, final_status, problem = chain_of(page_id, known, outward)
        final_url = "" if len(urls) == 1 else urls[-1]
        redirect, chain = known[page_id], " > ".join(urls)
        yield [redirect.url, redirect.status, len(urls) - 1, final_url, final_status, sentence(problem), level, chain]
