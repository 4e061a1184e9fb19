"""Measures of a topic crawl, as curves over the number of pages read; a curve is a list of points.

References
----------
.. [1] Wang, Zhu, Li, Pan (2004), Design of a Multi-strategy Topic Specific Web Crawler (in Chinese), section 4.
"""

from __future__ import annotations

from heapq import nsmallest
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Page = TypeVar("Page", int, str)  # pages have an order


def similarity_curve(similarities: Iterable[float], points: Iterable[int]) -> list[tuple[int, float]]:
    """Return (n, mean similarity of the first n pages read) for each n of *points* up to the number of pages.

    *similarities* are those of the pages to the topic, in the order of reading, by document frequencies of one
    collection for all crawls to be compared.

    >>> similarity_curve([1.0, 0.0, 0.5], [1, 2, 100])
    [(1, 1.0), (2, 0.5)]
    """
    sums = list(accumulate(similarities))
    return [(point, sums[point - 1] / point) for point in points if 0 < point <= len(sums)]


def coverage_curve(pages: Iterable[Page], important: Iterable[Page], points: Iterable[int]) -> list[tuple[int, float]]:
    """Return (n, share of the *important* pages found among the first n pages), for *points* as in `similarity_curve`.

    *pages* are in the order of reading; a page that is read again counts in n, but not again as found.

    >>> coverage_curve(["a", "b", "c"], ["c", "a"], [1, 3])
    [(1, 0.5), (3, 1.0)]
    """
    missing = set(important)
    total = len(missing)
    left = []
    for page in pages:
        missing.discard(page)
        left.append(len(missing))
    return [(point, (total - left[point - 1]) / max(total, 1)) for point in points if 0 < point <= len(left)]


def top(scores: Mapping[Page, float], number: int) -> list[Page]:
    """Return the *number* pages with the greatest scores above 0, the best first; ties: the smaller page.

    >>> top({"a": 0.1, "b": 0.9, "c": 0.0}, 3)
    ['b', 'a']
    """
    return [page for _, page in nsmallest(number, ((-score, page) for page, score in scores.items() if score > 0.0))]
