"""The probability that a URL is an article, for sites that have no rules yet.

A logistic model of the features of URLs. Its weights have three parts, which add up: those that come with the project
(`url_prior.json`, made by `bench.news.url_prior`), those learnt from the labelled pages of all sites of the crawl, and
those learnt from the pages of the site, which change fastest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from crawlers.missions.news.urls.url_features import features_of

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_SITE, OF_CRAWL = 2.0, 0.1  # how far a label of an unexpected kind moves the log-odds of a URL with its features
MAX_LABELS = 64  # of a domain that teach; then it has rules, or its URLs don't tell articles
MAX_FEATURES = 20_000  # of the crawl, 0.1 KB each
_MAX_ODDS = 8.0


class UrlPrior:
    """A model with *weights* by feature ("": the constant), which adapts to the crawl and to each domain.

    The result depends on the labels and their order, and nothing else.

    Notes
    -----
    A label changes the weights of its features by a step of stochastic gradient descent, divided by their number, so
    that URLs with many features don't learn faster. It takes as long as a query: a dozen look-ups.

    References
    ----------
    .. [1] Bottou (2010), Large-Scale Machine Learning with Stochastic Gradient Descent.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._of_crawl: dict[str, float] = {}
        self._of_domain: dict[str, dict[str, float]] = {}
        self._labels: dict[str, int] = {}  # by domain

    def probability(self, domain: str, target: str) -> float:
        """Return the probability that *target*, a path and query of *domain*, is an article."""
        return _logistic(self._log_odds(features_of(target), self._of_domain.get(domain, {})))

    def shipped(self) -> UrlPrior:
        """Return the model as it was before any label."""
        return UrlPrior(self._weights)

    def base(self, target: str) -> float:
        """Return the probability by the weights that come with the project alone."""
        return _logistic(self._weights[""] + sum(self._weights.get(feature, 0.0) for feature in features_of(target)))

    def labels(self, domain: str) -> int:
        """Return the number of labels of *domain* that the model has learnt from, at most `MAX_LABELS`."""
        return self._labels.get(domain, 0)

    def label(self, domain: str, target: str, is_article: bool, weight: float = 1.0, *, of_crawl: bool = True) -> bool:
        """Learn from the label of *target*, which counts *weight*, in (0, 1]; return whether it was used.

        Only what is known of *domain* changes if the crawl has learnt from the label before (not *of_crawl*).
        """
        count = self.labels(domain)
        if count >= MAX_LABELS:
            return False
        self._labels[domain] = count + 1
        features = features_of(target)
        own = self._of_domain.setdefault(domain, {})
        error = weight * (is_article - _logistic(self._log_odds(features, own))) / len(features)
        for feature in features:
            own[feature] = own.get(feature, 0.0) + OF_SITE * error
            if of_crawl and (feature in self._of_crawl or len(self._of_crawl) < MAX_FEATURES):
                self._of_crawl[feature] = self._of_crawl.get(feature, 0.0) + OF_CRAWL * error
        return True

    def forget(self, domain: str) -> None:
        """Forget what is known of *domain*; the crawl keeps what it taught."""
        self._labels.pop(domain, None)
        self._of_domain.pop(domain, None)

    def _log_odds(self, features: tuple[str, ...], own: Mapping[str, float]) -> float:
        shipped, crawl = self._weights, self._of_crawl
        odds = shipped[""]
        for feature in features:
            odds += shipped.get(feature, 0.0) + crawl.get(feature, 0.0) + own.get(feature, 0.0)
        return odds


def _logistic(odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-_MAX_ODDS, min(_MAX_ODDS, odds))))
