"""How a graph is drawn, and looks when it is opened: colours, sizes and positions of its nodes (setting GRAPH_LAYOUT).

A large graph has no positions, so that nothing of it is held in memory; its colours are those of levels. Colours are
told apart on light and on dark ground.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from crawlers.errors import ConfigError
from crawlers.graphs.model import Column, ExtendedGraph, edge_places
from crawlers.plurals import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from crawlers.files.csv_tables import Value
    from crawlers.graphs.model import Graph, Row

# The largest communities, in the order of Tableau 10; all others are grey.
COMMUNITY_COLOURS = (
    *("#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#ff9da7", "#9c755f"),
)
OTHER = "#a0a4a8"
# From the home page to the deepest pages; the last colour is that of all deeper levels.
LEVEL_COLOURS = ("#e4572e", "#f3a712", "#b9c646", "#5bb98b", "#29a6b8", "#3f7fc1", "#5b5fc7", "#7d4fb5", "#9a6aa8")
# Sites of the crawl, and the classes of the others by the number of crawled sites that link to them.
CRAWLED_COLOUR = "#e4572e"
# The minimum number of target sites of each class. Most sites are linked from one and few from all, so classes widen.
CLASS_STARTS = (1, 2, 3, 5, 10)
CLASS_COLOURS = ("#9a6aa8", "#5b5fc7", "#29a6b8", "#5bb98b", "#f3a712")
STATUS_COLOURS = {"appeared": "#2ca25f", "vanished": "#d7301f", "changed": "#f0a020", "unchanged": OTHER}
SMALLEST = 4.0
GROWTH = 3.0  # of the size, each time that the number of links doubles


def community_colour(number: int) -> str:
    """Return the colour #rrggbb of the community *number*, from 1.

    >>> community_colour(1), community_colour(10)
    ('#4e79a7', '#a0a4a8')
    """
    return COMMUNITY_COLOURS[number - 1] if 1 <= number <= len(COMMUNITY_COLOURS) else OTHER


def level_colour(level: int) -> str:
    """Return the colour #rrggbb of a level, from 0.

    >>> level_colour(0), level_colour(100)
    ('#e4572e', '#9a6aa8')
    """
    return LEVEL_COLOURS[min(max(level, 0), len(LEVEL_COLOURS) - 1)]


def node_size(links: float) -> float:
    """Return the diameter of a node with that many incoming *links*, or a value that is to look like it.

    >>> node_size(0), node_size(1), node_size(1023)
    (4.0, 7.0, 34.0)
    """
    return round(SMALLEST + GROWTH * math.log2(1 + max(links, 0)), 2)


MAX_NODES = 20_000  # of a graph with positions, which take 2 s
MAX_LAID_OUT_EDGES = 500_000
LEVEL, COMMUNITY = "level", "community"
HOST, CLASS = "host", "class"  # of maps with pages of several sites, and with other sites than those of the crawl
SET = "set"  # of sites: of the crawl, or not
IN_DEGREE, PAGERANK = "in_degree", "pagerank"
LAYOUTS = (LEVEL, COMMUNITY, IN_DEGREE, PAGERANK)  # the words of GRAPH_LAYOUT
_SET_COLOURS = {"target": CRAWLED_COLOUR, "accompanying": OTHER}


class Look(NamedTuple):
    """The look of a node; a position of None leaves it to the program that opens the file."""

    colour: str  # #rrggbb
    size: float  # diameter, in the unit of the positions
    position: tuple[float, float] | None = None


class GraphLayout(NamedTuple):
    """What colours and sizes mean."""

    colour: str = LEVEL
    size: str = IN_DEGREE


LookOf = Callable[["Row"], Look]  # of the node with that row


class LaidOutGraph(NamedTuple):
    """A graph and the look of its nodes; the graph may have got columns (community, host, pagerank)."""

    graph: Graph
    look: LookOf
    group: str = ""  # the column by which nodes are coloured
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
    colour, size = COMMUNITY if COMMUNITY in words else LEVEL, PAGERANK if PAGERANK in words else IN_DEGREE
    return GraphLayout(colour, size)


def laid_out(graph: Graph, layout: GraphLayout) -> LaidOutGraph:
    """Return *graph* with the look of its nodes; equal graphs look equal.

    Positions, communities and PageRank are computed for graphs of at most `MAX_NODES` and `MAX_LAID_OUT_EDGES`. Larger
    ones have colours by level, and sizes by in-degree if it is one of its columns.
    """
    if (edges := _inner_edges(graph)) is None:
        remark = (
            f"{graph.name}: the graph has colours by level and sizes, but no positions: more than "
            f"{counted(MAX_NODES, 'node')} or {counted(MAX_LAID_OUT_EDGES, 'edge')}"
        )
        return _drawn(graph, GraphLayout(), {}, remark)
    # The import of numpy takes a tenth of a second, for which only graphs with positions have to wait.
    from crawlers.graphs.graph_layout import communities

    ids = graph.ids
    if layout.size not in [column.name for column in graph.columns]:
        from crawlers.graphs.analysis import analyse

        graph = ExtendedGraph(graph, analyse(graph, (layout.size,)))
    if layout.colour == COMMUNITY:
        of_node = dict(zip(ids, communities(len(ids), edges), strict=True))
        graph = ExtendedGraph(graph, {Column(COMMUNITY, "integer"): of_node.__getitem__})
    elif layout.colour == HOST:
        hosts = {row[0]: host_of(row[1]) for row in graph.nodes()}
        graph = ExtendedGraph(graph, {Column(HOST, "string"): hosts.__getitem__})
    return _drawn(graph, layout, _places(graph, edges))


def host_of(label: str) -> str:
    """Return the host and port of a URL.

    >>> host_of("http://a.test:8600/b?c"), host_of("a.test")
    ('a.test:8600', 'a.test')
    """
    return (label.partition("://")[2] or label).partition("/")[0]


def positions(graph: Graph) -> dict[int, tuple[float, float]] | None:
    """Return the positions of the nodes of *graph* by id; None if it is too large."""
    return None if (edges := _inner_edges(graph)) is None else _places(graph, edges)


def _places(graph: Graph, edges: NDArray[np.int64]) -> dict[int, tuple[float, float]]:
    from crawlers.graphs.graph_layout import force_layout

    return dict(zip(graph.ids, force_layout(len(graph.ids), edges), strict=True))


def _inner_edges(graph: Graph) -> NDArray[np.int64] | None:
    """Return the edges between different nodes as places of their ids; None if the graph is too large."""
    edges = edge_places(graph, MAX_LAID_OUT_EDGES) if len(graph.ids) <= MAX_NODES else None
    return None if edges is None else edges[edges[:, 0] != edges[:, 1]]


def _drawn(
    graph: Graph,
    layout: GraphLayout,
    places: Mapping[int, tuple[float, float]],
    remark: str = "",
) -> LaidOutGraph:
    names = [column.name for column in graph.columns]
    group = next((name for name in (layout.colour, LEVEL, SET) if name in names), "")
    group_place = names.index(group) + 2 if group else None  # behind id and label
    size = next((names.index(name) + 2 for name in (layout.size, IN_DEGREE) if name in names), None)
    scale = float(len(graph.ids)) if layout.size == PAGERANK else 1.0  # the mean PageRank looks like one link
    colour = _colours(group, graph, group_place)

    def look(row: Row) -> Look:
        links = row[size] if size is not None else 0
        assert isinstance(links, (int, float))
        value = row[group_place] if group_place is not None else None
        return Look(colour(value), node_size(links * scale), places.get(row[0]))

    return LaidOutGraph(graph, look, group, remark)


def _colours(group: str, graph: Graph, place: int | None) -> Callable[[Value], str]:
    """Return the function that gives each value of the column *group* its colour."""
    if group == HOST and place is not None:
        counts = Counter(str(row[place]) for row in graph.nodes())
        ranks = {host: rank for rank, host in enumerate(sorted(counts, key=lambda one: (-counts[one], one)), 1)}
        return lambda host: community_colour(ranks[str(host)])
    if group in (CLASS, SET):
        return _class_colour if group == CLASS else lambda name: _SET_COLOURS.get(str(name), OTHER)
    of_number = community_colour if group == COMMUNITY else level_colour
    return lambda number: of_number(number) if isinstance(number, int) else OTHER


def _class_colour(name: Value) -> str:
    """Return the colour of a class, such as "3 to 4" or "10+"; crawled sites have none."""
    if name is None:
        return CRAWLED_COLOUR
    return CLASS_COLOURS[CLASS_STARTS.index(int(str(name).split(" ")[0].rstrip("+")))]
