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
    group: str = ""  # what the colour stands for: a level, a host, the number of a community or a class


class Meaning(NamedTuple):
    """What a colour stands for."""

    template: str  # in English, one of `MEANINGS`: translations are found by it
    name: str  # %(name)s in the template
    colour: str  # #rrggbb

    @property
    def text(self) -> str:
        """The meaning in English."""
        return self.template % {"name": self.name}


AROUND, SMALLER = "around %(name)s", "smaller communities"
OF_LEVEL, DEEPER = "level %(name)s", "level %(name)s and deeper"
OF_HOST, OTHER_HOSTS = "%(name)s", "other hosts"
CRAWLED, OTHER_SITE = "crawled site", "other site"
OF_CLASS = "crawled sites that link to it: %(name)s"
MEANINGS = (AROUND, SMALLER, OF_LEVEL, DEEPER, OF_HOST, OTHER_HOSTS, CRAWLED, OTHER_SITE, OF_CLASS)


class GraphMap(NamedTuple):
    """The most important nodes and edges of a graph, or those around a node, placed."""

    name: str
    nodes: list[MapNode]
    edges: list[tuple[int, int]]  # places in *nodes*
    all_nodes: int  # of the graph
    all_edges: int
    legend: list[Meaning]
    is_of_sites: bool = False
    centre: str = ""  # the label of the node whose neighbourhood this is

    @property
    def is_whole(self) -> bool:
        """Whether all of the graph is drawn."""
        return len(self.nodes) == self.all_nodes and len(self.edges) == self.all_edges

    @property
    def subset(self) -> str:
        """Return a sentence that says which part of the graph is drawn; empty if all of it is."""
        if self.is_whole:
            return ""
        noun = "sites" if self.is_of_sites else "pages"
        which = f"nearest to {self.centre}" if self.centre else f"to which most {noun} link"
        return (
            f"The {len(self.nodes):,} {noun} {which}, out of {self.all_nodes:,}, and {len(self.edges):,} of "
            f"{self.all_edges:,} links; links to {noun} with few links come first."
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
