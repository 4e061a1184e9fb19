"""Compares site rules on synthetic webs, by the links that they find with a page budget.

A web is the new external links of each page of ten sites, breadth first. Its parameters are fitted to BeeBot's table 1
(the pages and links of ten named sites) and table 2 (what three rules found). The links of a site grow by Heaps' law,
rich and poor sections alternate, links come in bursts, some sites begin with empty pages, and some have a *links page*,
one page with very many links. A web is a function of its kind, its number and the seed, so webs can be measured in any
order and in any process.

References
----------
.. [1] BeeBot: Pechnikov, Chernobrovkin, Adaptive crawler for the search and gathering of external hyperlinks (in
   Russian), table 1: pages and external links of universities and institutes of the Academy of Sciences.
.. [2] Heaps (1978), Information Retrieval: Computational and Theoretical Aspects, section 7.5.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from crawlers.bandits.site_rules import RULES, RuleOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from crawlers.bandits.site_rules import SiteRule

    Web = list[list[int]]  # by site and page: new external links


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


BASELINE = "trivial"  # R1, with which the others are compared
ORACLE = "oracle"
OMNISCIENT = "omniscient"
CHECKPOINTS = 40
WEBS = 200  # of each kind: enough for a stable mean
SITES = 10
EARLY_PAGES = 60  # the links page is one of the first 60
FIRST_PAGES = 30  # sections that begin within the first 30 pages are shorter
FIRST_SECTIONS = 0.3  # by this factor


@dataclass(frozen=True, slots=True)
class Shape:
    """The distribution of the links of a site over its pages."""

    growth: float  # exponent of Heaps' law; 1: no diminishing returns
    burst_links: float  # mean number of links per burst; 1 or less: no bursts
    burst_sd: float  # standard deviation of the logarithm of the rate of a burst
    section_pages: float  # mean length of a section, in pages
    section_sd: float  # standard deviation of the logarithm of the factor of a section; 0: no sections
    links_page_p: float  # probability of a links page
    links_page_mu: float  # mean of the logarithm of its number of links
    links_page_sd: float  # standard deviation of the same
    empty_head_p: float  # probability that the site begins with empty pages
    empty_head_pages: float  # upper bound of their number, which is uniformly distributed


UNIVERSITIES, INSTITUTES, SAMPLE = "universities", "institutes", "sample"  # sample: the sites of both in table 1
PROFILES = (UNIVERSITIES, INSTITUTES, SAMPLE)  # the kinds of webs
NAMED = {  # pages and links of the sites of table 1
    UNIVERSITIES: ((431, 19), (1766, 409), (1471, 214), (12935, 903), (7253, 1048)),
    INSTITUTES: ((1298, 29), (1100, 69), (2411, 48), (39292, 3192), (3523, 129)),
}
SHAPES = {
    UNIVERSITIES: Shape(0.7486, 4.0, 0.3651, 150.0, 0.7909, 0.6594, 4.8383, 0.6673, 0.0935, 10.0),
    INSTITUTES: Shape(0.4215, 20.0, 1.0225, 30.0, 2.0246, 0.0061, 4.168, 0.9554, 0.4995, 20.0),
}
# Of random sites, the logarithms of pages and of links per page are normally distributed: mean and standard deviation.
PAGES, DENSITY = (8.0, 0.5), (-2.63, 0.6)
LEAST_PAGES, MOST_PAGES = 300, 9000


def synthetic_web(profile: str, rng: np.random.Generator) -> Web:
    """Return the five sites of table 1 and five random ones of *profile*; for `sample`, the ten sites of the table."""
    kinds = (UNIVERSITIES, INSTITUTES) if profile == SAMPLE else (profile,)
    web = [site(pages, links, SHAPES[kind], rng) for kind in kinds for pages, links in NAMED[kind]]
    while len(web) < SITES:
        pages = int(min(max(math.exp(rng.normal(*PAGES)), LEAST_PAGES), MOST_PAGES))
        web.append(site(pages, pages * math.exp(rng.normal(*DENSITY)), SHAPES[profile], rng))
    return web


def site(pages: int, links: float, shape: Shape, rng: np.random.Generator) -> list[int]:
    """Return the new external links of each of *pages* pages; their expected sum is *links*, without the links page."""
    empty = 0
    if rng.random() < shape.empty_head_p:
        empty = min(pages, int(rng.random() * shape.empty_head_pages))
    counted = pages - empty
    rates = np.diff(links * (np.arange(counted + 1) / pages) ** shape.growth) * _sections(counted, shape, rng)
    found = np.concatenate([np.zeros(empty, np.int64), _bursts(rates, shape, rng)])
    if rng.random() < shape.links_page_p:
        many = int(math.exp(rng.normal(shape.links_page_mu, shape.links_page_sd)))
        found[int(rng.random() * min(pages, EARLY_PAGES))] += many
    result: list[int] = found.tolist()
    return result


def _sections(pages: int, shape: Shape, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the factor of each page, which is constant within a section and has mean 1."""
    factors = np.ones(pages)
    begin = 0
    while shape.section_sd and begin < pages:
        mean = shape.section_pages * (FIRST_SECTIONS if begin < FIRST_PAGES else 1.0)
        end = begin + 1 + int(rng.exponential(mean))
        factors[begin:end] = math.exp(shape.section_sd * rng.standard_normal() - shape.section_sd**2 / 2)
        begin = end
    return factors


def _bursts(rates: NDArray[np.float64], shape: Shape, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the links of each page, with means *rates*: in bursts of 1 plus a log-normal Poisson number of links."""
    if shape.burst_links <= 1:
        return rng.poisson(rates)
    bursts = rng.poisson(rates / shape.burst_links)
    mu = math.log(shape.burst_links - 1) - shape.burst_sd**2 / 2
    page = np.repeat(np.arange(len(rates)), bursts)
    size = 1 + rng.poisson(np.exp(mu + shape.burst_sd * rng.standard_normal(len(page))))
    return np.bincount(page, size, len(rates)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Task:
    """A web on which to measure rules; small, because it is sent to another process."""

    profile: str
    web: int
    rules: tuple[str, ...]
    options: RuleOptions
    seed: int


@dataclass(frozen=True, slots=True)
class Measured:
    """The links found in one web by each rule, the oracle and the omniscient oracle, at each of the `checkpoints`."""

    profile: str
    web: int
    found: dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one rule in webs of one kind."""

    rule: str
    mean: float  # links found per web
    deviation: float  # standard deviation of the links found per web
    of_baseline: float  # links found in all webs, relative to the baseline
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


def tasks(profile: str, webs: int, rules: Iterable[str], options: RuleOptions, seed: int) -> list[Task]:
    """Return a task for each of the first *webs* webs of *profile*, with *rules* and the baseline."""
    measured = tuple(dict.fromkeys((*rules, BASELINE)))
    return [Task(profile, web, measured, options, seed) for web in range(webs)]


def measure(task: Task) -> Measured:
    """Return what the rules of *task*, the oracle and the omniscient oracle find in its web."""
    seed = [task.seed, PROFILES.index(task.profile), task.web]
    web = synthetic_web(task.profile, np.random.default_rng(seed))
    budget = task.options.page_budget
    curves = {rule: simulate(RULES[rule](task.options), web, budget).found for rule in task.rules}
    curves |= {ORACLE: oracle(web, budget), OMNISCIENT: omniscient(web, budget)}
    points = checkpoints(budget)
    sampled = {name: [found[min(at, len(found) - 1)] for at in points] for name, found in curves.items()}
    return Measured(task.profile, task.web, sampled)


def compare(measured: Sequence[Measured]) -> list[Row]:
    """Return a row for every rule, the best one first: the links found in all webs with the whole budget.

    *measured* has at least one web.
    """
    rows = []
    baseline = [web.found[BASELINE][-1] for web in measured]
    for rule in measured[0].found:
        found = [web.found[rule][-1] for web in measured]
        ratios = np.array([_ratio(own, of) for own, of in zip(found, baseline, strict=True)])
        rows.append(
            Row(
                rule,
                statistics.fmean(found),
                statistics.pstdev(found),
                _ratio(sum(found), sum(baseline)),
                float(np.percentile(ratios, 5)),
                float(np.percentile(ratios, 95)),
                statistics.fmean(_ratio(web.found[rule][-1], web.found[ORACLE][-1]) for web in measured),
            )
        )
    return sorted(rows, key=lambda row: -row.mean)


def _ratio(links: float, others: float) -> float:
    return links / others if others else 1.0  # if the reference finds nothing, nothing can be missed
