"""Learns how many new links the pages behind links bring, from the features of the links that were followed.

The expected reward of a page is exp(eta), where eta is the sum of the weights of the features of its link. Features of
all sites and of one site are learnt together: a word that pays on one site is tried on the others, and what a site
does otherwise, its own features say. Nothing here is random: the weights are a function of the rewards, in their order.

`LinkTable` has waiting links with their features, as arrays, so that all of them are valued together.
"""

from __future__ import annotations

import base64
import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from crawlers.ranking.link_features import FEATURES, MAX_ETA, NONE, OPTIMISTIC, TABLE_SIZE, WIDTH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Features = NDArray[np.unsignedinteger[Any]]  # `WIDTH` numbers

_BYTES = 3  # of a number in the store
FIRST_SIZE = 16
NO_FEATURES: Features = np.zeros(WIDTH, np.uint32)  # of a page to which no link leads


def text_of(features: Features) -> str:
    """Return *features* as they are stored: 24 bits each, little-endian, in base64.

    >>> text_of(np.array([1, 2**24 - 1], np.uint32))
    'AQAA////'
    """
    numbers = features.astype("<u4").view(np.uint8).reshape(-1, 4)
    return base64.b64encode(numbers[:, :_BYTES].tobytes()).decode("ascii")


def features_of(text: str) -> Features:
    """Return the features that *text* stores; further ones are `NONE`, if a version before had fewer.

    >>> features_of("AQAA////")[:3].tolist()
    [1, 16777215, 0]
    """
    stored = np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, _BYTES)[:WIDTH]
    numbers = np.zeros((WIDTH, 4), np.uint8)
    numbers[: len(stored), :_BYTES] = stored
    return numbers.view("<u4").reshape(WIDTH).astype(np.uint32)


def best_places(ids: NDArray[np.int64], values: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Return the places of the *most* greatest *values*, the greatest first; of equals, those of the least *ids*.

    >>> best_places(np.array([7, 3, 5]), np.array([1.0, 1.0, 2.0]), 2).tolist()
    [2, 1]
    """
    best = np.arange(len(ids))
    if most < len(ids):  # all that are as good as the last of them: sorting everything takes forty times as long
        best = np.flatnonzero(values >= np.partition(values, -most)[-most])
    found: NDArray[np.int64] = best[np.lexsort((ids[best], -values[best]))][:most]
    return found


class LinkTable:
    """Numbers of pages, each once and in no order, and the features of the links to them.

    8 + 4 `WIDTH` bytes for each, and room for half as many more.
    """

    __slots__ = ("_features", "_ids", "_size")

    def __init__(self) -> None:
        self._size = 0
        self._ids = np.zeros(0, np.int64)
        self._features: Features = np.zeros((0, WIDTH), np.uint32)

    def __len__(self) -> int:
        return self._size

    @property
    def ids(self) -> NDArray[np.int64]:
        """The numbers of the pages, valid until the table changes."""
        return self._ids[: self._size]

    @property
    def features(self) -> Features:
        """The features of the links, a row for each of the `ids`, valid until the table changes."""
        return self._features[: self._size]

    def add(self, page_id: int, features: Features) -> None:
        """Add a page that is not in the table."""
        if self._size == len(self._ids):
            more = max(FIRST_SIZE, self._size // 2)
            self._ids = np.concatenate([self._ids, np.zeros(more, np.int64)])
            self._features = np.concatenate([self._features, np.zeros((more, WIDTH), np.uint32)])
        self._ids[self._size], self._features[self._size] = page_id, features
        self._size += 1

    def __contains__(self, page_id: int) -> bool:
        return bool((self.ids == page_id).any())

    def remove(self, page_id: int) -> Features | None:
        """Remove a page, and return the features of the link to it; None if it is not in the table."""
        found = np.flatnonzero(self.ids == page_id)
        if not len(found):
            return None
        index, last = int(found[0]), self._size - 1
        features: Features = self._features[index].copy()
        self._ids[index], self._features[index] = self._ids[last], self._features[last]
        self._size = last
        return features

    def keep(self, places: NDArray[np.int64]) -> None:
        """Remove all pages but those at *places*."""
        self._ids, self._features, self._size = self._ids[places], self._features[places], len(places)


if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Rows = NDArray[np.integer[Any]]  # of `link_features`: links x `WIDTH`

OPTIMISM = 0.8  # weight of the standard deviation of what is known of a site and a group, c in the formula
CLOSE = 0.4  # values U that differ by less tell links apart no better than their age does: the oldest comes first
MIN_ETA = -6.0  # of predictions: 0.002 new links
# Waiting links of a site whose values are compared at most: 1 MB, and 2 ms for a choice. A frontier with more than 100
# sites compares fewer, because all share its memory (the default of FRONTIER_CACHE_URLS has room for 10,000 of one).
MOST_COMPARED = 10_000
NOISE = 1.0  # phi: the variance of a reward, in means
BLOCK = 1024  # links whose values are computed together: the temporary arrays stay in the cache
SCATTER = 1.0  # sigma squared: that of the logarithms of the means of pages with the same features

_VARIANCES = tuple(feature.variance for feature in FEATURES)
_OPTIMISTIC_VARIANCES = np.array(_VARIANCES[OPTIMISTIC], np.float32)


class LinkValues:
    """A quasi-Poisson regression of rewards on the features of links, with a weight and a variance for each.

    *prior* gives weights by id of feature; those of all others are 0 at first. The value of a waiting link is

        U = sum of w + c sqrt(v_all + v_site + v_group)

    with weights w, variances v of the first three features, c = `OPTIMISM`. A page with r >= 0 new links teaches

        lambda = exp(clip(sum of w, -6, 8)),   x = (r - lambda) / lambda,   e = ln(1 + x) if x > 0 else x
        g = v / (phi / lambda + sigma^2 + sum of v),   w += g e,   v -= g v

    for each of its features: a step of a Kalman filter with a diagonal covariance. The logarithm bounds the effect of
    one page with a thousand links; a regression of ln(1 + r) would value such pages too little.

    Notes
    -----
    O(`WIDTH`) per link. Weights and variances are stored in 4 bytes, and all sums are computed in 8, from the first
    feature to the last, column by column: the order in which `np.sum` adds depends on the shape and the processor. So
    the value of a link does not depend on the links that it is computed with. The tables take 8 `TABLE_SIZE` bytes at
    most, and nothing before they are needed.

    References
    ----------
    .. [1] West, Harrison, Migon (1985), Dynamic Generalized Linear Models and Bayesian Forecasting.
    .. [2] Li, Chu, Langford, Schapire (2010), A Contextual-Bandit Approach to Personalized News Article
       Recommendation: the bonus of LinUCB, here for two of the features only.
    """

    close: ClassVar[float] = CLOSE
    page_scores = None

    def __init__(self, prior: Mapping[int, float] = MappingProxyType({})) -> None:
        self._prior = prior
        self._tables: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None

    def scores(self, features: Rows) -> NDArray[np.float64]:
        """Return the values U of links, one for each row of *features*.

        Of the links whose value is less than `CLOSE` below the greatest, the oldest is to be followed next.
        """
        if len(features) > BLOCK:
            blocks = range(0, len(features), BLOCK)
            return np.concatenate([self.scores(features[start : start + BLOCK]) for start in blocks])
        variances = self._learnt()[1].take(features[:, OPTIMISTIC])
        variances = np.where(variances > 0.0, variances, _OPTIMISTIC_VARIANCES)
        bonus: NDArray[np.float64] = OPTIMISM * np.sqrt(_row_sums(variances))
        return self._etas(features) + bonus

    def compared(self, pages: NDArray[np.int64], features: Rows) -> NDArray[np.float64]:
        """Return the `scores`, whatever the *pages*."""
        return self.scores(features)

    def values(self, features: Rows) -> NDArray[np.float64]:
        """Return how many new links are expected behind each link, one for each row of *features*."""
        return np.array([math.exp(eta) for eta in np.clip(self._etas(features), MIN_ETA, MAX_ETA).tolist()])

    def parts(self, features: Sequence[int]) -> tuple[float, ...]:
        """Return the weights of the *features* of one link, whose sum is the logarithm of its expected reward."""
        weights = self._learnt()[0]
        return tuple(float(weights[feature]) for feature in features)

    def learn(self, features: Sequence[int], reward: float) -> None:
        """Learn that the page behind a link with these *features* had *reward* >= 0 new links.

        Rewards must come in the order in which the pages ended. Failures and redirects bring 0. Nothing is learnt of a
        page without features, as a home page.
        """
        if not features:
            return
        weights, variances = self._learnt()
        known = {feature: float(variances[feature]) or _VARIANCES[at] for at, feature in enumerate(features)}
        known.pop(NONE, None)
        eta = 0.0
        for feature in features:
            eta += float(weights[feature])
        expected = math.exp(min(MAX_ETA, max(MIN_ETA, eta)))
        surprise = (reward - expected) / expected
        step = math.log1p(surprise) if surprise > 0.0 else surprise
        total = NOISE / expected + SCATTER
        for variance in known.values():
            total += variance
        for feature, variance in known.items():
            gain = variance / total
            weights[feature] += gain * step
            variances[feature] = variance - gain * variance

    def _etas(self, features: Rows) -> NDArray[np.float64]:
        return _row_sums(self._learnt()[0].take(features))

    def _learnt(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the tables of weights and of variances; a variance of 0 stands for that of its kind of feature."""
        if self._tables is None:
            weights, variances = np.zeros(TABLE_SIZE, np.float32), np.zeros(TABLE_SIZE, np.float32)
            for feature, weight in self._prior.items():
                weights[feature] = weight
            self._tables = weights, variances
        return self._tables


def _row_sums(rows: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the sum of each row, added from its first to its last column."""
    sums: NDArray[np.float64] = rows[:, 0].astype(np.float64)
    for column in range(1, rows.shape[1]):
        sums += rows[:, column]
    return sums
