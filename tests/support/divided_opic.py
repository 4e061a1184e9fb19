"""A crawl of several workers in memory: parts of the pages, messages, rounds, and what the store would hold of them."""

from __future__ import annotations

from typing import NamedTuple

from crawlers.items import GONE, Part
from crawlers.ranking.opic import OPICTotals
from tests.support.naive_opic import cash_of


class Message(NamedTuple):
    target: int
    cash: float


class DividedOPIC:
    """Workers 1 to *workers* with the pages of *web*, each of which is one's or, as its *owner* is 0, nobody's."""

    def __init__(self, web, workers, make):
        self.web = web
        self._make = make
        self.parts = {}  # the scores of each worker
        self.ended = {}  # the last totals of workers that died
        self.given = {}  # the cash that each worker handed out
        self.messages = []
        self.owner = {}  # of each page
        self._free = {}  # queue, record, base
        for number in range(1, workers + 1):
            self.join(number)

    def join(self, number):
        scores = self.parts[number] = self._make()
        if len(self.parts) > 1 or self.ended:
            scores.begin_part()
        self.given[number] = 0.0
        scores.apply_totals(self._others(number), 0.0)

    def _others(self, number):
        return [one.totals() for n, one in self.parts.items() if n != number] + list(self.ended.values())

    def found(self, page, worker):
        self.parts[worker].add_waiting(page, 0)
        self.owner[page] = worker

    def part(self, page):
        return self.parts[self.owner[page]]

    def fetched(self, page):
        mine, links = self.part(page), self.web[page]
        here = {target: worth for target, worth in links.items() if self.owner[target] == self.owner[page]}
        there = [target for target in links if target not in here]
        cash = mine.carries(page, here, len(there))
        mine.fetched(page, here, len(there))
        self.messages += [Message(target, cash) for target in there]

    def take_messages(self, worker):
        for message in self.messages:
            if self.owner[message.target] == worker:
                self.parts[worker].received(message.target, message.cash, 1.0)
        self.messages = [message for message in self.messages if self.owner[message.target] != worker]

    def round(self, worker):
        self.given |= self.parts[worker].hand_out(self._stored())
        self.parts[worker].apply_totals(self._others(worker), self.given[worker])

    def _stored(self):
        active = {number: Part(one.totals(), True, self.given[number]) for number, one in self.parts.items()}
        return active | {number: Part(totals, False) for number, totals in self.ended.items()}

    def gives_up(self, pages):
        for page in pages:
            if self.owner[page]:
                mine = self.part(page)
                self._free[page] = (mine.queue(page), mine.record(page), mine.base())
                mine.remove_pages([page])
                self.owner[page] = 0

    def claims(self, worker, pages):
        for page in pages:
            if not self.owner[page]:
                queue, record, base = self._free.pop(page)
                self.parts[worker].add_page(page, queue, record, base)
                self.owner[page] = worker

    def ends(self, worker):
        """The worker dies: what remains is what the store holds."""
        totals = self.parts[worker].totals()
        self.gives_up([page for page, owner in self.owner.items() if owner == worker])
        del self.parts[worker]
        del self.given[worker]
        self.ended[worker] = totals

    def total_cash(self):
        """Return the cash of all pages, of the virtual page, and of messages."""
        parts = self._stored()
        untaken = sum(part.given - OPICTotals(*part.totals).taken for part in parts.values() if part.is_active)
        free = sum(record[0] + base[queue] for queue, record, base in self._free.values() if queue != GONE)
        return (
            sum(cash_of(one, self.web) for one in self.parts.values())
            + sum(message.cash for message in self.messages)
            + (next(iter(self.parts.values())).pooled(parts) + untaken + free)
        )

    def weights(self):
        return {page: self.part(page).weight(page) for page in self.web}

    def best(self, worker):
        """Return the page of *worker* with the most cash."""
        mine = self.parts[worker]
        pages = [page for page, owner in self.owner.items() if owner == worker and mine.queue(page) != GONE]
        return max(pages, key=lambda page: (mine.cash(page), page))
