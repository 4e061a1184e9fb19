"""Page orders: which page of a site is fetched next."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from crawlers.ranking.link_features import LinkPrior
    from crawlers.ranking.link_values import Rows
    from crawlers.ranking.page_scores import PageScores, Policy

REWARDS = "the rewards of pages, their new external links"
MAX_HOPS = 20  # consecutive redirects, as in browsers and fetch()


class LinkLearner(Protocol):
    """What an order learns of links."""

    close: ClassVar[float]  # of links whose values differ by less, the oldest comes first

    @property
    def page_scores(self) -> PageScores | None:
        """The scores to which the values of links are added."""

    def learn(self, features: Sequence[int], reward: float) -> None:
        """Learn the *reward* of the page behind a link with *features*, in the order in which pages end."""

    def compared(self, pages: NDArray[np.int64], features: Rows) -> NDArray[np.float64]:
        """Return the values of links to *pages*, one for each row of *features*; the greatest comes next."""


class Shares(Protocol):
    """Divides the downloads of a site among its queues."""

    def choose(self, waiting: Iterable[int]) -> int:
        """Return one of the queues that are *waiting*."""

    def record_request(self, queue: int) -> None:
        """Record that a page of *queue* is requested."""

    def cancel_request(self, queue: int) -> None:
        """Record that the page was not requested after all."""


@dataclass(frozen=True, slots=True)
class PageOrder:
    """Which page of a site is fetched next: the one with the greatest score, or with the best link, or level by level.

    Within a level, pages come by the number of redirects, and then in the order of discovery.

    >>> BREADTH_FIRST.priority(2, 0) > BREADTH_FIRST.priority(1, 5)
    True
    """

    #: The scores of all pages, if they change while URLs wait; priorities are not used then.
    scores: PageScores | None = None
    #: What is learnt of links, if the order chooses the page whose link promises most: the reward of the page, or its
    #: relevance to a topic, which adds to its score. Of equals, the oldest.
    link_values: LinkLearner | None = None
    #: Returns what divides the downloads of one site among its queues; None if the best page decides.
    make_shares: Callable[[], Shares] | None = None

    @property
    def finishes_each_priority(self) -> bool:
        """Whether all pages of a site with one priority must be finished before the next priority begins.

        Only then a level is the least number of clicks at any concurrency, because no shorter path can turn up later.
        """
        return self.priority(1, 0) > 0.0  # of others, priorities are not used

    def priority(self, level: int, hops: int) -> float:
        """Return the priority of a page, lowest first, by its *level* and its *hops*, redirects within that level."""
        if self.scores is not None or self.link_values is not None:
            return 0.0
        return float(level * (MAX_HOPS + 1) + hops)

    def shares(self) -> Shares | None:
        """Return what divides the downloads of one site among its queues; None if the best page decides."""
        return None if self.make_shares is None else self.make_shares()


BREADTH_FIRST = PageOrder()


@dataclass(frozen=True, slots=True)
class OrderOptions:
    """The options of the orders of the core."""

    virtual_share: float = 0.15  # opic: the share of the virtual page in every payment, in (0, 1]
    window: float = 2.0  # aopic: fetches per fetched page over which importance is measured
    uncrawled_weight: float = (
        1.0  # opic: cash from the virtual page for a page never fetched, >= 1 times that of others
    )
    revisits: bool = True  # opic, aopic: whether a page is fetched again as its cash grows
    link_prior: LinkPrior = field(default_factory=dict)  # learnt: the weights with which it begins


# Orders by which pages wait import what they compute with, most with numpy, when one is made.


def _opic(policy: Policy, *, has_window: bool = True) -> Callable[[OrderOptions], PageOrder]:
    def make(options: OrderOptions) -> PageOrder:
        from crawlers.ranking.opic import OPIC

        return PageOrder(
            OPIC(
                policy,
                virtual_share=options.virtual_share,
                window=options.window if has_window and options.revisits else inf,
                uncrawled_weight=options.uncrawled_weight,
                revisits=options.revisits,
            )
        )

    return make


def _learnt(options: OrderOptions) -> PageOrder:
    from crawlers.ranking.link_features import prior_of
    from crawlers.ranking.link_values import LinkValues

    return PageOrder(link_values=LinkValues(prior_of(options.link_prior)))


ORDERS: dict[str, Callable[[OrderOptions], PageOrder]] = {
    "bfs": lambda options: BREADTH_FIRST,
    "learnt": _learnt,
    "aopic": _opic("greedy"),
    "aopic-cyclic": _opic("cyclic"),
    "aopic-random": _opic("random"),
    "opic": _opic("greedy", has_window=False),
}
# What has to be known of orders by their names, before one is made:
OF_IMPORTANCE = ("aopic", "aopic-cyclic", "aopic-random", "opic")  # those that store the cash of pages
LEARNING = frozenset({"learnt"})  # those that learn from the places, the texts and the rewards of links
