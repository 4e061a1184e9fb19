"""Scores of orders that no mission has: the hardest case for the queues, and the simplest."""

import numpy as np

from crawlers.items import GONE
from crawlers.ranking.page_scores import PageScores


class Fading(PageScores):
    """Scores that fall with time, each at its own rate, and rise by links.

    The record of a page is its score at tick 0, and its loss per tick.
    """

    table = "importance"
    columns = ("cash", "history", "visited", "alias")
    is_shared = True

    def __init__(self):
        self.ticks = 0
        self.pages = {}  # queue, score at tick 0, loss

    def add_waiting(self, page, level):
        if self.queue(page) == GONE:
            self.pages[page] = 0, page * 7 % 11 + self.ticks, page * 5 % 13 / 4

    def fetched(self, page, links, elsewhere=0):
        self.ticks += 1
        _, _, loss = self.pages[page]
        self.pages[page] = 1, self.ticks * loss, loss
        risen = [target for target in links if self.queue(target) != GONE]
        for target in risen:
            queue, score, loss = self.pages[target]
            self.pages[target] = queue, score + 10.0, loss
        return risen

    def record_alias(self, page, target):
        self.remove_page(page)
        return ()

    def remove_page(self, page):
        if page in self.pages:
            self.pages[page] = GONE, 0.0, 0.0

    def score(self, page):
        _, score, loss = self.pages[page]
        return score - self.ticks * loss

    def queue(self, page):
        return self.pages.get(page, (GONE,))[0]

    def offset(self, queue):
        return -0.5 * self.ticks * queue

    def record(self, page):
        return *self.pages.get(page, (GONE, 0.0, 0.0))[1:], 0.0, 0.0

    def recall(self, page, queue, record):
        self.pages[page] = queue, record[0], record[1]

    def carries(self, page, links, elsewhere):
        raise NotImplementedError

    def received(self, page, carried, value):
        raise NotImplementedError

    def moved_away(self, page):
        raise NotImplementedError

    def remove_pages(self, pages):
        raise NotImplementedError

    def totals(self):
        return [float(self.ticks)]

    def recall_totals(self, totals):
        self.ticks = int(totals[0])


class Near(Fading):
    """Scores that fall never: that of a page on level n is 1/(n + 1), or the value of the best link."""

    def add_waiting(self, page, level):
        if self.queue(page) == GONE:
            self.pages[page] = 0, 1 / (level + 1), 0.0

    def fetched(self, page, links, elsewhere=0):
        self.remove_page(page)
        risen = [target for target in links if self.queue(target) != GONE]
        for target in risen:
            self.pages[target] = 0, max(self.pages[target][1], links[target]), 0.0
        return risen

    def scores(self, pages):
        return np.array([self.score(page) for page in pages.tolist()])

    def offset(self, queue):
        return 0.0
