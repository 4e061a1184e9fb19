"""Chooses the part of a graph that is drawn, and places it."""

from __future__ import annotations

from heapq import nlargest, nsmallest
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from crawlers.graphs.looks import (
    AROUND,
    CLASS,
    CLASS_COLOURS,
    COMMUNITY,
    COMMUNITY_COLOURS,
    CRAWLED,
    CRAWLED_COLOUR,
    DEEPER,
    HOST,
    IN_DEGREE,
    LEVEL,
    LEVEL_COLOURS,
    OF_CLASS,
    OF_HOST,
    OF_LEVEL,
    OTHER,
    OTHER_HOSTS,
    OTHER_SITE,
    SET,
    SMALLER,
    GraphMap,
    MapNode,
    Meaning,
    laid_out,
    short_name,
)
from crawlers.graphs.model import MemoryGraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.files.csv_tables import Value
    from crawlers.graphs.looks import GraphLayout, LaidOutGraph
    from crawlers.graphs.model import Graph, Row

MAP_NODES = 5_000  # what a browser shows without delay, and a person can look at
MAP_EDGES = 50_000


class Neighbourhood(NamedTuple):
    """The nodes that at most *hops* links, in either direction, separate from the node *centre*."""

    centre: int  # its id
    hops: int


def graph_map(
    graph: Graph,
    layout: GraphLayout,
    max_nodes: int = MAP_NODES,
    around: Neighbourhood | None = None,
) -> GraphMap:
    """Return the most important part of *graph*, or of a neighbourhood, placed; equal graphs give equal maps.

    These are the *max_nodes* nodes with the most incoming edges, in a neighbourhood first those nearest to its centre,
    and, between them, at most `MAP_EDGES` edges: first those to nodes with few incoming ones, because a link to a page
    of the menu shows nothing. *graph* has a column in_degree.
    Memory: for the part, not for the graph. Raises `ConfigError` if the library that places nodes is missing.
    """
    distances = _distances(graph, around) if around is not None else None
    all_edges = sum(len(targets) for _, targets in graph.edges())
    part, all_nodes = _most_linked(graph, max_nodes, distances)
    degrees = {row[0]: _number(_values(graph, row)[IN_DEGREE]) for row in part}
    inner = _inner_edges(graph, degrees)
    chosen = sorted(edge[1:] for edge in nsmallest(MAP_EDGES, inner))
    links = [(source, [(to, 1) for _, to in targets]) for source, targets in groupby(chosen, key=lambda edge: edge[0])]
    drawn = laid_out(MemoryGraph(part, links, graph.columns, graph.name), layout)
    rows = list(drawn.graph.nodes())
    places = {row[0]: place for place, row in enumerate(rows)}
    nodes = [_node(drawn, row) for row in rows]
    edges = [(places[source], places[target]) for source, target in chosen]
    is_of_sites = SET in [column.name for column in graph.columns]
    centre = nodes[places[around.centre]].label if around is not None else ""
    legend = _legend(nodes, drawn.group)
    return GraphMap(graph.name, nodes, edges, all_nodes, all_edges, legend, is_of_sites, centre)


def _distances(graph: Graph, around: Neighbourhood) -> dict[int, int]:
    """Return the distances of the nodes of a neighbourhood from its centre; reads the edges once for each hop."""
    found, last = {around.centre: 0}, {around.centre}
    for hop in range(1, around.hops + 1):
        ring: set[int] = set()
        for source, targets in graph.edges():
            if source in last:
                ring.update(target for target, _ in targets)
            elif any(target in last for target, _ in targets):
                ring.add(source)
        last = ring - found.keys()
        found.update(dict.fromkeys(last, hop))
    return found


def _values(graph: Graph, row: Row) -> dict[str, Value]:
    _, _, *values = row
    return dict(zip((column.name for column in graph.columns), values, strict=True))


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0


def _most_linked(graph: Graph, most: int, distances: dict[int, int] | None) -> tuple[list[Row], int]:
    """Return the nearest nodes with the most incoming edges by id, and the number of all."""
    count = 0
    place = 2 + [column.name for column in graph.columns].index(IN_DEGREE)

    def counted() -> Iterator[tuple[int, int, int, Row]]:
        nonlocal count
        for count, row in enumerate(graph.nodes(), 1):  # noqa: B007 - the last one is the number of all
            if distances is None:
                yield 0, _number(row[place]), -row[0], row
            elif (distance := distances.get(row[0])) is not None:
                yield -distance, _number(row[place]), -row[0], row

    chosen = [found[-1] for found in nlargest(most, counted(), key=lambda found: found[:3])]
    return sorted(chosen, key=lambda row: row[0]), count


def _inner_edges(graph: Graph, degrees: dict[int, int]) -> Iterator[tuple[int, int, int]]:
    """Yield the edges between nodes of *degrees*, with the in-degree of the target first."""
    for source, targets in graph.edges():
        if source in degrees:
            yield from ((degrees[target], source, target) for target, _ in targets if target in degrees)


def _node(drawn: LaidOutGraph, row: Row) -> MapNode:
    of_node, look = _values(drawn.graph, row), drawn.look(row)
    level, out_degree, group = of_node.get(LEVEL), of_node.get("out_degree"), of_node.get(drawn.group)
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
        "" if group is None else str(group),
    )


_PALETTES = {
    COMMUNITY: COMMUNITY_COLOURS,
    HOST: COMMUNITY_COLOURS,
    CLASS: (CRAWLED_COLOUR, *CLASS_COLOURS),
    SET: (CRAWLED_COLOUR,),
}
_OTHERS = {COMMUNITY: SMALLER, HOST: OTHER_HOSTS, SET: OTHER_SITE}  # what the colour of all others means


def _legend(nodes: list[MapNode], group: str) -> list[Meaning]:
    """Return what the colours of *nodes* mean; they are coloured by the column *group*."""
    by_colour: dict[str, MapNode] = {}  # the most linked node of each colour
    for node in nodes:
        if node.colour not in by_colour or node.in_degree > by_colour[node.colour].in_degree:
            by_colour[node.colour] = node
    palette = _PALETTES.get(group, LEVEL_COLOURS)
    named = [_meaning(group, by_colour[colour]) for colour in palette if colour in by_colour]
    return [*named, Meaning(_OTHERS[group], "", OTHER)] if group in _OTHERS and OTHER in by_colour else named


def _meaning(group: str, node: MapNode) -> Meaning:
    if group == COMMUNITY:
        return Meaning(AROUND, short_name(node.label), node.colour)
    if group == HOST:
        return Meaning(OF_HOST, node.group, node.colour)
    if group in (CLASS, SET):
        return (
            Meaning(OF_CLASS, node.group, node.colour)
            if group == CLASS and node.group
            else Meaning(CRAWLED, "", node.colour)
        )
    level = LEVEL_COLOURS.index(node.colour)
    return Meaning(DEEPER if level == len(LEVEL_COLOURS) - 1 else OF_LEVEL, str(level), node.colour)
