"""How a graph looks when it is opened: colours, sizes and positions of its nodes (setting GRAPH_LAYOUT).

A large graph has no positions, so that nothing of it is held in memory; its colours are those of levels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.maps.communities import communities
from crawlers.algorithms.maps.force_layout import force_layout, is_available
from crawlers.algorithms.maps.map_colours import OTHER, community_colour, level_colour, node_size
from crawlers.algorithms.plurals import counted
from crawlers.errors import ConfigError
from crawlers.graphs.analysis import AnalysedGraph, Analysis, analyse
from crawlers.graphs.model import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawlers.graphs.model import Graph, Row

MAX_NODES = 20_000  # of a graph with positions
MAX_LAID_OUT_EDGES = 500_000
NO_LIBRARY = "the graph has colours and sizes, but no positions; pip install crategraph-forceatlas2"
LEVEL, COMMUNITY = "level", "community"
IN_DEGREE, PAGERANK = "in_degree", "pagerank"
LAYOUTS = (LEVEL, COMMUNITY, IN_DEGREE, PAGERANK)  # the words of GRAPH_LAYOUT
_GROUPS = (LEVEL, "set")  # the columns that determine colours, in graphs of pages and of sites
_SET_COLOURS = {"target": community_colour(1), "accompanying": OTHER}


class Look(NamedTuple):
    """The look of a node; a position of None leaves it to the program that opens the file."""

    colour: str  # #rrggbb
    size: float  # diameter, in the unit of the positions
    position: tuple[float, float] | None = None


class GraphLayout(NamedTuple):
    """What colours and sizes mean."""

    colour: str = LEVEL
    size: str = IN_DEGREE


class LaidOutGraph(NamedTuple):
    """A graph and the look of its nodes; the graph may have got columns (community, pagerank)."""

    graph: Graph
    look: Callable[[Row], Look]
    remark: str = ""  # a sentence, if it has no positions


def graph_layout(words: Sequence[str]) -> GraphLayout | None:
    """Return the layout that the *words* of GRAPH_LAYOUT describe; None without words. Raises `ConfigError`.

    >>> graph_layout(["community", "pagerank"])
    GraphLayout(colour='community', size='pagerank')
    """
    unknown = set(words) - set(LAYOUTS)
    if unknown:
        raise ConfigError(f"GRAPH_LAYOUT={','.join(sorted(unknown))} is unknown; choose out of: {', '.join(LAYOUTS)}")
    if set(words) >= {LEVEL, COMMUNITY} or set(words) >= {IN_DEGREE, PAGERANK}:
        raise ConfigError(
            f"GRAPH_LAYOUT={','.join(words)}: choose one of {LEVEL} and {COMMUNITY} for the colours, and one of "
            f"{IN_DEGREE} and {PAGERANK} for the sizes"
        )
    if not words:
        return None
    return GraphLayout(COMMUNITY if COMMUNITY in words else LEVEL, PAGERANK if PAGERANK in words else IN_DEGREE)


def _too_large(graph: Graph) -> str:
    return (
        f"{graph.name}: the graph has colours by level and sizes, but no positions: more than "
        f"{counted(MAX_NODES, 'node')} or {counted(MAX_LAID_OUT_EDGES, 'edge')}"
    )


def laid_out(graph: Graph, layout: GraphLayout) -> LaidOutGraph:
    """Return *graph* with the look of its nodes; equal graphs look equal.

    Positions, communities and PageRank are computed for graphs of at most `MAX_NODES` and `MAX_LAID_OUT_EDGES`. A
    larger graph has colours by level, and sizes by in-degree if it is one of its columns.
    """
    if (numbered := _numbered(graph)) is None:
        return LaidOutGraph(graph, _look(graph, GraphLayout(), {}), _too_large(graph))
    ids, pairs = numbered
    if layout.size not in [column.name for column in graph.columns]:
        graph = AnalysedGraph(graph, analyse(graph, (layout.size,)))
    if layout.colour == COMMUNITY:
        found = communities(len(ids), pairs)
        values = {node: (number,) for node, number in zip(ids, found, strict=True)}
        graph = AnalysedGraph(graph, Analysis((Column(COMMUNITY, "integer"),), values))
    if not is_available():
        return LaidOutGraph(graph, _look(graph, layout, {}, len(ids)), f"{graph.name}: {NO_LIBRARY}")
    places = dict(zip(ids, force_layout(len(ids), pairs), strict=True))
    return LaidOutGraph(graph, _look(graph, layout, places, len(ids)))


def positions(graph: Graph) -> dict[int, tuple[float, float]] | None:
    """Return the positions of the nodes of *graph* by id; None if it is too large, or the library is missing."""
    if not is_available() or (numbered := _numbered(graph)) is None:
        return None
    ids, pairs = numbered
    return dict(zip(ids, force_layout(len(ids), pairs), strict=True))


def _numbered(graph: Graph) -> tuple[list[int], list[tuple[int, int]]] | None:
    """Return the ids of the nodes, and the edges by their places in that list; None if there are too many."""
    edges = _edges(graph)
    ids = None if edges is None else _ids(graph)
    if edges is None or ids is None:
        return None
    places = {node: place for place, node in enumerate(ids)}
    return ids, [(places[source], places[target]) for source, target in edges if source != target]


def _edges(graph: Graph) -> list[tuple[int, int]] | None:
    """Return the edges of *graph*; None if there are too many."""
    edges: list[tuple[int, int]] = []
    for source, targets in graph.edges():
        if len(edges) + len(targets) > MAX_LAID_OUT_EDGES:
            return None
        edges.extend((source, target) for target, _ in targets)
    return edges


def _ids(graph: Graph) -> list[int] | None:
    ids: list[int] = []
    for node, *_ in graph.nodes():
        if len(ids) == MAX_NODES:
            return None
        ids.append(node)
    return ids


def _look(
    graph: Graph, layout: GraphLayout, places: dict[int, tuple[float, float]], node_count: int = 0
) -> Callable[[Row], Look]:
    names = [column.name for column in graph.columns]
    wanted = (layout.colour,) if layout.colour == COMMUNITY else _GROUPS
    group = next((names.index(name) + 2 for name in wanted if name in names), None)  # behind id and label
    size = next((names.index(name) + 2 for name in (layout.size, IN_DEGREE) if name in names), None)
    scale = float(node_count) if layout.size == PAGERANK else 1.0  # the mean PageRank looks like one link

    def look(row: Row) -> Look:
        value = row[group] if group is not None else None
        if layout.colour == COMMUNITY and isinstance(value, int):
            colour = community_colour(value)
        elif isinstance(value, int):
            colour = level_colour(value)
        else:
            colour = _SET_COLOURS.get(str(value), OTHER)
        links = row[size] if size is not None else 0
        assert isinstance(links, (int, float))
        return Look(colour, node_size(links * scale), places.get(row[0]))

    return look
