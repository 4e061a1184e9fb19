"""A graph as it is drawn: plain values, which pictures and pages are made of, with colours and sizes of nodes.

Colours are told apart on light and on dark ground.
"""

from __future__ import annotations

import math
from typing import NamedTuple
from urllib.parse import urlsplit

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
