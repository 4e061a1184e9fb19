"""The URLs of a site that were requested: pages, duplicates, redirects, errors."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from crawlers.batches import batches
from crawlers.items import State
from crawlers.reasons import sentence
from crawlers.reports.catalogue.page_reports import LEVEL, REASON, SIZE, STATE, STATUS, TITLE, TYPE, URL
from crawlers.store.reading.url_counts import kind_of
from crawlers.store.streaming import streamed, urls_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.files.cells import Value
    from crawlers.graphs.site_graph import SiteGraph
    from crawlers.store.database import Database

COLUMNS = (
    *(column.name for column in (URL, STATUS, STATE, REASON, LEVEL, TITLE, TYPE, SIZE)),
    "in_degree",  # as in the graph; of URLs that are not pages: the number of pages that link to it
    "out_degree",
    "duplicate_of",
    "found_on",  # the first page that links to it, or redirects to it
)
_REQUESTED = f"""
    SELECT id, url, status, state, reason, level, title, content_type, size_bytes FROM page
    WHERE site_id = :site AND state IN ({State.DONE:d}, {State.MOVED:d}, {State.REFUSED:d}, {State.FAILED:d})
    ORDER BY level, url {{c}}"""  # noqa: S608 - constants of ours
_LINKS = f"""
    SELECT l.source_id, l.target_id FROM page p JOIN link l ON l.source_id = p.id
    WHERE p.site_id = :site AND p.state = {State.DONE:d}"""  # noqa: S608
_MOVED = f"""
    SELECT id, moved_to FROM page WHERE site_id = :site AND state = {State.MOVED:d} ORDER BY level, url {{c}}"""  # noqa: S608
_BY_RANK = f"""
    SELECT id, level FROM page WHERE site_id = :site AND (state = {State.DONE:d} OR level = 0)
    ORDER BY level, url {{c}}"""  # noqa: S608
NOWHERE = -1


def page_rows(database: Database, site_id: int, graph: SiteGraph) -> Iterator[list[Value]]:
    """Yield the rows of the table of a site; *graph* is its graph. Memory: some 300 bytes per URL, none per link."""
    for _ in graph.edges():
        pass  # the degrees are counted on the way
    with database.read() as connection, database.read() as lookups:
        first, inlinks = _first_pages(connection, site_id)
        for rows in batches(streamed(connection, _REQUESTED, site=site_id)):
            found = {row[0]: first[row[0]] for row in rows if row[0] in first}
            represented = {
                row[0]: page_id
                for row in rows
                if row[3] == State.DONE and (page_id := graph.representative(row[0])) is not None
            }
            urls = urls_of(lookups, {*found.values(), *represented.values()})
            for page_id, url, status, state, reason, level, title, content_type, size in rows:
                in_degree: int | None = inlinks.get(page_id, 0)
                out_degree: int | None = None
                duplicate_of = ""
                if page_id in represented:
                    if represented[page_id] == page_id:
                        in_degree, out_degree = graph.degrees(page_id)
                    else:
                        in_degree, duplicate_of = None, urls[represented[page_id]]
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


def _first_pages(connection: Connection, site_id: int) -> tuple[dict[int, int], dict[int, int]]:
    """Return {page: first page that links or redirects to it}, and {page: number of pages that link to it}."""
    rank: dict[int, int] = {}
    by_rank = array("q")
    roots: set[int] = set()  # which links did not find
    for page_id, level in streamed(connection, _BY_RANK, site=site_id):
        rank[page_id] = len(by_rank)
        by_rank.append(page_id)
        if level == 0:
            roots.add(page_id)
    first: dict[int, int] = {}  # page -> rank
    inlinks: dict[int, int] = {}
    for source, target in streamed(connection, _LINKS, site=site_id):
        if source == target:
            continue
        inlinks[target] = inlinks.get(target, 0) + 1
        place = rank[source]
        if first.get(target, place) >= place and target not in roots:
            first[target] = place
    found = {target: by_rank[place] for target, place in first.items()}
    for page_id, target in streamed(connection, _MOVED, site=site_id):
        found.setdefault(target, page_id)
    return found, inlinks
