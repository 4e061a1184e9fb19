"""Compares topic crawls: how similar to the topic their pages are, and how soon they found the important ones.

All crawls are measured against one collection, the pages that any of them read, by its document frequencies and links.
Measures are curves over the number of pages read: lists of points.

References
----------
.. [1] Wang, Zhu, Li, Pan (2004), Design of a Multi-strategy Topic Specific Web Crawler (in Chinese), section 4.
"""

from __future__ import annotations

from heapq import nsmallest
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from crawlers.missions.topic.vectors import DocumentFrequencies
from crawlers.ranking.link_ranks import hits

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


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crawlers.missions.topic.vectors import Topic

    Documents = Callable[[], Iterable[tuple[int, Mapping[str, int]]]]


class Curves(NamedTuple):
    """The curves of one crawl: (pages read, value) at the points that it reached. Shares are in [0, 1]."""

    similarity: list[tuple[int, float]]  # mean of the pages read so far
    authorities: list[tuple[int, float]]  # share of the best authorities read so far
    hubs: list[tuple[int, float]]  # share of the best hubs read so far
    nearest: list[tuple[int, float]]  # share of the pages most similar to the topic; not in the paper


class Comparison(NamedTuple):
    """The collection, and the pages that each crawl read. Lists of pages begin with the best."""

    similarities: dict[int, float]  # of all pages read
    authorities: list[int]
    hubs: list[int]
    nearest: list[int]  # the pages most similar to the topic
    read: dict[str, list[int]]  # by crawl, in the order of reading

    def curves(self, points: Sequence[int]) -> dict[str, Curves]:
        """Return the curves of each crawl at *points*, numbers of pages."""
        return {
            name: Curves(
                similarity_curve([self.similarities[page] for page in pages], points),
                coverage_curve(pages, self.authorities, points),
                coverage_curve(pages, self.hubs, points),
                coverage_curve(pages, self.nearest, points),
            )
            for name, pages in self.read.items()
        }


def compare(
    topic: Topic,
    read: dict[str, list[int]],
    documents: Documents,
    links: Iterable[tuple[int, int]],
    important: int,
) -> Comparison:
    """Compare the crawls that *read* these pages, by crawl and in the order of reading.

    Each call of *documents* yields pages with their term counts, among them all that were read; *links* are pairs of
    pages, source and target; *important* is the number of best authorities, hubs and nearest pages to find.
    """
    from networkx import DiGraph, to_scipy_sparse_array

    pages = {page for sequence in read.values() for page in sequence}
    seen = DocumentFrequencies(counts for page, counts in documents() if page in pages)
    similarities = {page: topic.tf_idf_similarity(counts, seen) for page, counts in documents() if page in pages}
    network = DiGraph()
    network.add_nodes_from(sorted(pages))
    network.add_edges_from((one, other) for one, other in links if one in pages and other in pages and one != other)
    scores = hits(to_scipy_sparse_array(network, weight=None, dtype=float, format="csr"))
    authorities, hubs = (top(dict(zip(network, values.tolist(), strict=True)), important) for values in scores)
    nearest = top(similarities, important)
    return Comparison(similarities, authorities, hubs, nearest, read)
