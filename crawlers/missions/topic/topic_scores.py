"""The scores of a topic crawl: by the text of links to a page, its distance, and the number of paths to it.

    score = alpha R_a + beta R_d + gamma TR

R_a is the highest relevance of a link to the page, R_d the reciprocal of its distance. TR is its TimelyRank: it begins
at 1, and every page that is read adds its own TR to that of each page that it links to. If all pages link to each
other, TR doubles with every page, so logarithms are stored and compared: the score contains ln(1 + TR) divided by the
greatest ln(1 + TR) so far.

References
----------
.. [1] Wang, Zhu, Li, Pan (2004), Design of a Multi-strategy Topic Specific Web Crawler (in Chinese), section 3.
   The maximum over links and the normalisation of TR are our own.

`LinkRelevance` learns how similar the pages behind links are, from the features of those that were followed. It is the
regression of `LinkValues`, and counts rewards in their means: a similarity is divided by the mean of all so
far, so that the links of which nothing is known promise an average page.
"""

from __future__ import annotations

from array import array
from math import exp, inf, log1p
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from crawlers.items import GONE
from crawlers.missions.topic.vectors import distance_relevance
from crawlers.ranking.link_values import LinkValues
from crawlers.ranking.page_orders import PageOrder
from crawlers.ranking.page_scores import UNKNOWN, PageScores
from crawlers.ranking.page_values import PageValues

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from crawlers.inputs.setting_readers import SettingValues
    from crawlers.items import Part
    from crawlers.missions.topic.vectors import Weights
    from crawlers.ranking.link_values import Rows


class TopicScores(PageScores):
    """The order `topic`: pages by the weighted sum of three parts, each in [0, 1].

    What is learnt of links is a fourth part, which changes with every page: `LinkRelevance` adds it.

    The record of a page is R_a, its level, and ln TR; the only total is the greatest ln(1 + TR).

    Notes
    -----
    O(1) per link, 21 bytes per page.
    """

    table = "relevance"
    columns = ("anchor", "level", "rank")
    is_shared = True

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.weights = weights
        self._anchors = PageValues(array("d", [0.0]))
        self._levels = PageValues(array("i", [0]))
        self._ranks = PageValues(array("d", [0.0]))  # ln TR
        self._most = _log1p_exp(0.0)  # the greatest ln(1 + TR)

    def add_waiting(self, page: int, level: int) -> None:
        """Record that *page* may be fetched, or was found on a lower *level*. A page that was gone waits again."""
        if self._queues[page] == UNKNOWN or level < self._levels[page]:
            self._levels[page] = level
        self._queues[page] = 0

    def fetched(self, page: int, links: Mapping[int, float], elsewhere: int = 0) -> Collection[int]:
        """Record that *page* was read; *links* are its targets, each with R_a of the link; return the waiting ones.

        Ignored if *page* does not wait, so that nothing is added twice. A page gives its TR to each target undivided,
        so it does not matter that *elsewhere* other ones are other workers'.
        """
        queues, anchors, ranks = self._queues, self._anchors, self._ranks
        if queues[page] < 0:
            return ()
        queues[page] = GONE
        own, highest = ranks[page], 0.0
        changed = [target for target in links if queues[target] == 0]
        for target in changed:
            anchors[target] = max(anchors[target], links[target])
            ranks[target] = rank = _log_sum(ranks[target], own)
            highest = max(highest, rank)
        self._most = max(self._most, _log1p_exp(highest))
        return changed

    def record_alias(self, page: int, target: int) -> Collection[int]:
        """Record that *page* is an alias of *target*, which gets the better one of each part if it waits."""
        if page == target or self._queues[page] == UNKNOWN:
            return ()
        self._queues[page] = GONE
        if self._queues[target] < 0:
            return ()
        before = self.record(target)
        self._anchors[target] = max(self._anchors[target], self._anchors[page])
        self._levels[target] = min(self._levels[target], self._levels[page])
        self._ranks[target] = max(self._ranks[target], self._ranks[page])
        return () if self.record(target) == before else (target,)

    # Pages of several workers ------------------------------------------------------------------------

    def carries(self, page: int, links: Mapping[int, float], elsewhere: int) -> float:
        """Return ln TR of *page*, which is added to that of its targets; -inf, which adds nothing, if it was read."""
        return self._ranks[page] if self._queues[page] >= 0 else -inf

    def received(self, page: int, carried: float, value: float) -> Collection[int]:
        """Record a link with R_a = *value* to *page* from a page whose ln TR the message *carried*."""
        if self._queues[page] != 0:
            return ()
        self._anchors[page] = max(self._anchors[page], value)
        self._ranks[page] = rank = _log_sum(self._ranks[page], carried)
        self._most = max(self._most, _log1p_exp(rank))
        return (page,)

    def moved_away(self, page: int) -> float:
        """Record that *page* is an alias of a page of another worker; return its ln TR."""
        self.remove_page(page)
        return self._ranks[page]

    def apply_totals(self, others: Iterable[Sequence[float]], given: float) -> Collection[int]:
        """Take up the greatest ln(1 + TR) of all workers."""
        self._most = max([self._most, *(most for (most,) in others)])
        return ()

    def begin_part(self, ended: Mapping[int, Part] | None = None) -> None:
        """Begin without pages."""
        self.apply_totals([part.totals for part in (ended or {}).values()], 0.0)

    # Queries -----------------------------------------------------------------------------------------

    def parts(self, page: int) -> tuple[float, float, float]:
        """Return R_a, R_d and the normalised TR of *page*, each in [0, 1]."""
        rank = _log1p_exp(self._ranks[page]) / self._most
        return self._anchors[page], distance_relevance(self._levels[page]), rank

    def score(self, page: int) -> float:
        """Return the weighted sum of the `parts`."""
        anchor, distance, rank = self.parts(page)
        weights = self.weights
        return weights.alpha * anchor + weights.beta * distance + weights.gamma * rank

    def scores(self, pages: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Return the `score` of each of many *pages*, equal to the last digit."""
        weights, found = self.weights, np.zeros(len(pages))
        found += weights.alpha * self._anchors.values_of(pages)
        if weights.beta:
            found += weights.beta * (1.0 / (self._levels.values_of(pages) + 1))
        if weights.gamma:  # not by np.logaddexp, whose last digit may differ from that of `score`
            ranks = [_log1p_exp(rank) / self._most for rank in self._ranks.values_of(pages).tolist()]
            found += weights.gamma * np.array(ranks)
        return found

    def record(self, page: int) -> tuple[float, ...]:
        """Return R_a, level and ln TR of *page*."""
        return self._anchors[page], self._levels[page], self._ranks[page]

    def recall(self, page: int, queue: int, record: Sequence[float]) -> None:
        """Restore a page."""
        anchor, level, rank = record
        self._queues[page] = queue
        self._anchors[page], self._levels[page], self._ranks[page] = anchor, int(level), rank

    def totals(self) -> list[float]:
        """Return the greatest ln(1 + TR) so far."""
        return [self._most]

    def recall_totals(self, totals: Sequence[float]) -> None:
        """Restore the totals."""
        (self._most,) = totals


def _log_sum(a: float, b: float) -> float:
    """Return ln(e^a + e^b); *a* is finite."""
    return max(a, b) + log1p(exp(-abs(a - b)))


def _log1p_exp(a: float) -> float:
    """Return ln(1 + e^a)."""
    return _log_sum(a, 0.0)


class LinkRelevance:
    """What is learnt of links, and the value of a waiting link: the score of its page by *scores*, plus delta R_l.

    delta is the weight that *scores* have for it, and R_l the relevance that is expected behind the link,

        R_l = min(1, lambda m / b)

    with the expected reward lambda of `LinkValues`, the mean m and the greatest b of the similarities of all pages that
    ended; failures and redirects have similarity 0. Before the first similarity above 0 it is 1, as nothing is known.

    Notes
    -----
    Values must be computed again as the crawl learns: as computed when the links are found, they bring nothing. See
    docs/measurements.md.
    """

    close: ClassVar[float] = 0.0

    def __init__(self, scores: TopicScores) -> None:
        self.page_scores = scores
        self.learnt = 0  # pages; as long as it is the same, so is every R_l
        self._values = LinkValues()
        self._sum = 0.0
        self._greatest = 0.0

    def learn(self, features: Sequence[int], reward: float) -> None:
        """Learn the *reward*, in [0, 1], of the page behind a link with *features*: its similarity to the topic.

        Similarities must come in the order in which the pages ended. Without features, as those of a home page, they
        only count for the mean and the greatest one.
        """
        self.learnt += 1
        self._sum += reward
        self._greatest = max(self._greatest, reward)
        if features and self._sum:
            self._values.learn(features, reward * self.learnt / self._sum)

    @property
    def average(self) -> float:
        """The mean of all similarities as a share of the greatest, m / b; 1 before the first similarity above 0."""
        return self._sum / self.learnt / self._greatest if self._greatest else 1.0

    def relevances(self, features: Rows) -> NDArray[np.float64]:
        """Return R_l of links, in [0, 1], one for each row of *features*; a row of zeros is a link without features."""
        if not self._greatest:
            return np.ones(len(features))
        return np.minimum(1.0, self._values.values(features) * self.average)

    def compared(self, pages: NDArray[np.int64], features: Rows) -> NDArray[np.float64]:
        """Return the values of links to *pages*, one for each row of *features*; the greatest is to be followed next.

        Of equals, that to the page that was found first.
        """
        return self.page_scores.scores(pages) + self.page_scores.weights.delta * self.relevances(features)

    def parts(self, features: Sequence[int]) -> tuple[float, ...]:
        """Return the weights of the *features* of one link, whose sum is ln lambda."""
        return self._values.parts(features)


def by_relevance(settings: SettingValues, weights: Weights) -> PageOrder:
    """Return the order by relevance to a topic; if the *weights* say so, with what is learnt of links."""
    scores = TopicScores(weights)
    return PageOrder(scores, LinkRelevance(scores) if weights.delta else None)
