"""Crawls of webs in memory, all of whose pages are known, and the PageRank against which their scores are held."""

import heapq

import networkx as nx
import numpy as np


class Walk:
    """A crawl of a web in memory, all pages of which are known: fetches what has the highest score, again and again."""

    def __init__(self, scores, links):
        self.scores = scores
        self.links = {page: dict.fromkeys(targets, 1.0) for page, targets in links.items()}
        self._heaps = ([], [])  # by queue, (-score, page) of whenever it rose
        for page in links:
            scores.add_waiting(page, 0)
        for page in links:
            self._offer(page)

    def _offer(self, page):
        heapq.heappush(self._heaps[self.scores.queue(page)], (-self.scores.score(page), page))

    def best(self):
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

    def fetch(self, times):
        """Fetch so many pages; returns how many records of others that changed."""
        changed = 0
        for _ in range(times):
            page = self.best()
            targets = self.scores.fetched(page, self.links[page])
            for target in (page, *targets):
                self._offer(target)
            changed += len(targets)
        return changed


def exact(links):
    """PageRank of the pages 1, 2 …; pages without links lead everywhere."""
    ranks = nx.pagerank(nx.DiGraph({page: list(targets) for page, targets in links.items()}), tol=1e-14, max_iter=1000)
    return np.array([ranks[page] for page in range(1, len(links) + 1)])


def estimate(of, pages):
    """What *of* says of the pages 1, 2 …"""
    return np.array([of(page) for page in range(1, pages + 1)])


def l1(found, truth):
    """The sum of all errors, once *found* adds up to 1."""
    return float(np.abs(found / found.sum() - truth).sum())
