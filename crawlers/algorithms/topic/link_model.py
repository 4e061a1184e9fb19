"""Which anchors and words of URLs lead to relevant pages, learnt while crawling.

A logistic regression over hashed features, one step of gradient descent a page. What is learnt is a function
of the pages in the order in which they were read.

References
----------
.. [1] Weinberger, Dasgupta, Langford, Smola, Attenberg (2009), Feature Hashing for Large Scale Multitask Learning.
.. [2] Chakrabarti, Punera, Subramanyam (2002), Accelerated Focused Crawling through Online Relevance Feedback.
"""

from __future__ import annotations

import re
from math import exp, log, sqrt
from typing import TYPE_CHECKING
from urllib.parse import unquote

import xxhash

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

BUCKETS = 1 << 16  # weights at most, some 6 MB; of 5,000 features that matter 1 in 13 shares one's bucket
MOST_FEATURES = 100  # of a link: a URL of 8 kB must not cost more than the page that it leads to
# The step of `learn`. A word is known after some fifty pages; where, by chance, one page in five is relevant, the guess
# goes up and down by 0.04; with 0.5 it takes ten pages, and 0.12.
RATE = 0.1
_WORD = re.compile(r"[^\W\d_]{2,}")


def link_features(anchor: Iterable[str], url: str) -> list[str]:
    """Return the features of a link: terms of its *anchor*, and words of the path and query of its absolute *url*.

    >>> link_features(["encod"], "http://a.example/docs/utf8.html?page=3")
    ['a:encod', 'u:docs', 'u:utf', 'u:html', 'u:page']
    """
    path = unquote(url.partition("://")[2].partition("/")[2]).lower()
    words = dict.fromkeys(_WORD.findall(path))
    return [*(f"a:{term}" for term in anchor), *(f"u:{word}" for word in words)][:MOST_FEATURES]


class LinkModel:
    """A guess of what pages are worth, in [0, 1], by the features of links to them.

    It begins with *prior* in ]0, 1[ for everything, and soon has the mean of what was learnt for what it doesn't know.

    >>> model = LinkModel()
    >>> for _ in range(200):
    ...     model.learn(["a:encod"], 1.0)
    ...     model.learn(["a:contact"], 0.0)
    >>> model.predict(["a:encod"]) > 0.9, model.predict(["a:contact"]) < 0.1
    (True, True)
    """

    def __init__(self, prior: float = 0.5) -> None:
        self._bias = log(prior / (1.0 - prior))
        self._weights: dict[int, float] = {}

    def predict(self, features: Collection[str]) -> float:
        """Return what a page behind a link with *features* is probably worth, in [0, 1]."""
        return self._predict(_buckets(features))

    def learn(self, features: Collection[str], reward: float, rate: float = RATE) -> None:
        """Take note that a page behind a link with *features* was worth *reward* in [0, 1]; *rate* in (0, 1]."""
        buckets = _buckets(features)
        step = rate * (reward - self._predict(buckets))
        self._bias += step
        for bucket in buckets:
            self._weights[bucket] = self._weights.get(bucket, 0.0) + step / sqrt(len(buckets))

    def record(self) -> list[float]:
        """Return all that was learnt: the bias, then buckets and their weights in turn."""
        return [self._bias, *(number for item in sorted(self._weights.items()) for number in item)]

    @classmethod
    def recalled(cls, record: Sequence[float]) -> LinkModel:
        """Return the model with this `record`."""
        model = cls()
        model._bias = record[0]
        model._weights = {int(bucket): weight for bucket, weight in zip(record[1::2], record[2::2], strict=True)}
        return model

    def _predict(self, buckets: Sequence[int]) -> float:
        known = sum([self._weights.get(bucket, 0.0) for bucket in buckets])
        return _logistic(self._bias + known / sqrt(max(len(buckets), 1)))


def _buckets(features: Collection[str]) -> list[int]:
    """In the order of the features, each once: a sum in another order would be another float."""
    hashes = (xxhash.xxh3_64_intdigest(feature.encode("utf-8", "surrogatepass")) for feature in features)
    return list(dict.fromkeys(number % BUCKETS for number in hashes))


def _logistic(value: float) -> float:
    """1 / (1 + e^-value), without overflow."""
    part = exp(-abs(value))
    return (1.0 if value >= 0.0 else part) / (1.0 + part)
