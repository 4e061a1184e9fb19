"""Scores that tests set, and a frontier store in memory that keeps the written rows."""

from __future__ import annotations

from crawlers.frontier.values import QueueEntry
from crawlers.items import GONE


class FixedScores:
    """The part of `PageScores` that queues use."""

    table = "importance"
    columns: tuple[str, ...] = ()

    def __init__(self):
        self.scores = {}
        self.queues = {}

    def score(self, page):
        return self.scores[page]

    def queue(self, page):
        return self.queues.get(page, GONE)


class WrittenScores:
    """The written score and queue of each page."""

    def __init__(self, scores):
        self._scores = scores
        self.rows = {}
        self.reads = 0  # number of calls of `best`
        self.looked_up = []

    def write(self, pages):
        self.rows.update((page, (self._scores.queue(page), self._scores.score(page))) for page in pages)

    def flush(self): ...

    def best(self, site_id, queue, after, limit):
        self.reads += 1
        pages = sorted((-score, page) for page, (of, score) in self.rows.items() if of == queue)
        return [entry(page, priority) for priority, page in pages if (priority, page) > after][:limit]

    def entries(self, page_ids, others=()):
        asked = [*page_ids, *others]
        self.looked_up += asked
        return [entry(page) for page in asked]


def entry(page, priority=0.0, level=0):
    return QueueEntry(priority, page, page, f"http://a.test/{page}", level, 0, 0, None)
