"""Suites of real sites, simulated harvests of them with a rule and an order, and what is possible on them.

Each suite is read with the links of a page in the order of the document, and shuffled. `learnt` begins with weights
made from the sites that are not in the suite; `cold` with none. `auto:1.6` is the rule with that factor of its bonus.
`best*found` always reads the best of all pages that were found, which nobody can know.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from bench.harvest.link_prior import examples, weights
from bench.harvest.simulation import Rows, Web, best_found_pages, best_pages, harvest
from bench.harvest.site_pages import SitePages, cached
from crawlers.bandits.site_rules import LEARNT_OPTIMISM, LEARNT_REWARD_CAP, OPTIMISM, REWARD_CAP, RULES, RuleOptions
from crawlers.bandits.turns import Sequential
from crawlers.lab.experiment import oracle
from crawlers.lab.learn import by_kind
from crawlers.lab.order_replay import ByValue, LevelByLevel
from crawlers.ranking.link_features import prior_of
from crawlers.ranking.link_values import LinkValues

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawlers.lab.learn import Example
    from crawlers.ranking.link_features import LinkPrior

BUDGETS = (100, 300, 600, 1000, 2000)
SUITE_SITES = 12
LEARNING = ("learnt", "cold")
ORDERS = ("bfs", *LEARNING)


@dataclass(frozen=True)
class Suite:
    """Some sites, and the order of the links on their pages."""

    name: str
    sites: tuple[str, ...]
    seed: int | None

    def web(self, folder: Path) -> Web:
        return Web([_site(folder, name) for name in self.sites], self.seed)


@cache
def _site(folder: Path, name: str) -> SitePages:
    return cached(folder, name)


@cache
def _rows(folder: Path, name: str) -> Rows:
    return Rows(_site(folder, name))


@cache
def _examples(folder: Path, name: str) -> list[Example]:
    return examples(_site(folder, name))


@cache
def weights_without(folder: Path, sites: tuple[str, ...]) -> LinkPrior:
    """Return the weights learnt from the sites in *folder* that are not among *sites*."""
    others = sorted({path.stem for path in folder.glob("*.pickle")} - set(sites))
    return by_kind(weights([_examples(folder, name) for name in others]).items())


def suites(folder: Path, fixed: Sequence[str], count: int, seed: int, shuffles: int = 1) -> list[Suite]:
    rng = random.Random(seed)
    everything = sorted(path.stem for path in folder.glob("*.pickle"))
    found = [("fixed", tuple(fixed))]
    found += [(f"random {at}", tuple(rng.sample(everything, SUITE_SITES))) for at in range(1, count + 1)]
    return [
        Suite(f"{name}{', shuffled' if shuffled else ''}", sites, shuffled)
        for name, sites in found
        for shuffled in (None, *range(1, shuffles + 1))
    ]


def run(folder: Path, suite: Suite, rule: str, order: str) -> list[int]:
    """Return the new links of each download of a simulated harvest."""
    web, most = suite.web(folder), BUDGETS[-1]
    if order == "found":
        return best_found_pages(web, most)
    name, _, factor = rule.partition(":")
    optimism = float(factor) if factor else LEARNT_OPTIMISM if order in LEARNING else OPTIMISM
    cap = LEARNT_REWARD_CAP if order in LEARNING else REWARD_CAP
    made = RULES[name](RuleOptions(page_budget=most, optimism=optimism, reward_cap=cap))
    if order == "bfs":
        return harvest(web, made, [LevelByLevel() for _ in web.sites], most)
    values = LinkValues(prior_of(weights_without(folder, suite.sites)) if order == "learnt" else {})
    rows = [_rows(folder, name) for name in suite.sites]
    orders = [ByValue(values) for _ in web.sites]
    return harvest(web, made, orders, most, lambda site, link, level: rows[site].of(link, level))


def bounds(folder: Path, suite: Suite) -> tuple[list[int], list[int]]:
    """Return the links of the oracle, and those of the best pages, with 0, 1, 2, … downloads."""
    web = suite.web(folder)
    yields = []
    for name in suite.sites:
        alone = Suite(suite.name, (name,), suite.seed).web(folder)
        yields.append(harvest(alone, Sequential(), [LevelByLevel()], 10**9))
    best = sorted((new for site in web.sites for new in best_pages(site)), reverse=True)[: BUDGETS[-1]]
    best += [0] * (BUDGETS[-1] - len(best))
    return oracle(yields, BUDGETS[-1]), list(accumulate(best, initial=0))


def job(task: tuple[Path, Suite, list[tuple[str, str]]]) -> tuple[list[list[int]], list[int], list[int], list[float]]:
    """Return the links found by each pair, by the oracle, and on the best pages, at each budget; and the times."""
    folder, suite, pairs = task
    found, times = [], []
    for rule, order in pairs:
        began = time.process_time()
        rewards = run(folder, suite, rule, order)
        times.append(time.process_time() - began)
        found.append([sum(rewards[:budget]) for budget in BUDGETS])
    most, best = bounds(folder, suite)
    return found, [most[budget] for budget in BUDGETS], [best[budget] for budget in BUDGETS], times
