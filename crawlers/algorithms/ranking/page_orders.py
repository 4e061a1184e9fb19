"""Page orders: which page of a site is fetched next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from crawlers.algorithms.ranking.adaptive_opic import AdaptiveOPIC
from crawlers.algorithms.ranking.link_prior import prior_of
from crawlers.algorithms.ranking.link_relevance import LinkRelevance
from crawlers.algorithms.ranking.link_values import LinkValues
from crawlers.algorithms.ranking.news_scores import NewsScores
from crawlers.algorithms.ranking.opic import OPIC
from crawlers.algorithms.ranking.queue_shares import QueueShares
from crawlers.algorithms.ranking.topic_scores import TopicScores
from crawlers.algorithms.topic.vectors import DEFAULT_STRATEGY, STRATEGIES, Weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.algorithms.ranking.link_prior import LinkPrior
    from crawlers.algorithms.ranking.opic import Policy
    from crawlers.algorithms.ranking.page_scores import PageScores

# What orders need of missions.
ARTICLES = "URLs that are judged by whether they look like articles"
REWARDS = "the rewards of pages, their new external links"
TOPIC = "a topic"
MAX_HOPS = 20  # consecutive redirects, as in browsers and fetch()


class PageOrder(Protocol):
    """The interface of an order to the frontier."""

    #: Whether all pages of a site with one priority must be finished before the next priority begins. Only then a
    #: level is the least number of clicks at any concurrency, because no shorter path can turn up later.
    finishes_each_priority: bool
    #: The scores of all pages, if they change while URLs wait; priorities are not used then.
    scores: PageScores | None
    #: What is learnt of links, if the order chooses the page whose link promises most: the reward of the page, or its
    #: relevance to a topic, which adds to its score.
    link_values: LinkValues | LinkRelevance | None
    #: What the mission must have; None if the order works with every mission.
    needs: str | None

    def priority(self, level: int, hops: int) -> float:
        """Return the priority of a page, lowest first, by its *level* and its *hops*, redirects within that level."""

    def shares(self) -> QueueShares | None:
        """Return what divides the downloads of one site among its queues; None if the best page decides."""


class BreadthFirst:
    """Level by level; within a level, by the number of redirects, then in the order of discovery.

    >>> BreadthFirst().priority(2, 0) > BreadthFirst().priority(1, 5)
    True
    """

    finishes_each_priority = True
    scores: PageScores | None = None
    link_values: LinkValues | LinkRelevance | None = None
    needs: str | None = None

    def priority(self, level: int, hops: int) -> float:
        return float(level * (MAX_HOPS + 1) + hops)

    def shares(self) -> QueueShares | None:
        return None


class LearntLinks:
    """The page whose link promises most, see `LinkValues`; of equals, the oldest."""

    finishes_each_priority = False
    scores: PageScores | None = None
    needs: str | None = REWARDS

    def __init__(self, link_values: LinkValues) -> None:
        self.link_values: LinkValues | LinkRelevance | None = link_values

    def priority(self, level: int, hops: int) -> float:
        return 0.0

    def shares(self) -> QueueShares | None:
        return None


class Scored:
    """The page with the greatest score; see `PageScores`."""

    finishes_each_priority = False
    link_values: LinkValues | LinkRelevance | None = None
    needs: str | None = None

    def __init__(self, scores: PageScores) -> None:
        self.scores: PageScores | None = scores

    def priority(self, level: int, hops: int) -> float:
        return 0.0

    def shares(self) -> QueueShares | None:
        return None


class RelevantFirst(Scored):
    """The page with the greatest score; if the weights say so, with what is learnt of links, see `LinkRelevance`."""

    needs: str | None = TOPIC

    def __init__(self, weights: Weights) -> None:
        scores = TopicScores(weights)
        super().__init__(scores)
        self.link_values = LinkRelevance(scores) if weights.delta else None


class ArticlesFirst(Scored):
    """URLs that look like articles first, see `NewsScores`; `QueueShares` reserves shares for others."""

    needs: str | None = ARTICLES

    def __init__(self, scores: NewsScores, explore: float, archive: float) -> None:
        super().__init__(scores)
        self._explore, self._archive = explore, archive

    def shares(self) -> QueueShares | None:
        return QueueShares(self._explore, self._archive)


@dataclass(frozen=True, slots=True)
class OrderOptions:
    """The options of all orders."""

    seed: int = 0  # of randomised orders
    virtual_share: float = 0.15  # opic: the share of the virtual page in every payment, in (0, 1]
    window: float = 2.0  # aopic: fetches per fetched page over which importance is measured
    uncrawled_weight: float = (
        1.0  # opic: cash from the virtual page for a page never fetched, >= 1 times that of others
    )
    weights: Weights = STRATEGIES[DEFAULT_STRATEGY]  # topic
    else_factor: float = 0.01  # fit: s_n, the factor of URLs that match no rule
    explore_share: float = 0.05  # fit: share of such URLs in the downloads of a site
    archive_share: float = 0.03  # fit: share of pagination and calendars in the downloads of a site
    revisits: bool = True  # opic, aopic: whether a page is fetched again as its cash grows
    link_prior: LinkPrior = field(default_factory=dict)  # learnt: the weights with which it begins


def _opic(policy: Policy, *, has_window: bool = True) -> Callable[[OrderOptions], PageOrder]:
    def order(options: OrderOptions) -> PageOrder:
        shares = {"virtual_share": options.virtual_share, "uncrawled_weight": options.uncrawled_weight}
        if has_window and options.revisits:
            return Scored(AdaptiveOPIC(policy, window=options.window, seed=options.seed, **shares))
        return Scored(OPIC(policy, seed=options.seed, revisits=options.revisits, **shares))

    return order


def _fit(*, weighs_links: bool) -> Callable[[OrderOptions], PageOrder]:
    def order(options: OrderOptions) -> PageOrder:
        scores = NewsScores(weighs_links=weighs_links, else_factor=options.else_factor)
        return ArticlesFirst(scores, options.explore_share, options.archive_share)

    return order


ORDERS: dict[str, Callable[[OrderOptions], PageOrder]] = {
    "bfs": lambda options: BreadthFirst(),
    "learnt": lambda options: LearntLinks(LinkValues(prior_of(options.link_prior))),
    "aopic": _opic("greedy"),
    "aopic-cyclic": _opic("cyclic"),
    "aopic-random": _opic("random"),
    "opic": _opic("greedy", has_window=False),
    "fit": _fit(weighs_links=False),
    "fit*opic": _fit(weighs_links=True),
    "topic": lambda options: RelevantFirst(options.weights),
}
# What has to be known of orders by their names, before one is made:
LEARNING = frozenset({"learnt"})  # those that learn from the places, the texts and the rewards of links
