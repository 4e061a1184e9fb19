"""OPIC as in the paper: the cash of each page and of the virtual page in dicts, distributed page by page."""

import math

from crawlers.ranking.opic import OPICTotals


def cash_of(scores, pages):
    """Return the cash of *pages* and of the virtual page, which is 1 if these are all pages."""
    return math.fsum([OPICTotals(*scores.totals()).virtual, *map(scores.cash, pages)])


class NaiveOPIC:
    """Must have the same cash and history after the same events; `math.inf` = no window."""

    def __init__(self, window=math.inf, uncrawled_weight=1.0, virtual_share=0.15):
        self.window, self.weight, self.virtual_share = window, uncrawled_weight, virtual_share
        self.virtual = 1.0
        self.ticks = 0
        self.cash = {}  # of the pages that wait
        self.history = {}
        self.visited = {}
        self.fetched_once = set()
        self.has_moved = set()
        self.alias = {}

    def happens(self, event):
        name, *arguments = event
        getattr(self, name)(*arguments)

    def representative(self, page):
        while page in self.alias:
            page = self.alias[page]
        return page

    def give(self):
        new = [page for page in self.cash if page not in self.fetched_once]
        if self.weight == math.inf:
            weights = dict.fromkeys(new or self.cash, 1.0)
        else:
            weights = {page: 1.0 if page in self.fetched_once else self.weight for page in self.cash}
        for page, weight in weights.items():
            self.cash[page] += self.virtual * weight / sum(weights.values())
        if weights:
            self.virtual = 0.0

    def add_waiting(self, page, level):
        if level and not self.ticks:
            self.give()
        if page not in self.cash and page not in self.has_moved:
            self.cash[page] = self.history[page] = 0.0
            self.visited[page] = self.ticks

    def fetched(self, page, links):
        if page not in self.cash:
            return
        self.give()
        self.ticks += 1
        cash, self.cash[page] = self.cash[page], 0.0
        since, window = self.ticks - self.visited[page], self.window * len(self.fetched_once | {page})
        if since >= window:
            self.history[page] = cash * window / since
        else:
            self.history[page] = self.history[page] * (1.0 if window == math.inf else (window - since) / window) + cash
        self.visited[page] = self.ticks
        self.fetched_once.add(page)
        targets = {self.representative(target) for target in links} & set(self.cash) - {page}
        for target in targets:
            self.cash[target] += (1 - self.virtual_share) * cash / len(targets)
        self.virtual += self.virtual_share * cash if targets else cash
        self.give()

    def record_alias(self, page, target):
        if page not in self.alias and self.representative(target) != page:
            self.alias[page] = target
        heir = self.representative(page)
        cash, history = self.cash.pop(page, 0.0), self.history.pop(page, 0.0)
        if page in self.alias:
            self.has_moved.add(page)
        self.fetched_once.discard(page)
        if heir in self.cash:
            self.cash[heir] += cash
            self.history[heir] += history
        else:
            self.virtual += cash

    def remove_page(self, page):
        if page in self.cash:
            self.virtual += self.cash.pop(page)
            self.history.pop(page)
            self.fetched_once.discard(page)
