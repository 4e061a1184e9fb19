"""Topic crawls beside each other: how near to the topic they stayed, and how soon they found what is important.

All are measured by one collection, the pages that any of them read: its frequencies of terms, and its links.

References
----------
.. [1] Wang, Zhu, Li, Pan (2004), Design of a Multi-strategy Topic Specific Web Crawler (in Chinese), section 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.ranking.hits import hits
from crawlers.algorithms.simulation.topic_curves import coverage_curve, similarity_curve, top
from crawlers.algorithms.topic.vectors import DocumentFrequencies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crawlers.algorithms.topic.vectors import Topic

    Documents = Callable[[], Iterable[tuple[int, Mapping[str, int]]]]


class Curves(NamedTuple):
    """One crawl: values against the number of pages read, at the points that it reached."""

    similarity: list[tuple[int, float]]  # mean of the pages read so far
    authorities: list[tuple[int, float]]  # share of them read so far
    hubs: list[tuple[int, float]]
    nearest: list[
        tuple[int, float]
    ]  # likewise of the pages most similar to the topic, which the paper doesn't look for


class Comparison(NamedTuple):
    """The collection, and what crawls were in it."""

    similarities: dict[int, float]  # of all pages read
    authorities: list[int]  # the best first
    hubs: list[int]
    nearest: list[int]
    read: dict[str, list[int]]  # by crawl, in order

    def curves(self, points: Sequence[int]) -> dict[str, Curves]:
        """What each crawl had reached at *points*, numbers of pages."""
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
    """Return how crawls that *read* pages in these orders compare.

    *documents* gives the counts of terms of pages, all of those read among them, each time that it is called; *links*
    are pairs of pages; of each kind the *important* best are looked for.
    """
    pages = {page for one in read.values() for page in one}
    seen = DocumentFrequencies(counts for page, counts in documents() if page in pages)
    similarities = {page: topic.tf_idf_similarity(counts, seen) for page, counts in documents() if page in pages}
    targets: dict[int, list[int]] = {}
    for source, target in links:
        if source in pages and target in pages:
            targets.setdefault(source, []).append(target)
    scores = hits(targets)
    authorities, hubs, nearest = (top(each, important) for each in (scores.authorities, scores.hubs, similarities))
    return Comparison(similarities, authorities, hubs, nearest, read)
