"""Simulates harvests of real sites with every rule and order, and holds them against what is possible.

    python -m bench.ranking.site_pages FILES CACHE SITES.json...        once
    python -m bench.ranking.link_orders CACHE --sites A,B,... [--suites 10] [--pairs auto:1.6*groups,auto*learnt]

One request in flight and no delay, with the rules, the orders and the learner of the program, on the pages of real
sites. The suites are the --sites, and --suites random ones of 12 of all sites in CACHE; each is read with the links of
a page in the order of the document, and shuffled. `learnt` begins with weights made from the sites that are not in the
suite; `cold` with none. `auto:1.6` is the rule with that factor of its bonus. Rewards are REWARD=new_links. `trivial`
divides the greatest number of pages.

For each number of pages: the links found, compared with the first pair (geometric mean over suites, and the worst
suite); the mean share of what an oracle finds that knows all yields but reads each site breadth first; the mean share
of what the best pages have, in any order and whether there are links to them or not.
"""

from __future__ import annotations

import argparse
import random
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import TYPE_CHECKING

from bench.ranking.link_prior import examples, weights
from bench.ranking.simulated_harvest import BreadthFirst, Groups, Learnt, Order, Rows, Web, best_pages, harvest
from bench.ranking.site_pages import SitePages, cached
from crawlers.algorithms.bandits.recent_means import LEARNT_OPTIMISM, OPTIMISM
from crawlers.algorithms.bandits.site_rules import RULES, RuleOptions
from crawlers.algorithms.bandits.turns import Sequential
from crawlers.algorithms.ranking.link_features import feature_id
from crawlers.algorithms.ranking.link_values import LinkValues
from crawlers.algorithms.simulation.rule_simulation import oracle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlers.algorithms.ranking.link_regression import Example

BUDGETS = (300, 600, 1000, 2000)
SUITE_SITES = 12
LEARNING = ("groups", "learnt", "cold")
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
def prior_without(folder: Path, sites: tuple[str, ...]) -> Mapping[int, float]:
    """Return the weights learnt from the sites in *folder* that are not among *sites*."""
    others = sorted({path.stem for path in folder.glob("*.pickle")} - set(sites))
    found = weights([_examples(folder, name) for name in others])
    return {feature_id(kind, "", text): weight for (kind, text), weight in found.items()}


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
    web = suite.web(folder)
    orders: list[Order]
    if order == "bfs":
        orders = [BreadthFirst() for _ in web.sites]
    elif order == "groups":
        orders = [Groups(site) for site in web.sites]
    else:
        values = LinkValues(prior_without(folder, suite.sites) if order == "learnt" else {})
        orders = [Learnt(_rows(folder, name), values) for name in suite.sites]
    name, _, factor = rule.partition(":")
    optimism = float(factor) if factor else LEARNT_OPTIMISM if order in LEARNING else OPTIMISM
    made = RULES[name](RuleOptions(page_budget=BUDGETS[-1], optimism=optimism))
    return harvest(web, made, orders, BUDGETS[-1])


def bounds(folder: Path, suite: Suite) -> tuple[list[int], list[int]]:
    """Return the links of the oracle, and those of the best pages, with 0, 1, 2, … downloads."""
    web = suite.web(folder)
    yields = []
    for name in suite.sites:
        alone = Suite(suite.name, (name,), suite.seed).web(folder)
        yields.append(harvest(alone, Sequential(), [BreadthFirst()], 10**9))
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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sites", required=True)
    every = [f"{rule}*{order}" for rule in RULES if rule != "best" for order in ORDERS]  # `best` compares scores
    parser.add_argument("--pairs", default=",".join(["auto:1.6*groups", *every]))
    parser.add_argument("--suites", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shuffles", type=int, default=1, help="further orders of the links of each suite")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--detailed", action="store_true")
    given = parser.parse_args()
    pairs = [tuple(pair.split("*")) for pair in given.pairs.split(",")]
    made = suites(given.folder, given.sites.split(","), given.suites, given.seed, given.shuffles)
    tasks = [(given.folder, suite, pairs) for suite in made]
    with ProcessPoolExecutor(given.processes, get_context("forkserver")) as pool:
        done = list(pool.map(job, tasks))
    print(f"{'':18}" + "".join(f"{budget:>26}" for budget in BUDGETS))
    base = [found[0] for found, *_ in done]
    for at, (rule, order) in enumerate(pairs):
        cells = []
        for b in range(len(BUDGETS)):
            ratios = [found[at][b] / one[b] for (found, *_), one in zip(done, base, strict=True)]
            of_most = fmean(found[at][b] / most[b] for found, most, _, _ in done)
            of_best = fmean(found[at][b] / best[b] for found, _, best, _ in done)
            cells.append(f"{geometric_mean(ratios):.3f} {min(ratios):.2f} {of_most:.3f} {of_best:.3f}")
        cost = sum(times[at] for *_, times in done) / len(done)
        print(f"{rule + '*' + order:18}" + "".join(f"{cell:>26}" for cell in cells) + f"  {cost:.1f} s", flush=True)
    if given.detailed:
        for (_, suite, _), (found, most, best, _) in zip(tasks, done, strict=True):
            print(suite.name, " ".join(suite.sites))
            for (rule, order), row in zip(pairs, found, strict=True):
                print(f"  {rule + '*' + order:18}" + "".join(f"{one:>8}" for one in row))
            print(f"  {'oracle':18}" + "".join(f"{one:>8}" for one in most))
            print(f"  {'best pages':18}" + "".join(f"{one:>8}" for one in best))


if __name__ == "__main__":
    main()
