"""The stored graph of one site, with redirects followed and duplicates merged.

A node represents all pages with the same content. Its representative is the page with the lowest level; ties are
broken by the smallest URL. So nodes, numbers and edges are a function of the web and do not depend
on the order in which pages arrived. Rows of duplicate pages are deleted with SAVE_DUPLICATES=0: links to them then
point to their representative.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from crawlers.batches import batches
from crawlers.graphs.model import PAGE_COLUMNS
from crawlers.items import Node, State
from crawlers.store.reading.queries import site_has_crossings
from crawlers.store.reading.redirect_chains import final_target
from crawlers.store.streaming import execute, streamed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.store.database import Database

NODES_AT_ONCE = 256  # whose links are read by one query
NOBODY = 1 << 62  # the place of no page, behind all others

# PostgreSQL sorts text by the database's language; the export must not depend on it.
# Only hashes that several pages have take memory.
_PAGES = f"""
    SELECT id, CASE WHEN content_hash IN (
            SELECT content_hash FROM page WHERE site_id = :site AND state = {int(State.DONE)}
            GROUP BY content_hash HAVING count(*) > 1) THEN content_hash END, duplicates
    FROM page WHERE site_id = :site AND state = {int(State.DONE)} ORDER BY level, url {{c}}"""  # noqa: S608
_NODES = f"""
    SELECT id, url, level, status, title FROM page
    WHERE site_id = :site AND state = {int(State.DONE)} ORDER BY level, url {{c}}"""  # noqa: S608
_MOVED = f"""
    SELECT p.id, p.moved_to FROM page p JOIN page t ON t.id = p.moved_to
    WHERE p.site_id = :site AND p.state = {int(State.MOVED)} AND t.site_id = :site"""  # noqa: S608
# Redirects to a URL outside of the crawl, or to a page of another of its sites.
_LEFT = f"""
    SELECT p.id FROM page p JOIN external_link e ON e.page_id = p.id
    JOIN link_context c ON c.id = e.context_id WHERE p.site_id = :site AND c.tag = 'redirect'
    UNION SELECT p.id FROM page p JOIN page t ON t.id = p.moved_to
    WHERE p.site_id = :site AND p.state = {int(State.MOVED)} AND t.site_id <> :site"""  # noqa: S608
_EXTERNAL = """
    SELECT e.page_id, count(DISTINCT e.url_id) FROM page p JOIN external_link e ON e.page_id = p.id
    WHERE p.site_id = :site GROUP BY e.page_id"""
_LINKS = "SELECT source_id, target_id, count FROM link WHERE source_id {ids}"
_CROSSINGS = """
    SELECT l.source_id, l.target_id FROM link l JOIN page t ON t.id = l.target_id
    WHERE l.source_id {ids} AND t.site_id <> :site"""


class LinkCounts(NamedTuple):
    """What the links of a site say of its nodes, by number, and of all URLs to which its pages link, by page id."""

    in_degree: array[int]
    out_degree: array[int]
    outward: array[int]  # redirects to other sites to which it links
    first: array[int]  # place of a page -> place of the first other page that links to it, `NOBODY` if there is none
    first_elsewhere: dict[int, int]  # the same by URL, of those that are not pages
    inlinks: dict[int, int]  # URL that is not a page -> number of pages that link to it


class SiteGraph:
    """Nodes and edges of the site *site_id*; each iteration reads the store.

    Memory: some 170 bytes per page and 100 per other URL to which pages link, none per link.
    """

    columns = PAGE_COLUMNS

    def __init__(self, database: Database, site_id: int, name: str, description: str = "") -> None:
        self.name = name
        self.description = description
        self._database = database
        self.site_id = site_id
        self._pages = array("q")  # in the order of level and URL; a page has its place in it
        self._place_of: dict[int, int] = {}  # page id -> place
        self._nodes = array("q")  # place -> node; nodes start at 1
        self._firsts = array("q", [-1])  # node -> place of the page that represents it
        self._copies: dict[int, list[int]] = {}  # node -> its other pages
        self._merged = array("q", [0])  # node -> duplicates whose rows were deleted
        self._moved: dict[int, int] = {}  # redirect -> node
        # Page whose chain of redirects leaves the site -> the last page of the chain, which represents it.
        self._left: dict[int, int] = {}
        self._counts: LinkCounts | None = None
        with database.read() as connection:
            self._merge(connection)
            self._follow(connection)
            self._has_crossings = site_has_crossings(connection, site_id)
        self.ids = range(1, len(self._firsts))

    def members(self) -> Iterator[list[int]]:
        """Yield the page ids of each node, the representative first."""
        return map(self._members, self.ids)

    def _members(self, node: int) -> list[int]:
        return [self._pages[self._firsts[node]], *self._copies.get(node, ())]

    def node(self, page_id: int) -> int | None:
        """Return the node of a page, which its duplicates and redirects to it share; None if it has none."""
        place = self._place_of.get(page_id)
        return self._moved.get(page_id) if place is None else self._nodes[place]

    def representative(self, page_id: int) -> int | None:
        """Return the page that represents *page_id*; None if it is not a page."""
        node = self.node(page_id)
        return None if node is None else self._pages[self._firsts[node]]

    def link_counts(self) -> LinkCounts:
        """Return what the links say; reads them if no complete iteration of `edges` has."""
        if self._counts is None:
            for _ in self.edges():
                pass
        assert self._counts is not None
        return self._counts

    def first_page(self, page_id: int) -> int | None:
        """Return the first other page that links to a URL; None if there is none."""
        counts, place = self.link_counts(), self._place_of.get(page_id)
        first = counts.first_elsewhere.get(page_id, NOBODY) if place is None else counts.first[place]
        return None if first == NOBODY else self._pages[first]

    def _merge(self, connection: Connection) -> None:
        by_hash: dict[bytes, int] = {}
        for page_id, content_hash, duplicates in streamed(connection, _PAGES, site=self.site_id):
            new = len(self._firsts)
            node = new if content_hash is None else by_hash.setdefault(bytes.fromhex(content_hash), new)
            if node == new:
                self._firsts.append(len(self._pages))
                self._merged.append(duplicates)
            else:
                self._copies.setdefault(node, []).append(page_id)
            self._place_of[page_id] = len(self._pages)
            self._pages.append(page_id)
            self._nodes.append(node)

    def _follow(self, connection: Connection) -> None:
        self._left.update((page_id, page_id) for (page_id,) in streamed(connection, _LEFT, site=self.site_id))
        moved: dict[int, int] = {page_id: target for page_id, target in streamed(connection, _MOVED, site=self.site_id)}
        for page_id in moved:
            end = final_target(page_id, moved)
            if end in self._place_of:
                self._moved[page_id] = self._nodes[self._place_of[end]]
            elif end in self._left:
                self._left[page_id] = end

    def edges(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        zeros = array("q", bytes(8 * len(self._firsts)))
        counts = LinkCounts(zeros, zeros[:], zeros[:], array("q", [NOBODY]) * len(self._pages), {}, {})
        with self._database.read() as connection:
            for nodes in batches(self.ids, NODES_AT_ONCE):
                yield from self._edges_of(nodes, connection, counts)
        self._counts = counts

    def _edges_of(
        self, nodes: list[int], connection: Connection, counts: LinkCounts
    ) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        place_of, node_of, first, inlinks = self._place_of, self._nodes, counts.first, counts.inlinks
        first_elsewhere = counts.first_elsewhere
        weights: dict[int, dict[int, int]] = {node: {} for node in nodes}
        left: dict[int, set[int]] = {}
        pages = [page for node in nodes for page in self._members(node)]
        last_id, source_place, source = None, 0, 0
        # Rows of the driver, because those of SQLAlchemy would double the time.
        for source_id, target_id, count in execute(connection, _LINKS, ids=pages).cursor.fetchall():
            if source_id == target_id:
                continue
            if source_id != last_id:
                last_id, source_place = source_id, place_of[source_id]
                source = node_of[source_place]
                targets = weights[source]
            place = place_of.get(target_id)
            if place is not None:
                if first[place] > source_place:
                    first[place] = source_place
                target = node_of[place]
            else:
                if first_elsewhere.get(target_id, NOBODY) > source_place:
                    first_elsewhere[target_id] = source_place
                inlinks[target_id] = inlinks.get(target_id, 0) + 1
                target = self._moved.get(target_id, source)
                if target_id in self._left:
                    left.setdefault(source, set()).add(self._left[target_id])
            if target != source:  # links within a node do not count
                targets[target] = targets.get(target, 0) + count
        if self._has_crossings:
            for source_id, target_id in execute(connection, _CROSSINGS, ids=pages, site=self.site_id):
                left.setdefault(node_of[place_of[source_id]], set()).add(target_id)
        for node, targets in weights.items():
            for target in targets:
                counts.in_degree[target] += 1
            counts.out_degree[node] = len(targets)
            counts.outward[node] = len(left.get(node, ()))
            yield node, [(target, targets[target]) for target in sorted(targets)]

    def nodes(self) -> Iterator[Node]:
        counts = self.link_counts()
        with self._database.read() as connection:
            external = {page_id: number for page_id, number in streamed(connection, _EXTERNAL, site=self.site_id)}
            for page_id, url, level, status, title in streamed(connection, _NODES, site=self.site_id):
                place = self._place_of.get(page_id)
                if place is None:
                    continue  # stored after the duplicates were merged: the crawl is still running
                node = self._nodes[place]
                if self._firsts[node] != place:
                    continue
                yield Node(
                    node,
                    url,
                    level,
                    status,
                    title or "",
                    counts.in_degree[node],
                    counts.out_degree[node],
                    external.get(page_id, 0) + counts.outward[node],
                    len(self._copies.get(node, ())) + self._merged[node],
                )
