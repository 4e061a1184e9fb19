"""Simulates a site rule on a web with known yields, and computes the upper bounds of what any rule can find.

The yields of a web are the numbers of new links of each page of each site, in the order in which the pages of a site
are read. For the rule, sites are the arms 0, 1, 2, …; one page is in flight at a time, and takes a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlers.bandits.site_rules import SiteRule


@dataclass(frozen=True, slots=True)
class Run:
    """The course of one simulated crawl."""

    choices: list[int]  # the site of each page
    found: list[int]  # links found with the first 0, 1, 2, … pages
    pulls: list[int]  # pages read from each site


def simulate(rule: SiteRule, yields: Sequence[Sequence[int]], page_budget: int) -> Run:
    """Return what *rule*, which must be new, reads and finds with *page_budget* pages, or with all pages if fewer.

    >>> from crawlers.bandits.turns import Sequential
    >>> simulate(Sequential(), [[0, 3], [5]], 2)
    Run(choices=[0, 0], found=[0, 0, 3], pulls=[2, 0])
    """
    pulls = [0] * len(yields)
    choices: list[int] = []
    found = [0]
    for number, pages in enumerate(yields):
        (rule.wake if pages else rule.sleep)(number)
    while len(choices) < page_budget:
        site = rule.select(float(len(choices)))
        if site is None:
            break
        assert isinstance(site, int)
        rule.record_pull(site)
        links = yields[site][pulls[site]]
        pulls[site] += 1
        if pulls[site] == len(yields[site]):
            rule.sleep(site)
        rule.record_reward(site, float(links))
        choices.append(site)
        found.append(found[-1] + links)
    return Run(choices, found, pulls)


def oracle(yields: Sequence[Sequence[int]], page_budget: int) -> list[int]:
    """Return the most links that can be found with 0, 1, 2, … *page_budget* pages, reading each site in its order.

    >>> oracle([[0, 3], [1, 1]], 3)
    [0, 1, 3, 4]

    Notes
    -----
    Dynamic programming over the sites: O(*page_budget*) for every page with links; to stop after a page without links
    is never better.
    """
    best = np.zeros(page_budget + 1, np.int64)
    for pages in yields:
        before = best.copy()
        total = 0
        for read, links in enumerate(pages[:page_budget], 1):
            if links:
                total += links
                np.maximum(best[read:], before[: page_budget + 1 - read] + total, out=best[read:])
        np.maximum.accumulate(best, out=best)
    result: list[int] = best.tolist()
    return result


def omniscient(yields: Sequence[Sequence[int]], page_budget: int) -> list[int]:
    """Return the links of the best 0, 1, 2, … *page_budget* pages in any order: no crawler can find more.

    >>> omniscient([[0, 3], [1, 1]], 3)
    [0, 3, 4, 5]
    """
    best = sorted((links for pages in yields for links in pages), reverse=True)[:page_budget]
    best += [0] * (page_budget - len(best))
    return list(accumulate(best, initial=0))
