"""What a site rule finds in a web whose yields are known, and the most that any rule could have found there.

The yields of a web are the new links of each page of each site, in the order in which a site's pages are read. Sites
are known to the rule as 0, 1, 2 …; a page is read when the one before is known, and takes a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlers.algorithms.bandits.site_rules import SiteRule


@dataclass(frozen=True, slots=True)
class Run:
    """What was chosen, and found."""

    choices: list[int]  # the site of each page
    found: list[int]  # links found with the first 0, 1, 2 … pages
    pulls: list[int]  # pages read of each site


def simulate(rule: SiteRule, yields: Sequence[Sequence[int]], page_budget: int) -> Run:
    """What *rule*, which was told nothing yet, reads and finds with *page_budget* pages, or with all there are.

    >>> from crawlers.algorithms.bandits.turns import Sequential
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
        rule.started(site)
        links = yields[site][pulls[site]]
        pulls[site] += 1
        if pulls[site] == len(yields[site]):
            rule.sleep(site)
        rule.rewarded(site, float(links))
        choices.append(site)
        found.append(found[-1] + links)
    return Run(choices, found, pulls)


def oracle(yields: Sequence[Sequence[int]], page_budget: int) -> list[int]:
    """The most links that 0, 1, 2 … *page_budget* pages can give when each site is read in its order.

    Notes
    -----
    Dynamic programming over the sites: O(*page_budget*) for every page that has a link, as to stop behind one that has
    none is never better.
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
    """The links of the best 0, 1, 2 … *page_budget* pages, in whatever order: more than any crawler can find."""
    best = sorted((links for pages in yields for links in pages), reverse=True)[:page_budget]
    best += [0] * (page_budget - len(best))
    return list(accumulate(best, initial=0))
