"""Page orders: which page of a site is fetched next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from crawlers.algorithms.ranking.adaptive_opic import AdaptiveOPIC
from crawlers.algorithms.ranking.link_groups import GroupBandit
from crawlers.algorithms.ranking.news_scores import NewsScores
from crawlers.algorithms.ranking.opic import OPIC
from crawlers.algorithms.ranking.queue_shares import QueueShares
from crawlers.algorithms.ranking.topic_scores import TopicScores
from crawlers.algorithms.topic.vectors import STRATEGIES, Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawlers.algorithms.ranking.opic import Policy
    from crawlers.algorithms.ranking.page_scores import PageScores

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
    #: What it knows of every page, if that changes while URLs wait; the priorities then say nothing.
    scores: PageScores | None

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
    scores: PageScores | None = None

    def priority(self, level: int, hops: int) -> float:
        return float(level * (MAX_HOPS + 1) + hops)

    def groups(self) -> GroupRule | None:
        return None


class LinkGroups:
    """The group of links that promises most, see `GroupBandit`; within it as discovered."""

    finishes_each_priority = False
    scores: PageScores | None = None

    def priority(self, level: int, hops: int) -> float:
        return 0.0

    def groups(self) -> GroupRule | None:
        return GroupBandit()


class Scored:
    """The page with the greatest score, see `PageScores`."""

    finishes_each_priority = False

    def __init__(self, scores: PageScores) -> None:
        self.scores: PageScores | None = scores

    def priority(self, level: int, hops: int) -> float:
        return 0.0

    def groups(self) -> GroupRule | None:
        return None


class ArticlesFirst(Scored):
    """URLs that look like articles first, see `NewsScores`, with `QueueShares` for all others."""

    def __init__(self, scores: NewsScores, explore: float, archive: float) -> None:
        super().__init__(scores)
        self._shares = (explore, archive)

    def groups(self) -> GroupRule | None:
        return QueueShares(*self._shares)


@dataclass(frozen=True, slots=True)
class OrderOptions:
    """What an order may be told beforehand."""

    seed: int = 0  # of the orders that draw lots
    virtual_share: float = 0.15  # opic: what the virtual page gets of all cash that is paid, in ]0, 1]
    window: float = 2.0  # aopic: visits to each page that its importance is measured over, on average
    uncrawled_weight: float = 1.0  # opic: what the virtual page gives a page never fetched, >= 1 times that of others
    weights: Weights = STRATEGIES["mixed"]  # topic
    else_factor: float = 0.01  # fit: s_n, the factor of URLs that fit no rule
    explore_share: float = 0.05  # fit: of a site's budget, for such URLs
    archive_share: float = 0.03  # fit: of a site's budget, for pagination and calendars


def _opic(policy: Policy) -> Callable[[OrderOptions], PageOrder]:
    def order(options: OrderOptions) -> PageOrder:
        shares = {"virtual_share": options.virtual_share, "uncrawled_weight": options.uncrawled_weight}
        return Scored(AdaptiveOPIC(policy, window=options.window, seed=options.seed, **shares))

    return order


def _fit(*, weighs_links: bool) -> Callable[[OrderOptions], PageOrder]:
    def order(options: OrderOptions) -> PageOrder:
        scores = NewsScores(weighs_links=weighs_links, else_factor=options.else_factor)
        return ArticlesFirst(scores, options.explore_share, options.archive_share)

    return order


ORDERS: dict[str, Callable[[OrderOptions], PageOrder]] = {
    "bfs": lambda options: BreadthFirst(),
    "groups": lambda options: LinkGroups(),
    "aopic": _opic("greedy"),
    "aopic-cyclic": _opic("cyclic"),
    "aopic-random": _opic("random"),
    "opic": lambda options: Scored(
        OPIC(virtual_share=options.virtual_share, uncrawled_weight=options.uncrawled_weight)
    ),
    "fit": _fit(weighs_links=False),
    "fit*opic": _fit(weighs_links=True),
    "topic": lambda options: Scored(TopicScores(options.weights)),
}
