"""What links are worth by their text, and by how relevant the pages were that links of their kind led to.

A link is worth R_a, and by how much a `LinkModel` guesses more for it than for a link that it knows nothing of. Rewards
are similarities as shares of the greatest so far. What is guessed more by less than `NOISE` counts as nothing: most
links have a text that says nothing of the topic, and the crawl would follow those that look a little less irrelevant
for ever, instead of looking at all sites in turn for one whose links do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.topic.link_model import LinkModel, link_features

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    Links = Mapping[str, Collection[tuple[str, str]]]  # by URL: anchor and surrounding text of each link there

RATE = 0.3  # of the model: words of a site are known after a few of its pages
NOISE = 0.05  # of the greatest similarity; with 0, learning does harm: docs/measurements/topics.md has the figures
PRIOR = 0.05  # what the model guesses before the first page: few pages are as relevant as the best one
MOST_WAITING = 200_000  # URLs whose anchor is remembered until they are read, 43 MB; of others the URL must do


class LinkLearner:
    """Learns from pages in the order in which they are read, and says what their links are worth.

    *rate* in (0, 1] is that of the model; *relevance* tells R_a of the text around a link, *terms* those of its anchor.

    Notes
    -----
    The same pages with the same links in the same order give the same worths; within a page order doesn't count.
    """

    def __init__(self, rate: float, relevance: Callable[[str], float], terms: Callable[[str], Iterable[str]]) -> None:
        self._rate = rate
        self._relevance = relevance
        self._terms = terms
        self._model = LinkModel(PRIOR)
        self._best = 0.0
        self._anchors: dict[str, str] = {}  # of URLs that were not read yet: the anchor of the best link found first

    def guess(self, anchor: Iterable[str], url: str) -> float:
        """Return how much more relevant than any page the one at *url* is, by a link whose *anchor* has these terms."""
        return self._model.predict(link_features(anchor, url)) - self._model.predict(())

    def read(self, url: str, similarity: float, links: Links) -> dict[str, float]:
        """Learn that the page *url* is so similar to the topic; return what each of its *links* is worth, in [0, 1].

        Links without any text are worth nothing.
        """
        self._best = max(self._best, similarity)
        features = link_features(self._terms(self._anchors.pop(url, "")), url)
        self._model.learn(features, similarity / self._best if self._best else 0.0, self._rate)
        remembers = len(self._anchors) < MOST_WAITING
        worths = {}
        for target, texts in links.items():
            worth, anchor = max(((self._worth(target, *text), text[0]) for text in texts), default=(0.0, ""))
            worths[target] = worth
            if remembers and target != url:
                self._anchors.setdefault(target, anchor)
        return worths

    def _worth(self, url: str, anchor: str, context: str) -> float:
        beyond = self.guess(self._terms(anchor), url) - NOISE
        return min(1.0, self._relevance(context) + max(0.0, beyond))
