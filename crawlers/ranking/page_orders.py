"""Page orders: which page of a site is fetched next."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from crawlers.missions.news.plan.news_scores import NewsScores
from crawlers.missions.topic.link_relevance import LinkRelevance
from crawlers.missions.topic.topic_scores import TopicScores
from crawlers.missions.topic.vectors import DEFAULT_STRATEGY, STRATEGIES, Weights
from crawlers.ranking.link_prior import prior_of
from crawlers.ranking.link_values import LinkValues
from crawlers.ranking.opic import OPIC
from crawlers.ranking.queue_shares import QueueShares

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.ranking.link_prior import LinkPrior
    from crawlers.ranking.opic import Policy
    from crawlers.ranking.page_scores import PageScores

# What orders need of missions.
ARTICLES = "URLs that are judged by whether they look like articles"
REWARDS = "the rewards of pages, their new external links"
TOPIC = "a topic"
MAX_HOPS = 20  # consecutive redirects, as in browsers and fetch()


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
    link_values: LinkValues | LinkRelevance | None = None
    #: What the mission must have; None if the order works with every mission.
    needs: str | None = None
    #: Shares of other URLs and of archives in the downloads of a site; None if the best page decides.
    queue_shares: tuple[float, float] | None = None

    @property
    def finishes_each_priority(self) -> bool:
        """Whether all pages of a site with one priority must be finished before the next priority begins.

        Only then a level is the least number of clicks at any concurrency, because no shorter path can turn up later.
        """
        return self.scores is None and self.link_values is None

    def priority(self, level: int, hops: int) -> float:
        """Return the priority of a page, lowest first, by its *level* and its *hops*, redirects within that level."""
        return float(level * (MAX_HOPS + 1) + hops) if self.finishes_each_priority else 0.0

    def shares(self) -> QueueShares | None:
        """Return what divides the downloads of one site among its queues; None if the best page decides."""
        return None if self.queue_shares is None else QueueShares(*self.queue_shares)


BREADTH_FIRST = PageOrder()


def by_link_values(values: LinkValues) -> PageOrder:
    """Return the order of the pages whose links promise most."""
    return PageOrder(link_values=values, needs=REWARDS)


def by_relevance(weights: Weights) -> PageOrder:
    """Return the order by relevance to a topic; if the weights say so, with what is learnt of links."""
    scores = TopicScores(weights)
    return PageOrder(scores, LinkRelevance(scores) if weights.delta else None, TOPIC)


@dataclass(frozen=True, slots=True)
class OrderOptions:
    """The options of all orders."""

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
    return lambda options: PageOrder(
        OPIC(
            policy,
            virtual_share=options.virtual_share,
            window=options.window if has_window and options.revisits else inf,
            uncrawled_weight=options.uncrawled_weight,
            revisits=options.revisits,
        )
    )


def _fit(*, weighs_links: bool) -> Callable[[OrderOptions], PageOrder]:
    return lambda options: PageOrder(
        NewsScores(weighs_links=weighs_links, else_factor=options.else_factor),
        needs=ARTICLES,
        queue_shares=(options.explore_share, options.archive_share),
    )


ORDERS: dict[str, Callable[[OrderOptions], PageOrder]] = {
    "bfs": lambda options: BREADTH_FIRST,
    "learnt": lambda options: by_link_values(LinkValues(prior_of(options.link_prior))),
    "aopic": _opic("greedy"),
    "aopic-cyclic": _opic("cyclic"),
    "aopic-random": _opic("random"),
    "opic": _opic("greedy", has_window=False),
    "fit": _fit(weighs_links=False),
    "fit*opic": _fit(weighs_links=True),
    "topic": lambda options: by_relevance(options.weights),
}
# What has to be known of orders by their names, before one is made:
LEARNING = frozenset({"learnt"})  # those that learn from the places, the texts and the rewards of links
