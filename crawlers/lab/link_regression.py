"""Makes the weights with which `LinkValues` begins from pages that were read: a ridge regression on features of links.

Only features that mean the same on all sites count, and of these the ones that occur on several sites: others are names
of products.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from crawlers.ranking.link_prior import MAX_ETA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Name: TypeAlias = tuple[str, str | int]  # kind of a feature, and its text or number
    Example: TypeAlias = tuple[Sequence[Name], float]  # features of the link to a page, and the new links of the page

PAGES = 400  # of a site, at random: otherwise large sites would decide
LARGEST = 200  # weights that are kept; more are no better
MIN_SITES = 3  # on which a feature must occur
FEW_PAGES = 30  # smaller sites count less: their pages have the weight of pages of a site with so many
# Of weights, by kind of feature. Words may say less than in `link_features.FEATURES`, whose 0.4 was measured for the
# learner: it corrects itself with every page, and these weights must hold on sites that nobody has read yet. Multiplied
# by 0.7 or 1.5 they find no more (docs/measurements.md).
VARIANCES = {"anchor": 0.1, "url": 0.1, "anchor length": 0.02, "level": 0.05}
# The variance of ln(1 + new links) of pages with the same features. That of `link_values` has another unit: it is the
# variance of the rewards themselves, in means, because the learner is no regression of logarithms.
NOISE = 0.5
FOLDS = 5


def regression(sites: Sequence[Sequence[Example]], min_sites: int = MIN_SITES) -> dict[Name, float]:
    """Return the weights of the features that occur on *min_sites* of the *sites*, each with its examples.

    They are those of a ridge regression of ln(1 + new links), with an intercept for each site.

    >>> sites = [[([("url", "news")], 9.0), ([("url", "old")], 0.0)]] * 3
    >>> {name: round(weight, 2) for (kind, name), weight in regression(sites).items()}
    {'news': 0.74, 'old': -0.47}

    Notes
    -----
    O(features of all examples) for each of some tens of iterations.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import lsqr

    spread = Counter(name for site in sites for name in {name for names, _ in site for name in names})
    columns: dict[Name, int] = {}
    rows, places, values = array("i"), array("i"), array("d")  # lists of numbers take six times as much
    goals: list[float] = []
    for number, site in enumerate(sites):
        weight = (100.0 / max(FEW_PAGES, len(site))) ** 0.25
        for names, reward in site:
            for name in (name for name in dict.fromkeys(names) if spread[name] >= min_sites):
                rows.append(len(goals))
                places.append(len(sites) + columns.setdefault(name, len(columns)))
                values.append(weight * VARIANCES[name[0]] ** 0.5)
            rows.append(len(goals))
            places.append(number)
            values.append(weight)
            goals.append(weight * math.log1p(reward))
    if not columns:
        return {}
    matrix = csr_matrix((values, (rows, places)), shape=(len(goals), len(sites) + len(columns)))
    solved = lsqr(matrix, np.array(goals), damp=NOISE**0.5, atol=1e-8, btol=1e-8)[0][len(sites) :]
    return {name: float(solved[at]) * VARIANCES[name[0]] ** 0.5 for name, at in columns.items()}


def explained(sites: Sequence[Sequence[Example]]) -> float:
    """Return the share of the variance of ln(1 + new links) within *sites* that weights explain, made without them.

    It is at most 1, and below 0 if they predict worse than nothing.
    """
    left = total = 0.0
    for fold in range(FOLDS):
        weights = regression([site for at, site in enumerate(sites) if at % FOLDS != fold])
        for site in sites[fold::FOLDS]:
            gains = np.array([math.log1p(reward) for _, reward in site])
            values = np.array([sum(weights.get(name, 0.0) for name in dict.fromkeys(names)) for names, _ in site])
            scale = max(FEW_PAGES, len(site)) ** -0.5
            left += scale * float(np.sum(((gains - gains.mean()) - (values - values.mean())) ** 2))
            total += scale * float(np.sum((gains - gains.mean()) ** 2))
    return 1.0 - left / total if total else 0.0


def largest(weights: Mapping[Name, float], most: int = LARGEST) -> dict[Name, float]:
    """Return the *most* largest *weights*, rounded, by name.

    >>> largest({("url", "news"): 0.12345, ("url", "old"): -0.5, ("level", "1"): 0.0}, 2)
    {('url', 'news'): 0.123, ('url', 'old'): -0.5}
    """
    kept = sorted(weights, key=lambda name: (-abs(weights[name]), name))[:most]
    return {name: round(max(-MAX_ETA, min(MAX_ETA, weights[name])), 3) for name in sorted(kept)}


def by_kind(weights: Iterable[tuple[Name, float]]) -> dict[str, dict[str | int, float]]:
    """Return *weights* by kind and text, as `link_prior.prior_of` takes them.

    >>> by_kind([(("url", "news"), 0.5)])
    {'url': {'news': 0.5}}
    """
    found: dict[str, dict[str | int, float]] = {}
    for (kind, text), weight in weights:
        found.setdefault(kind, {})[text] = weight
    return found
