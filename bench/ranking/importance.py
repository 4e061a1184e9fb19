"""Measures OPIC on scale-free webs in memory: how soon it knows the importance of pages, and what it costs.

    python -m bench.ranking.importance [--pages 10000,100000] [--seeds 1]

The truth is PageRank with damping .85, by power iteration. A web has 10 links a page and 8 % of pages without links. L1
is the sum of all errors, tau is Kendall's, over all pages and over the 1,000 most important ones. Every page is known
from the beginning. Figures are means over the seeds 1, 2 … of the web. After "change" a fifth of the links lead
elsewhere, and five times as many pages are fetched as there are. Cost is that of `fetched` and of the heaps of pages.
"""

from __future__ import annotations

import argparse
import heapq
import random
import time
import tracemalloc
from typing import TYPE_CHECKING, get_args

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import kendalltau

from bench.simulators.opic_nutch import NutchOPIC
from bench.simulators.scale_free import copy_model, rewired
from crawlers.algorithms.ranking.adaptive_opic import AdaptiveOPIC
from crawlers.algorithms.ranking.opic import OPIC, Policy
from crawlers.algorithms.ranking.push_pagerank import ForwardPushPageRank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from crawlers.algorithms.ranking.page_scores import PageScores

    Links = Mapping[int, Sequence[int]]
    Vector = NDArray[np.float64]

DAMPING = 0.85
POLICIES: tuple[Policy, ...] = get_args(Policy)
TIMES = (1, 3, 10)  # fetches or pushes a page
TOP = 1000
WINDOWS = (2.0, 4.0, 8.0)  # ticks a page
CHANGED = 0.2  # of the links


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
            scores.found(page, 0)
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


def convergence(links: Links, truth: Vector, policy: Policy) -> list[tuple[float, ...]]:
    """L1, tau, tau of the top, and all history, after so many fetches."""
    pages = len(links)
    scores = OPIC(policy)
    walk = Walk(scores, links)
    rows = []
    for times in TIMES:
        walk.fetch(times * pages - scores.ticks)
        found = estimate(scores.weight, pages)
        rows.append((*errors(found, truth), sum(scores.history(page) for page in links)))
    return rows


def after_change(links: Links, changed: Links, truths: tuple[Vector, Vector], scores: OPIC) -> tuple[float, float]:
    """L1 of a crawl that has fetched all pages ten times, and after the change five times more."""
    pages = len(links)
    walk = Walk(scores, links)
    walk.fetch(10 * pages)
    before = l1(estimate(scores.weight, pages), truths[0])
    walk.links = linked(changed)
    walk.fetch(5 * pages)
    return before, l1(estimate(scores.weight, pages), truths[1])


def pushed(links: Links, changed: Links, truths: tuple[Vector, Vector]) -> list[float]:
    """L1 and its bound after so many pushes, then L1 after the change and as many pushes as there are pages."""
    pages = len(links)
    push = ForwardPushPageRank(DAMPING)
    for page, targets in links.items():
        push.set_links(page, targets)
    row, done = [], 0
    for times in (1, 3, 5, 10):
        done += push.push(times * pages - done)
        row += [l1(estimate(push.rank, pages), truths[0]), push.residual_l1()]
    for page, targets in changed.items():
        push.set_links(page, targets)
    push.push(pages)
    return [*row, l1(estimate(push.rank, pages), truths[1])]


def nutch(links: Links, truth: Vector) -> list[tuple[float, ...]]:
    """L1, tau, tau of the top and mean score after all pages were read once, twice, three times, the best first."""
    pages = len(links)
    scores, known = NutchOPIC(), linked(links)
    for page in links:
        scores.found(page, 0)
    rows = []
    for _ in TIMES:
        for page in sorted(links, key=scores.score, reverse=True):
            scores.fetched(page, known[page])
        rows.append((*errors(estimate(scores.score, pages), truth), scores.total_score() / pages))
    return rows


def speed(links: Links) -> tuple[float, float]:
    """Fetches and link updates a second of a greedy crawl that has read each page once; best of three."""
    walk = Walk(AdaptiveOPIC(), links)
    walk.fetch(len(links))
    best = (0.0, 0.0)
    for _ in range(3):
        start = time.perf_counter()
        updates = walk.fetch(20_000)
        taken = time.perf_counter() - start
        best = max(best, (20_000 / taken, updates / taken))
    return best


def memory(pages: int) -> float:
    """Bytes a page."""
    tracemalloc.start()
    scores = OPIC()
    for page in range(1, pages + 1):
        scores.found(page, 0)
        scores.fetched(page, {})
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return taken / pages


def mean(rows: list[Sequence[float]]) -> list[float]:
    """The mean of each column."""
    return list(np.mean(np.array(rows), axis=0))


def measure(pages: int, seeds: int) -> None:
    """Print all tables of webs of so many pages."""
    webs = []
    for seed in range(1, seeds + 1):
        rng = random.Random(seed)
        links = copy_model(pages, rng)
        changed = rewired(links, CHANGED, rng)
        webs.append((links, changed, (exact(links), exact(changed))))
    count = np.mean([sum(map(len, links.values())) / pages for links, _, _ in webs])
    print(f"\n{pages:,} pages, {count:.2f} links a page, seeds 1 to {seeds}\n")
    print(f"| policy | fetches a page | L1 | tau | tau of the top {TOP} | history |\n|---|--:|--:|--:|--:|--:|")
    for policy in POLICIES:
        runs = [convergence(links, truths[0], policy) for links, _, truths in webs]
        for at, times in enumerate(TIMES):
            l1_error, tau, top, history = mean([run[at] for run in runs])
            print(f"| {policy} | {times} | {l1_error:.4f} | {tau:.3f} | {top:.3f} | {history:.2f} |", flush=True)
    print(f"\n| Nutch, times read | L1 | tau | tau of the top {TOP} | mean score |\n|---|--:|--:|--:|--:|")
    runs = [nutch(links, truths[0]) for links, _, truths in webs]
    for times in range(len(TIMES)):
        l1_error, tau, top, score = mean([run[times] for run in runs])
        print(f"| {times + 1} | {l1_error:.4f} | {tau:.3f} | {top:.3f} | {score:.3g} |", flush=True)
    print(f"\nThe change is L1 = {mean([[l1(*truths)] for _, _, truths in webs])[0]:.3f}\n")
    print("| window | L1 before | after |\n|---|--:|--:|")
    kinds: dict[str, Callable[[], OPIC]] = {f"T = {w:g}n": lambda w=w: AdaptiveOPIC(window=w) for w in WINDOWS}
    for name, make in {**kinds, "all history": OPIC}.items():
        before, after = mean([after_change(*web, make()) for web in webs])
        print(f"| {name} | {before:.4f} | {after:.4f} |", flush=True)
    row = mean([pushed(*web) for web in webs])
    print("\n| pushes a page | L1 | at most |\n|---|--:|--:|")
    for at, times in enumerate((1, 3, 5, 10)):
        print(f"| {times} | {row[2 * at]:.2g} | {row[2 * at + 1]:.2g} |")
    print(f"| change, 1 more | {row[-1]:.2g} | |")
    fetches, updates = speed(webs[0][0])
    print(
        f"\n{fetches:,.0f} fetches and {updates:,.0f} link updates a second; {memory(pages):.1f} bytes a page",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", default="10000,100000")
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    for pages in arguments.pages.split(","):
        measure(int(pages), arguments.seeds)


if __name__ == "__main__":
    main()
