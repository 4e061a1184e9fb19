"""Simulates harvests of real sites, page by page, with one request in flight and no delay.

The rules, the orders and the learner are those of the program; the pages are those of `bench.harvest.site_pages`.
"""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from bench.harvest.site_pages import MOVED, SitePages
from crawlers.items import LinkPlace
from crawlers.lab.order_replay import LEVEL, ReplayEntry
from crawlers.ranking.link_features import WIDTH, link_features

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawlers.bandits.site_rules import SiteRule
    from crawlers.lab.order_replay import ByValue, LevelByLevel
    from crawlers.ranking.link_values import Features

    # Returns the features of a link, by the numbers of its site and its own, and the level behind it.
    Described = Callable[[int, int, int], Features | None]


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

    def leads(self, site: int, page: int) -> Iterator[tuple[int, int | None]]:
        """The pages to which a page leads, each with the link; None for a redirect."""
        pages = self.sites[site]
        if pages.kinds[page] == MOVED:
            yield pages.moved_to[page], None
        else:
            yield from ((pages.targets[link], link) for link in self.links(site, page))


class Rows:
    """The features of the links of one site, computed when they are needed and kept for all simulations."""

    def __init__(self, site: SitePages) -> None:
        self._site = site
        self._sources = np.repeat(np.arange(len(site.urls)), np.diff(np.array(site.first_link)))
        self._rows = np.zeros((len(site.targets), WIDTH), np.uint32)
        self._known = np.zeros(len(site.targets), bool)
        self._name = site.urls[0].rpartition("/")[0]

    def of(self, link: int, level: int) -> Features:
        """Return the features of a link to a page of this *level*."""
        if not self._known[link]:
            self._rows[link] = link_features(*self.arguments(link, 1))
            self._known[link] = True
        row = self._rows[link].copy()
        row[LEVEL] = _level_id(level)
        return row

    def place(self, link: int) -> LinkPlace:
        site = self._site
        return LinkPlace(*(site.texts[one[link]] for one in (site.positions, site.paths, site.anchors)))

    def arguments(self, link: int, level: int) -> tuple[str, str, int, int, LinkPlace]:
        url = self._site.urls[self._site.targets[link]]
        return self._name, url, level, int(self._sources[link]) + 1, self.place(link)


@cache
def _level_id(level: int) -> int:
    return link_features("", "", level, 0, LinkPlace("", "", ""))[LEVEL]


def _undescribed(site: int, link: int, level: int) -> None:
    return None


def harvest(
    web: Web, rule: SiteRule, orders: Sequence[ByValue | LevelByLevel], budget: int, described: Described = _undescribed
) -> list[int]:
    """Return the new links of each download, in order, with one request in flight."""
    rewards: list[int] = []
    known = [{0} for _ in web.sites]
    seen: list[set[int]] = [set() for _ in web.sites]
    for number, order in enumerate(orders):
        order.push(ReplayEntry(0, 0, 0, 0, None))
        rule.wake(number)
    while len(rewards) < budget:
        chosen = rule.select(float(len(rewards)))
        if chosen is None:
            break
        assert isinstance(chosen, int)
        site, order = web.sites[chosen], orders[chosen]
        page = order.pop()
        rule.record_pull(chosen)
        before = len(seen[chosen])
        seen[chosen].update(site.external[page.page])
        reward = len(seen[chosen]) - before
        rewards += [0] * (site.costs[page.page] - 1) + [reward]
        rule.record_reward(chosen, float(reward))
        order.record_reward(page, reward)
        for target, link in web.leads(chosen, page.page):
            if target in known[chosen]:
                continue
            age = len(known[chosen])
            known[chosen].add(target)
            if link is None:
                order.push(replace(page, page=target, age=age, hops=page.hops + 1))
            else:
                level = page.level + 1
                order.push(ReplayEntry(target, age, level, 0, described(chosen, link, level)))
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
        for target, _ in web.leads(number, page):
            if target not in known[number]:
                known[number].add(target)
                heapq.heappush(heap, (-len(set(site.external[target]) - seen[number]), number, target))
    return rewards
