"""Many simulated webs, every rule on each: what the rules find with so many pages, and how that compares.

A web is a function of its suite, its number and the seed, so that webs may be measured in any order and anywhere.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from crawlers.algorithms.bandits.site_rules import RULES, RuleOptions
from crawlers.algorithms.simulation import web_generator
from crawlers.algorithms.simulation.rule_simulation import omniscient, oracle, simulate
from crawlers.algorithms.simulation.web_generator import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

BASELINE = "trivial"  # what the others are compared with: R1
ORACLE = "oracle"
OMNISCIENT = "omniscient"
CHECKPOINTS = 40


@dataclass(frozen=True, slots=True)
class Suite:
    """A kind of webs."""

    webs: int  # how many give a steady mean
    make: Callable[[int, np.random.Generator], web_generator.Web]  # the web of a number
    groups: int = 1  # web w belongs to group w modulo this one; the groups count alike


def _pinned(profile: str) -> Suite:
    return Suite(200, lambda number, rng: web_generator.pinned(profile, rng))


def _scenario(number: int, rng: np.random.Generator) -> web_generator.Web:
    fit, profile = divmod(number % SCENARIOS, len(PROFILES))
    return web_generator.scenario(fit, PROFILES[profile], rng)


def _stationary(number: int, rng: np.random.Generator) -> web_generator.Web:
    return web_generator.stationary(PROFILES[number % len(PROFILES)], rng)


SCENARIOS = web_generator.scenarios() * len(PROFILES)
SUITES = {
    **{profile: _pinned(profile) for profile in PROFILES},
    "scenarios": Suite(16 * SCENARIOS, _scenario, SCENARIOS),
    "stationary": Suite(120, _stationary, len(PROFILES)),
}


@dataclass(frozen=True, slots=True)
class Task:
    """One web to measure; small, as it travels to another process."""

    suite: str
    web: int
    rules: tuple[str, ...]
    options: RuleOptions
    seed: int


@dataclass(frozen=True, slots=True)
class Measured:
    """Links found in one web by each rule, the oracle and the omniscient one, at each of `checkpoints`."""

    suite: str
    web: int
    found: dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Row:
    """How one rule did in one suite. Ratios are means over the groups of webs."""

    rule: str
    mean: float  # links found in a web
    deviation: float  # over the webs
    of_baseline: float  # links of all webs of a group together
    low: float  # of the baseline, in the web at the 5th percentile
    high: float  # … and at the 95th
    of_oracle: float  # mean over the webs


def checkpoints(page_budget: int) -> list[int]:
    """Numbers of pages at which a run is looked at: evenly spaced, the last one *page_budget*."""
    count = min(CHECKPOINTS, page_budget)
    return [page_budget * step // count for step in range(1, count + 1)]


def tasks(suite: str, webs: int, rules: Iterable[str], options: RuleOptions, seed: int) -> list[Task]:
    """The first *webs* webs of *suite*, to be measured with *rules* and the baseline."""
    wanted = tuple(dict.fromkeys((*rules, BASELINE)))
    return [Task(suite, web, wanted, options, seed) for web in range(webs)]


def measure(task: Task) -> Measured:
    """What every rule of *task* finds in its web."""
    suite = list(SUITES).index(task.suite)
    web = SUITES[task.suite].make(task.web, np.random.default_rng([task.seed, suite, task.web]))
    options = replace(task.options, seed=task.seed + task.web)
    budget = options.page_budget
    curves = {rule: simulate(RULES[rule](options), web, budget).found for rule in task.rules}
    curves |= {ORACLE: oracle(web, budget), OMNISCIENT: omniscient(web, budget)}
    points = checkpoints(budget)
    return Measured(
        task.suite,
        task.web,
        {name: [found[min(at, len(found) - 1)] for at in points] for name, found in curves.items()},
    )


def compare(measured: Sequence[Measured], groups: int = 1) -> list[Row]:
    """A row for every rule, the best one first, of the links found in the webs of one suite with all pages."""
    groups = min(groups, len(measured))
    rows = []
    for rule in measured[0].found:
        found = [web.found[rule][-1] for web in measured]
        ratios = np.array([_ratio(web.found[rule][-1], web.found[BASELINE][-1]) for web in measured])
        rows.append(
            Row(
                rule,
                statistics.fmean(found),
                statistics.pstdev(found),
                statistics.fmean(_of_baseline(measured, rule, group, groups) for group in range(groups)),
                float(np.percentile(ratios, 5)),
                float(np.percentile(ratios, 95)),
                statistics.fmean(_ratio(web.found[rule][-1], web.found[ORACLE][-1]) for web in measured),
            )
        )
    return sorted(rows, key=lambda row: -row.mean)


def _of_baseline(measured: Sequence[Measured], rule: str, group: int, groups: int) -> float:
    webs = [web for web in measured if web.web % groups == group]
    return _ratio(sum(web.found[rule][-1] for web in webs), sum(web.found[BASELINE][-1] for web in webs))


def _ratio(links: float, others: float) -> float:
    return links / others if others else 1.0  # where even the other finds nothing, nothing is missed
