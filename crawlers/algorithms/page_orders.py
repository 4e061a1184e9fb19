"""Page orders: which page of a site is fetched next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_HOPS = 20  # redirects in a row, as browsers and fetch() allow


class PageOrder(Protocol):
    """What the frontier asks of an order."""

    #: A site's pages of one priority are all answered before the next priority begins. Only then is a
    #: level the least number of clicks whatever the concurrency, since nothing nearer can still turn up.
    finishes_each_priority: bool

    def priority(self, level: int, hops: int) -> float:
        """The least is fetched first. *level*: clicks from the home page; *hops*: redirects within it."""


class BreadthFirst:
    """Level by level; within a level, pages reached by fewer redirects first; then as discovered.

    >>> BreadthFirst().priority(2, 0) > BreadthFirst().priority(1, 5)
    True
    """

    finishes_each_priority = True

    def priority(self, level: int, hops: int) -> float:
        return float(level * (MAX_HOPS + 1) + hops)


ORDERS: dict[str, Callable[[], PageOrder]] = {"bfs": BreadthFirst}
