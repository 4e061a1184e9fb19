"""Compares site rules on suites of simulated webs, by the links that they find with a page budget.

A web is a function of its suite, its number and the seed, so webs can be measured in any order and in any process.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawlers.bandits.site_rules import RULES, RuleOptions
from crawlers.lab.simulation import web_generator
from crawlers.lab.simulation.rule_simulation import omniscient, oracle, simulate
from crawlers.lab.simulation.web_generator import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

BASELINE = "trivial"  # R1, with which the others are compared
ORACLE = "oracle"
OMNISCIENT = "omniscient"
CHECKPOINTS = 40


@dataclass(frozen=True, slots=True)
class Suite:
    """A family of webs."""

    webs: int  # enough for a stable mean
    make: Callable[[int, np.random.Generator], web_generator.Web]  # the web with a number
    groups: int = 1  # web w belongs to group w modulo `groups`; all groups have the same weight


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
    """A web on which to measure rules; small, because it is sent to another process."""

    suite: str
    web: int
    rules: tuple[str, ...]
    options: RuleOptions
    seed: int


@dataclass(frozen=True, slots=True)
class Measured:
    """The links found in one web by each rule, the oracle and the omniscient oracle, at each of the `checkpoints`."""

    suite: str
    web: int
    found: dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one rule in one suite."""

    rule: str
    mean: float  # links found per web
    deviation: float  # standard deviation of the links found per web
    of_baseline: float  # mean over the groups: links found in all webs of a group, relative to the baseline
    low: float  # 5th percentile over the webs: links found, relative to the baseline
    high: float  # 95th percentile of the same
    of_oracle: float  # mean over the webs: links found, relative to the oracle


def checkpoints(page_budget: int) -> list[int]:
    """Return the numbers of pages at which results are recorded: evenly spaced, the last one is *page_budget*.

    >>> checkpoints(3), checkpoints(400)[:3]
    ([1, 2, 3], [10, 20, 30])
    """
    count = min(CHECKPOINTS, page_budget)
    return [page_budget * step // count for step in range(1, count + 1)]


def tasks(suite: str, webs: int, rules: Iterable[str], options: RuleOptions, seed: int) -> list[Task]:
    """Return a task for each of the first *webs* webs of *suite*, with *rules* and the baseline."""
    measured = tuple(dict.fromkeys((*rules, BASELINE)))
    return [Task(suite, web, measured, options, seed) for web in range(webs)]


def measure(task: Task) -> Measured:
    """Return what the rules of *task*, the oracle and the omniscient oracle find in its web."""
    suite = list(SUITES).index(task.suite)
    web = SUITES[task.suite].make(task.web, np.random.default_rng([task.seed, suite, task.web]))
    budget = task.options.page_budget
    curves = {rule: simulate(RULES[rule](task.options), web, budget).found for rule in task.rules}
    curves |= {ORACLE: oracle(web, budget), OMNISCIENT: omniscient(web, budget)}
    points = checkpoints(budget)
    return Measured(
        task.suite,
        task.web,
        {name: [found[min(at, len(found) - 1)] for at in points] for name, found in curves.items()},
    )


def compare(measured: Sequence[Measured], groups: int = 1) -> list[Row]:
    """Return a row for every rule, the best one first: the links found in the webs of one suite with the whole budget.

    *measured* has at least one web; *groups* is that of the suite.
    """
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
    return links / others if others else 1.0  # if the reference finds nothing, nothing can be missed
