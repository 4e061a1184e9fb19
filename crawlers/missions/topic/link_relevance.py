"""Learns how similar the pages behind links are to a topic, from the features of the links that were followed.

The regression is that of `LinkValues`. It counts rewards in their means: a similarity is divided by the mean of all so
far, so that the links of which nothing is known promise an average page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from crawlers.ranking.link_values import LinkValues

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crawlers.missions.topic.topic_scores import TopicScores
    from crawlers.ranking.link_values import Rows


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
