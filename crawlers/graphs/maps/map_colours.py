"""Colours and sizes of nodes, which are told apart on light and on dark ground."""

from __future__ import annotations

import math

# The largest communities, in the order of Tableau 10; all others are grey.
COMMUNITY_COLOURS = (
    *("#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#ff9da7", "#9c755f"),
)
OTHER = "#a0a4a8"
# From the home page to the deepest pages; the last colour is that of all deeper levels.
LEVEL_COLOURS = ("#e4572e", "#f3a712", "#b9c646", "#5bb98b", "#29a6b8", "#3f7fc1", "#5b5fc7", "#7d4fb5", "#9a6aa8")
# Sites of the crawl, and the classes of the others by the number of crawled sites that link to them.
CRAWLED_COLOUR = "#e4572e"
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
