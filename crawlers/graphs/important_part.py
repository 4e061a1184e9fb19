"""Chooses the part of a graph that is drawn, and places it."""

from __future__ import annotations

from heapq import nlargest, nsmallest
from itertools import groupby
from typing import TYPE_CHECKING

from crawlers.algorithms.maps.force_layout import is_available
from crawlers.algorithms.maps.graph_map import GraphMap, MapNode, short_name
from crawlers.algorithms.maps.map_colours import (
    COMMUNITY_COLOURS,
    LEVEL_COLOURS,
    OTHER,
    community_colour,
    level_colour,
)
from crawlers.errors import ConfigError
from crawlers.graphs.looks import COMMUNITY, IN_DEGREE, LEVEL, laid_out
from crawlers.graphs.model import MemoryGraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.graphs.looks import GraphLayout, Look
    from crawlers.graphs.model import Graph, Row
    from crawlers.storage.files.cells import Value

MAP_NODES = 5_000  # what a browser shows without delay, and a person can look at
MAP_EDGES = 50_000


def graph_map(graph: Graph, layout: GraphLayout, max_nodes: int = MAP_NODES, max_edges: int = MAP_EDGES) -> GraphMap:
    """Return the most important part of *graph*, placed; equal graphs give equal maps.

    These are the *max_nodes* nodes with the most incoming edges and, between them, at most *max_edges* edges: first
    those to nodes with few incoming ones, because a link to a page of the menu shows nothing. *graph* has a column
    in_degree.
    Memory: for the part, not for the graph. Raises `ConfigError` if the library that places nodes is missing.
    """
    if not is_available():
        raise ConfigError("nodes can't be placed, because a library is missing: pip install crategraph-forceatlas2")
    all_edges = sum(len(targets) for _, targets in graph.edges())
    part, all_nodes = _most_linked(graph, max_nodes)
    degrees = {row[0]: _number(_values(graph, row)[IN_DEGREE]) for row in part}
    inner = _inner_edges(graph, degrees)
    chosen = sorted(edge[1:] for edge in nsmallest(max_edges, inner))
    links = [(source, [(to, 1) for _, to in targets]) for source, targets in groupby(chosen, key=lambda edge: edge[0])]
    drawn = laid_out(MemoryGraph(part, links, graph.columns, graph.name), layout)
    rows = list(drawn.graph.nodes())
    places = {row[0]: place for place, row in enumerate(rows)}
    nodes = [_node(drawn.graph, row, drawn.look(row)) for row in rows]
    edges = [(places[source], places[target]) for source, target in chosen]
    values = [_values(drawn.graph, row) for row in rows]
    is_of_sites = LEVEL not in values[0] if values else False
    return GraphMap(graph.name, nodes, edges, all_nodes, all_edges, _legend(rows, values, layout), is_of_sites)


def _values(graph: Graph, row: Row) -> dict[str, Value]:
    _, _, *values = row
    return dict(zip((column.name for column in graph.columns), values, strict=True))


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0


def _most_linked(graph: Graph, most: int) -> tuple[list[Row], int]:
    """Return the nodes with the most incoming edges by id, and the number of all."""
    count = 0
    place = 2 + [column.name for column in graph.columns].index(IN_DEGREE)

    def counted() -> Iterator[tuple[int, int, Row]]:
        nonlocal count
        for count, row in enumerate(graph.nodes(), 1):  # noqa: B007 - the last one is the number of all
            yield _number(row[place]), -row[0], row

    chosen = [row for _, _, row in nlargest(most, counted(), key=lambda found: found[:2])]
    return sorted(chosen, key=lambda row: row[0]), count


def _inner_edges(graph: Graph, degrees: dict[int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield the edges between nodes of *degrees*, with the in-degree of the target first."""
    for source, targets in graph.edges():
        if source in degrees:
            yield from ((degrees[target], source, target) for target, _ in targets if target in degrees)


def _node(graph: Graph, row: Row, look: Look) -> MapNode:
    of_node = _values(graph, row)
    level, out_degree = of_node.get(LEVEL), of_node.get("out_degree")
    assert look.position is not None
    return MapNode(
        row[1],
        str(of_node.get("title") or ""),
        level if isinstance(level, int) else None,
        _number(of_node.get(IN_DEGREE)),
        out_degree if isinstance(out_degree, int) else None,
        *look.position,
        look.size,
        look.colour,
    )


def _legend(rows: list[Row], values: list[dict[str, Value]], layout: GraphLayout) -> list[tuple[str, str]]:
    """Return what the colours mean; a community has the name of its most linked node."""
    if layout.colour == COMMUNITY:
        centres: dict[int, tuple[int, str]] = {}
        for row, of_node in zip(rows, values, strict=True):
            number, degree = _number(of_node[COMMUNITY]), _number(of_node[IN_DEGREE])
            if number not in centres or degree > centres[number][0]:
                centres[number] = degree, row[1]
        largest = sorted(centres)[: len(COMMUNITY_COLOURS)]
        named = [(f"around {short_name(centres[number][1])}", community_colour(number)) for number in largest]
        return named + ([("smaller communities", OTHER)] if len(centres) > len(named) else [])
    levels = sorted({_number(of_node[LEVEL]) for of_node in values if LEVEL in of_node})
    last = len(LEVEL_COLOURS) - 1
    named = [(f"level {level}", level_colour(level)) for level in levels if level < last]
    if any(level >= last for level in levels):
        named.append((f"level {last} and deeper", level_colour(last)))
    return named or [("crawled site", community_colour(1)), ("other site", OTHER)]
