"""The stored graph of one site, with redirects followed and duplicates merged.

A node represents all pages with the same content. Its representative is the page with the lowest level; ties are
broken by the smallest URL. So nodes, numbers and edges are a function of the web and do not depend
on the order in which pages arrived.
"""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from crawlers.graphs.model import PAGE_COLUMNS
from crawlers.items import Node, State
from crawlers.store.reading.queries import site_has_crossings
from crawlers.store.reading.redirect_chains import final_target
from crawlers.store.streaming import execute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.store.database import Database

SOURCES_AT_ONCE = 256  # pages whose links are read by one query

# PostgreSQL sorts text by the database's language; the export must not depend on it.
_PAGES = f"""
    SELECT id, content_hash, url, level, status, title, duplicates FROM page
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
_AMONG = {
    "sqlite": "IN (SELECT value FROM json_each(:ids))",
    "postgresql": "= ANY(CAST(:ids AS bigint[]))",
}
_LINKS = "SELECT source_id, target_id, count FROM link WHERE source_id "
_CROSS_SITE = "SELECT id FROM page WHERE site_id <> :site AND id "


class SiteGraph:
    """Nodes and edges of the site *site_id*; each iteration reads the store.

    Memory: some 150 bytes per page, none per link.
    """

    columns = PAGE_COLUMNS

    def __init__(self, database: Database, site_id: int, name: str, description: str = "") -> None:
        self.name = name
        self.description = description
        self._database = database
        self._site_id = site_id
        self._node_of: dict[int, int] = {}  # page id -> node, for pages, duplicates and redirects
        self._members: list[list[int]] = [[]]  # node -> its pages, the representative first; nodes start at 1
        self._merged = array("q", [0])  # node -> duplicates whose rows were deleted
        # Page whose chain of redirects leaves the site -> the last page of the chain, which represents it.
        self._left: dict[int, int] = {}
        with database.read() as connection:
            self._left.update((row[0], row[0]) for row in connection.execute(text(_LEFT), {"site": site_id}))
            self._merge(connection)
            self._has_crossings = site_has_crossings(connection, site_id)
        self._in_degree = array("q")
        self._out_degree = array("q")
        self._outward = array("q")

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self._members) - 1

    def members(self) -> Iterator[list[int]]:
        """Return the page ids of each node, the representative first."""
        return iter(self._members[1:])

    def node(self, page_id: int) -> int | None:
        """Return the node of a page, which its duplicates and redirects to it share; None if it has none."""
        return self._node_of.get(page_id)

    def representative(self, page_id: int) -> int | None:
        """Return the page that represents *page_id*; None if it is not a page."""
        node = self._node_of.get(page_id)
        return None if node is None else self._members[node][0]

    def degrees(self, page_id: int) -> tuple[int, int]:
        """Return the in-degree and out-degree of the node of a page; call it only after `edges` is exhausted."""
        node = self._node_of[page_id]
        return self._in_degree[node], self._out_degree[node]

    def _pages(self, connection: Connection) -> Any:
        return execute(connection.execution_options(stream_results=True), _PAGES, site=self._site_id)

    def _merge(self, connection: Connection) -> None:
        by_hash: dict[bytes, int] = {}
        for page_id, content_hash, _, _, _, _, duplicates in self._pages(connection):
            node = by_hash.setdefault(bytes.fromhex(content_hash or f"{page_id:032x}"), len(self._members))
            if node == len(self._members):
                self._members.append([page_id])
                self._merged.append(duplicates)
            else:
                self._members[node].append(page_id)
            self._node_of[page_id] = node
        rows = connection.execute(text(_MOVED), {"site": self._site_id})
        moved: dict[int, int] = {page_id: target for page_id, target in rows}
        for page_id in moved:
            end = final_target(page_id, moved)
            if end is not None and end in self._node_of:
                self._node_of[page_id] = self._node_of[end]
            elif end in self._left:
                self._left[page_id] = end

    def edges(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        size = len(self._members)
        self._in_degree, self._out_degree, self._outward = (array("q", bytes(8 * size)) for _ in range(3))
        with self._database.read() as connection:
            for first in range(1, size, SOURCES_AT_ONCE):
                nodes = range(first, min(first + SOURCES_AT_ONCE, size))
                yield from self._edges_of(nodes, connection)

    def _edges_of(self, nodes: range, connection: Connection) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        node_of = self._node_of
        weights: dict[int, dict[int, int]] = {node: {} for node in nodes}
        left: dict[int, set[int]] = {}
        others: dict[int, set[int]] = {}  # pages without a node -> nodes that link to them
        links = self._among(_LINKS, [m for node in nodes for m in self._members[node]], connection)
        for source_id, target_id, count in links:
            source = node_of[source_id]
            target = node_of.get(target_id)
            if target is not None:
                if target != source:  # self-links do not count
                    targets = weights[source]
                    targets[target] = targets.get(target, 0) + count
            elif target_id in self._left:
                left.setdefault(source, set()).add(self._left[target_id])
            elif self._has_crossings:
                others.setdefault(target_id, set()).add(source)
        if others:
            for (page_id,) in self._among(_CROSS_SITE, list(others), connection, site=self._site_id):
                for source in others[page_id]:
                    left.setdefault(source, set()).add(page_id)
        for node, targets in weights.items():
            for target in targets:
                self._in_degree[target] += 1
            self._out_degree[node] = len(targets)
            self._outward[node] = len(left.get(node, ()))
            yield node, sorted(targets.items())

    def _among(self, statement: str, ids: list[int], connection: Connection, **values: int) -> Any:
        dialect = connection.dialect.name
        listed = json.dumps(ids) if dialect == "sqlite" else ids
        # Rows of the driver, because those of SQLAlchemy would double the time of an export.
        return connection.execute(text(statement + _AMONG[dialect]), {"ids": listed, **values}).cursor.fetchall()

    def nodes(self) -> Iterator[Node]:
        with self._database.read() as connection:
            rows = connection.execute(text(_EXTERNAL), {"site": self._site_id})
            external: dict[int, int] = {page_id: number for page_id, number in rows}
            for page_id, _, url, level, status, title, _ in self._pages(connection):
                node = self._node_of.get(page_id)
                if node is None:
                    continue  # stored after the duplicates were merged: the crawl is still running
                members = self._members[node]
                if members[0] != page_id:
                    continue
                yield Node(
                    node,
                    url,
                    level,
                    status,
                    title or "",
                    self._in_degree[node],
                    self._out_degree[node],
                    external.get(page_id, 0) + self._outward[node],
                    len(members) - 1 + self._merged[node],
                )
