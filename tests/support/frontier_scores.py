"""Scores that tests set, and a frontier store in memory that keeps the written rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.page_scores import GONE
from crawlers.frontier.values import QueueEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


class FixedScores:
    """The part of `PageScores` that queues use."""

    table = "importance"
    columns: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.scores: dict[int, float] = {}
        self.queues: dict[int, int] = {}

    def score(self, page: int) -> float:
        return self.scores[page]

    def queue(self, page: int) -> int:
        return self.queues.get(page, GONE)


class WrittenScores:
    """The written score and queue of each page."""

    def __init__(self, scores: FixedScores) -> None:
        self._scores = scores
        self.rows: dict[int, tuple[int, float]] = {}
        self.reads = 0  # number of calls of `best`
        self.looked_up: list[int] = []

    def write(self, pages: Iterable[int]) -> None:
        self.rows.update((page, (self._scores.queue(page), self._scores.score(page))) for page in pages)

    def flush(self) -> None: ...

    def best(self, table: str, site_id: int, queue: int, limit: int) -> list[QueueEntry]:
        self.reads += 1
        pages = sorted((-score, page) for page, (of, score) in self.rows.items() if of == queue)
        return [entry(page, priority) for priority, page in pages[:limit]]

    def entries(self, page_ids: Collection[int]) -> list[QueueEntry]:
        self.looked_up += page_ids
        return [entry(page) for page in page_ids]


def entry(page: int, priority: float = 0.0, level: int = 0) -> QueueEntry:
    return QueueEntry(priority, page, page, f"http://a.test/{page}", level, 0, 0, None)
