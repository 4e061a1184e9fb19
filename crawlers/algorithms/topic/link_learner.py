"""The value of links: the relevance of their text, plus what was learnt from the pages behind similar links.

The value of a link is R_a + max(0, p - p_0 - `NOISE`), at most 1. R_a is the relevance of the text around it, p the
prediction of a `LinkModel` for its features, and p_0 the prediction without any feature. The model learns the
similarities of pages to the topic, as shares of the greatest so far. The threshold `NOISE` is needed because most links
say nothing about the topic: a crawl would forever follow those that seem slightly less irrelevant, instead of looking
at other sites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.topic.link_model import LinkModel, link_features

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    Links = Mapping[str, Collection[tuple[str, str]]]  # by URL: anchor and surrounding text of each link to it

RATE = 0.3  # learning rate of the model: the words of a site are learnt within a few pages
NOISE = 0.05  # as a share of the greatest similarity; with 0, learning does harm: see docs/measurements/topics.md
PRIOR = 0.05  # the prediction before the first page: few pages are as relevant as the best one
MAX_ANCHORS = 200_000  # URLs whose anchors are kept until they are read, 43 MB; for others only the URL is used


class LinkLearner:
    """Learns from pages in the order in which they are read, and computes the values of their links.

    *rate* in (0, 1] is the learning rate of the model, *relevance* returns R_a in [0, 1] of the text around a link, and
    *terms* the terms of its anchor.

    Notes
    -----
    Values are a function of the sequence of pages with their links; the order of links within a page does not matter.
    """

    def __init__(self, rate: float, relevance: Callable[[str], float], terms: Callable[[str], Iterable[str]]) -> None:
        self._rate = rate
        self._relevance = relevance
        self._terms = terms
        self._model = LinkModel(PRIOR)
        self._best = 0.0
        # By URL that was not read yet: the anchor of the best link to it on the first page that has one.
        self._anchors: dict[str, str] = {}

    def guess(self, anchor: Iterable[str], url: str) -> float:
        """Return p - p_0 for a link to *url* whose anchor has the terms *anchor*; in (-1, 1)."""
        return self._model.predict(link_features(anchor, url)) - self._model.predict(())

    def read(self, url: str, similarity: float, links: Links) -> dict[str, float]:
        """Learn the *similarity* in [0, 1] of the page at *url*; return the values of its *links* by URL, in [0, 1].

        The value of a URL is that of the best link to it; 0 if *links* has no texts for it.
        """
        self._best = max(self._best, similarity)
        features = link_features(self._terms(self._anchors.pop(url, "")), url)
        self._model.learn(features, similarity / self._best if self._best else 0.0, self._rate)
        has_room = len(self._anchors) < MAX_ANCHORS
        values = {}
        for target, texts in links.items():
            value, anchor = max(((self._value(target, *text), text[0]) for text in texts), default=(0.0, ""))
            values[target] = value
            if has_room and target != url:
                self._anchors.setdefault(target, anchor)
        return values

    def _value(self, url: str, anchor: str, context: str) -> float:
        gain = self.guess(self._terms(anchor), url) - NOISE
        return min(1.0, self._relevance(context) + max(0.0, gain))
