"""Page orders: which page of a site is fetched next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from crawlers.algorithms.link_groups import GroupBandit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_HOPS = 20  # redirects in a row, as browsers and fetch() allow


class GroupRule(Protocol):
    """What chooses among the groups of links of one site; each is followed in the order of priority."""

    def choose(self, waiting: Iterable[tuple[int, int]]) -> int:
        """One of the groups that are *waiting*, each with the number of the page that is its first."""

    def started(self, group: int) -> None:
        """A page of *group* is asked for."""

    def rewarded(self, group: int, reward: float) -> None:
        """A page of *group* was worth *reward* >= 0."""

    def cancelled(self, group: int) -> None:
        """The page of *group* was not asked for after all."""


class PageOrder(Protocol):
    """What the frontier asks of an order."""

    #: A site's pages of one priority are all answered before the next priority begins. Only then is a
    #: level the least number of clicks whatever the concurrency, since nothing nearer can still turn up.
    finishes_each_priority: bool

    def priority(self, level: int, hops: int) -> float:
        """The least is fetched first. *level*: clicks from the home page; *hops*: redirects within it."""

    def groups(self) -> GroupRule | None:
        """A rule for the groups of one site's links; None: the order makes no groups."""


class BreadthFirst:
    """Level by level; within a level, pages reached by fewer redirects first; then as discovered.

    >>> BreadthFirst().priority(2, 0) > BreadthFirst().priority(1, 5)
    True
    """

    finishes_each_priority = True

    def priority(self, level: int, hops: int) -> float:
        return float(level * (MAX_HOPS + 1) + hops)

    def groups(self) -> GroupRule | None:
        return None


class LinkGroups:
    """The group of links that promises most, see `GroupBandit`; within it as discovered."""

    finishes_each_priority = False

    def priority(self, level: int, hops: int) -> float:
        return 0.0

    def groups(self) -> GroupRule | None:
        return GroupBandit()


ORDERS: dict[str, Callable[[], PageOrder]] = {"bfs": BreadthFirst, "groups": LinkGroups}
