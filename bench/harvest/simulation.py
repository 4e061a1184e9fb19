"""Simulates harvests of real sites, page by page, with one request in flight and no delay.

The rules, the orders and the learner are those of the program; the pages are those of `bench.harvest.site_pages`.
"""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bench.harvest.site_pages import MOVED, READ, SitePages
from crawlers.algorithms.ranking.link_features import FEATURES, WIDTH, link_features
from crawlers.algorithms.ranking.link_groups import MAX_GROUPS, GroupBandit, group_name
from crawlers.algorithms.ranking.link_values import CLOSE
from crawlers.algorithms.ranking.page_orders import MAX_HOPS
from crawlers.items import LinkPlace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawlers.algorithms.bandits.site_rules import SiteRule
    from crawlers.algorithms.ranking.link_values import LinkValues

NO_LINK = -1
LEVEL = next(at for at, feature in enumerate(FEATURES) if feature.kind == "level")


class Web:
    """Sites with the links of each page in the order of the document, or shuffled with a *seed*."""

    def __init__(self, sites: Sequence[SitePages], seed: int | None = None) -> None:
        self.sites = sites
        self._seed = seed

    def links(self, site: int, page: int) -> Iterable[int]:
        found = self.sites[site].links(page)
        if self._seed is None:
            return found
        name = f"{self._seed} {self.sites[site].site} {page}"
        return random.Random(name).sample(found, len(found))

    def targets(self, site: int, page: int) -> list[int]:
        """The pages to which a page leads, also by a redirect."""
        pages = self.sites[site]
        if pages.kinds[page] == MOVED:
            return [pages.moved_to[page]]
        return [pages.targets[link] for link in self.links(site, page)]


@dataclass(slots=True)
class Waiting:
    """A page that waits, found by a link; of a page behind a redirect, the link to that."""

    page: int
    level: int
    hops: int
    link: int


class Order(Protocol):
    """The order of the pages of one site."""

    def push(self, found: Sequence[Waiting]) -> None: ...

    def pop(self) -> Waiting: ...

    def ended(self, page: Waiting, reward: int) -> None: ...

    def __len__(self) -> int: ...


class BreadthFirst:
    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Waiting]] = []
        self._pushed = 0

    def push(self, found: Sequence[Waiting]) -> None:
        for page in found:
            self._pushed += 1
            heapq.heappush(self._heap, (page.level * (MAX_HOPS + 1) + page.hops, self._pushed, page))

    def pop(self) -> Waiting:
        return heapq.heappop(self._heap)[2]

    def ended(self, page: Waiting, reward: int) -> None:
        pass

    def __len__(self) -> int:
        return len(self._heap)


class Groups:
    def __init__(self, site: SitePages) -> None:
        self._site = site
        self._bandit = GroupBandit()
        self._numbers: dict[str, int] = {}
        self._queues: dict[int, list[tuple[int, Waiting]]] = {}
        self._groups: dict[int, int] = {}  # by page
        self._pushed = 0
        self._waiting = 0

    def push(self, found: Sequence[Waiting]) -> None:
        site = self._site
        for page in found:
            group = 0
            if page.link != NO_LINK:
                url = site.urls[site.targets[page.link]]
                name = group_name(site.texts[site.positions[page.link]], url)
                new = len(self._numbers) + 1 if len(self._numbers) + 1 < MAX_GROUPS else 0
                group = self._numbers.setdefault(name, new) if new or name in self._numbers else 0
            self._pushed += 1
            self._groups[page.page] = group
            self._queues.setdefault(group, []).append((self._pushed, page))
            self._waiting += 1

    def pop(self) -> Waiting:
        group = self._bandit.choose((group, queue[0][0]) for group, queue in self._queues.items())
        page = self._queues[group].pop(0)[1]
        if not self._queues[group]:
            del self._queues[group]
        self._bandit.started(group)
        self._waiting -= 1
        return page

    def ended(self, page: Waiting, reward: int) -> None:
        self._bandit.rewarded(self._groups.pop(page.page), float(reward))

    def __len__(self) -> int:
        return self._waiting


class Rows:
    """The features of the links of one site, computed when they are needed and kept for all simulations."""

    def __init__(self, site: SitePages) -> None:
        self._site = site
        self._sources = np.repeat(np.arange(len(site.urls)), np.diff(np.array(site.first_link)))
        self._rows = np.zeros((len(site.targets), WIDTH), np.uint32)
        self._known = np.zeros(len(site.targets), bool)
        self._name = site.urls[0].rpartition("/")[0]

    def of(self, found: Sequence[Waiting]) -> np.ndarray:
        for page in found:
            if page.link != NO_LINK and not self._known[page.link]:
                self._rows[page.link] = self._row(page.link)
                self._known[page.link] = True
        rows = self._rows[[page.link for page in found]]
        rows[:, LEVEL] = [_level_id(page.level) for page in found]
        rows[[page.link == NO_LINK for page in found]] = 0
        return rows

    def place(self, link: int) -> LinkPlace:
        site = self._site
        return LinkPlace(*(site.texts[one[link]] for one in (site.positions, site.paths, site.anchors)))

    def arguments(self, link: int, level: int) -> tuple[str, str, int, int, LinkPlace]:
        url = self._site.urls[self._site.targets[link]]
        return self._name, url, level, int(self._sources[link]) + 1, self.place(link)

    def _row(self, link: int) -> Sequence[int]:
        return link_features(*self.arguments(link, 1))


@cache
def _level_id(level: int) -> int:
    return link_features("", "", level, 0, LinkPlace("", "", ""))[LEVEL]


class Learnt:
    def __init__(self, rows: Rows, values: LinkValues) -> None:
        self._source = rows
        self._values = values
        self._pages: list[Waiting] = []
        self._rows = np.zeros((64, WIDTH), np.uint32)
        self._in_flight: dict[int, np.ndarray] = {}  # rows by page

    def push(self, found: Sequence[Waiting]) -> None:
        if not found:
            return
        start, end = len(self._pages), len(self._pages) + len(found)
        if end > len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros((end, WIDTH), np.uint32)])
        self._rows[start:end] = self._source.of(found)
        self._pages += found

    def pop(self) -> Waiting:
        count = len(self._pages)
        scores = self._values.scores(self._rows[:count])
        best = int(np.argmax(scores > scores.max() - CLOSE))  # the oldest of them
        page = self._pages.pop(best)
        self._in_flight[page.page] = self._rows[best].copy()
        self._rows[best : count - 1] = self._rows[best + 1 : count]
        return page

    def ended(self, page: Waiting, reward: int) -> None:
        row = self._in_flight.pop(page.page)
        if page.level:
            self._values.learn(row.tolist(), float(reward))

    def __len__(self) -> int:
        return len(self._pages)


def harvest(web: Web, rule: SiteRule, orders: Sequence[Order], budget: int) -> list[int]:
    """Return the new links of each download, in order, with one request in flight."""
    rewards: list[int] = []
    known = [{0} for _ in web.sites]
    seen: list[set[int]] = [set() for _ in web.sites]
    for number, order in enumerate(orders):
        order.push([Waiting(0, 0, 0, NO_LINK)])
        rule.wake(number)
    while len(rewards) < budget:
        chosen = rule.select(float(len(rewards)))
        if chosen is None:
            break
        assert isinstance(chosen, int)
        site, order = web.sites[chosen], orders[chosen]
        page = order.pop()
        rule.started(chosen)
        kind = site.kinds[page.page]
        before = len(seen[chosen])
        found = []
        if kind == READ:
            seen[chosen].update(site.external[page.page])
            for link in web.links(chosen, page.page):
                target = site.targets[link]
                if target not in known[chosen]:
                    known[chosen].add(target)
                    found.append(Waiting(target, page.level + 1, 0, link))
        elif kind == MOVED and site.moved_to[page.page] not in known[chosen]:
            known[chosen].add(site.moved_to[page.page])
            found.append(Waiting(site.moved_to[page.page], page.level, page.hops + 1, page.link))
        reward = len(seen[chosen]) - before
        rewards += [0] * (site.costs[page.page] - 1) + [reward]
        rule.rewarded(chosen, float(reward))
        order.ended(page, reward)
        order.push(found)
        (rule.wake if len(order) else rule.sleep)(chosen)
    return rewards


def best_pages(site: SitePages) -> list[int]:
    """Return the new links of each page if always that with the most is read, whether there are links to it or not."""
    heap = [(-len(keys), page) for page, keys in enumerate(site.external) if keys]
    heapq.heapify(heap)
    seen: set[int] = set()
    found = []
    while heap:
        _, page = heapq.heappop(heap)
        new = len(set(site.external[page]) - seen)
        if new and heap and -new > heap[0][0]:
            heapq.heappush(heap, (-new, page))
        elif new:
            seen.update(site.external[page])
            found.append(new)
    return found


def best_found_pages(web: Web, budget: int) -> list[int]:
    """Return the new links of each download if the best page of all to which a link was found is always read.

    It is known in advance which new links a page brings, but not to which pages it leads. Home pages come first.
    """
    seen: list[set[int]] = [set() for _ in web.sites]
    known = [{0} for _ in web.sites]
    heap = [(-math.inf, number, 0) for number in range(len(web.sites))]
    rewards: list[int] = []
    while heap and len(rewards) < budget:
        least, number, page = heapq.heappop(heap)
        site = web.sites[number]
        new = len(set(site.external[page]) - seen[number])
        if page and -new != least:  # others brought some of them since
            heapq.heappush(heap, (-new, number, page))
            continue
        seen[number].update(site.external[page])
        rewards += [0] * (site.costs[page] - 1) + [new]
        for target in web.targets(number, page):
            if target not in known[number]:
                known[number].add(target)
                heapq.heappush(heap, (-len(set(site.external[target]) - seen[number]), number, target))
    return rewards
