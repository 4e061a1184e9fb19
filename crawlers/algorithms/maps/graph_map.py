"""A graph as it is drawn: plain values, which pictures and pages are made of."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

LABEL_CHARS = 40


class MapNode(NamedTuple):
    """A node with its place and its look."""

    label: str
    title: str
    level: int | None
    in_degree: int
    out_degree: int | None
    x: float
    y: float
    size: float  # diameter, in the unit of x and y
    colour: str  # #rrggbb


class GraphMap(NamedTuple):
    """The most important nodes and edges of a graph, placed."""

    name: str
    nodes: list[MapNode]
    edges: list[tuple[int, int]]  # places in *nodes*
    all_nodes: int  # of the graph
    all_edges: int
    legend: list[tuple[str, str]]  # what a colour means, and the colour
    is_of_sites: bool = False

    @property
    def subset(self) -> str:
        """Return a sentence that says which part of the graph is drawn; empty if all of it is."""
        if len(self.nodes) == self.all_nodes and len(self.edges) == self.all_edges:
            return ""
        noun = "sites" if self.is_of_sites else "pages"
        return (
            f"The {len(self.nodes):,} {noun} to which most {noun} link, out of {self.all_nodes:,}, and "
            f"{len(self.edges):,} of {self.all_edges:,} links; links to {noun} with few links come first."
        )


def short_name(label: str) -> str:
    """Return the path of a URL, or a name without one, cut to `LABEL_CHARS`.

    >>> short_name("http://a.test/manual/index.html"), short_name("http://a.test"), short_name("a.test")
    ('/manual/index.html', 'a.test', 'a.test')
    """
    try:
        parts = urlsplit(label)
    except ValueError:
        parts = urlsplit("")
    name = parts.path + (f"?{parts.query}" if parts.query else "") if parts.netloc else label
    name = name or parts.netloc or label
    return name if len(name) <= LABEL_CHARS else f"…{name[1 - LABEL_CHARS :]}"
