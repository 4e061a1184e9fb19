"""Crawls of webs in memory, all of whose pages are known, and the PageRank against which their scores are held."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import kendalltau

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from crawlers.algorithms.ranking.page_scores import PageScores

    Links = Mapping[int, Sequence[int]]
    Vector = NDArray[np.float64]

DAMPING = 0.85
TOP = 1000  # pages


def linked(links: Links) -> dict[int, dict[int, float]]:
    """What `fetched` is told of each page."""
    return {page: dict.fromkeys(targets, 1.0) for page, targets in links.items()}


class Walk:
    """A crawl of a web in memory, all pages of which are known: fetches what has the highest score, again and again."""

    def __init__(self, scores: PageScores, links: Links) -> None:
        self.scores = scores
        self.links = linked(links)
        self._heaps: tuple[list[tuple[float, int]], ...] = ([], [])  # by queue, (-score, page) of whenever it rose
        for page in links:
            scores.add_waiting(page, 0)
        for page in links:
            self._offer(page)

    def _offer(self, page: int) -> None:
        heapq.heappush(self._heaps[self.scores.queue(page)], (-self.scores.score(page), page))

    def best(self) -> int:
        """The page that comes next."""
        tops = []
        for queue, heap in enumerate(self._heaps):
            if len(heap) > 4 * len(self.links):
                heap[:] = [(-self.scores.score(page), page) for page in {page for _, page in heap}]
                heapq.heapify(heap)
            while heap:
                score, page = heap[0]
                if self.scores.queue(page) == queue and -score == self.scores.score(page):
                    tops.append((score - self.scores.offset(queue), page))
                    break
                heapq.heappop(heap)
        return min(tops)[1]

    def fetch(self, times: int) -> int:
        """Fetch so many pages; returns how many records of others that changed."""
        changed = 0
        for _ in range(times):
            page = self.best()
            targets = self.scores.fetched(page, self.links[page])
            for target in (page, *targets):
                self._offer(target)
            changed += len(targets)
        return changed


def exact(links: Links) -> Vector:
    """PageRank of the pages 1, 2 …; pages without links lead everywhere."""
    pages = len(links)
    sources = [page - 1 for page, targets in links.items() for _ in targets]
    targets = [target - 1 for found in links.values() for target in found]
    counts = np.array([len(links[page]) for page in range(1, pages + 1)], dtype=float)
    inward = csr_array((1.0 / counts[sources], (targets, sources)), shape=(pages, pages))
    rank = np.full(pages, 1.0 / pages)
    while True:
        new = DAMPING * (inward @ rank)
        new += (1.0 - new.sum()) / pages
        if np.abs(new - rank).sum() < 1e-13:
            return new
        rank = new


def estimate(of: Callable[[int], float], pages: int) -> Vector:
    """What *of* says of the pages 1, 2 …"""
    return np.array([of(page) for page in range(1, pages + 1)])


def l1(found: Vector, truth: Vector) -> float:
    """The sum of all errors, once *found* adds up to 1."""
    return float(np.abs(found / found.sum() - truth).sum())


def errors(found: Vector, truth: Vector) -> tuple[float, float, float]:
    """L1, tau, and tau of the most important pages."""
    top = np.argsort(-truth, kind="stable")[:TOP]
    return l1(found, truth), kendalltau(found, truth).statistic, kendalltau(found[top], truth[top]).statistic
