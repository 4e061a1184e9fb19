"""The URLs of a site that were requested: pages, duplicates, redirects, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.batches import batches
from crawlers.items import State
from crawlers.reasons import sentence
from crawlers.store.reading.url_counts import kind_of
from crawlers.store.streaming import streamed, urls_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.files.csv_tables import Value
    from crawlers.graphs.site_graph import SiteGraph
    from crawlers.store.database import Database

COLUMNS = (
    *("url", "status", "state", "reason", "level", "title", "content_type", "size_bytes"),
    "in_degree",  # as in the graph; of URLs that are not pages: the number of pages that link to it
    "out_degree",
    "duplicate_of",
    "found_on",  # the first page that links to it, or redirects to it
)
_REQUESTED = f"""
    SELECT id, url, status, state, reason, level, title, content_type, size_bytes FROM page
    WHERE site_id = :site AND state IN ({State.DONE:d}, {State.MOVED:d}, {State.REFUSED:d}, {State.FAILED:d})
    ORDER BY level, url {{c}}"""  # noqa: S608 - constants of ours
_MOVED = f"""
    SELECT id, moved_to FROM page WHERE site_id = :site AND state = {State.MOVED:d} ORDER BY level, url {{c}}"""  # noqa: S608
NOWHERE = -1


def page_rows(database: Database, graph: SiteGraph) -> Iterator[list[Value]]:
    """Yield the rows of the table of the site of *graph*, which counts the links. Memory: see `SiteGraph`."""
    counts = graph.link_counts()
    with database.read() as connection, database.read() as lookups:
        redirecting: dict[int, int] = {}  # the first one of those that redirect to a page
        for page_id, target in streamed(connection, _MOVED, site=graph.site_id):
            redirecting.setdefault(target, page_id)

        def found_on(page_id: int, level: int) -> int | None:
            place = counts.first.get(page_id) if level else None  # links did not find the start URLs
            return redirecting.get(page_id) if place is None else graph.first_page(place)

        for rows in batches(streamed(connection, _REQUESTED, site=graph.site_id)):
            found = {row.id: page for row in rows if (page := found_on(row.id, row.level)) is not None}
            represented = {
                row.id: page
                for row in rows
                if row.state == State.DONE and (page := graph.representative(row.id)) is not None
            }
            urls = urls_of(lookups, {*found.values(), *represented.values()})
            for page_id, url, status, state, reason, level, title, content_type, size in rows:
                in_degree: int | None = counts.inlinks.get(page_id, 0)
                out_degree: int | None = None
                duplicate_of = ""
                if (page := represented.get(page_id)) == page_id:
                    node = graph.node(page_id)
                    assert node is not None
                    in_degree, out_degree = counts.in_degree[node], counts.out_degree[node]
                elif page is not None:
                    in_degree, duplicate_of = None, urls[page]
                yield [
                    url,
                    status,
                    kind_of(State(state), status),
                    sentence(reason),
                    level,
                    title,
                    content_type,
                    size,
                    in_degree,
                    out_degree,
                    duplicate_of,
                    urls.get(found.get(page_id, NOWHERE), ""),
                ]
