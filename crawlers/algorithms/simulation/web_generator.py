"""Synthetic webs to compare rules on: how many new external links each page of ten sites has, in breadth-first order.

Their parameters are fitted to BeeBot's tables (see `web_generator.json`). A site's links grow as Heaps' law says,
richer and poorer sections follow each other, links come in bursts, some sites begin with empty pages, some have one
page that is full of links.

References
----------
.. [1] BeeBot, table 1: pages and external links of universities and institutes of the Academy of Sciences.
.. [2] Heaps (1978), Information Retrieval: Computational and Theoretical Aspects, section 7.5.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files  # an egg is no folder
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Web = list[list[int]]  # of each site, of each of its pages

PROFILES = ("universities", "institutes", "sample")  # sample: half of the sites of each kind
SITES = 10
EARLY_PAGES = 60  # where a page full of links stands
FIRST_PAGES = 30  # sections that begin in them are shorter
FIRST_SECTIONS = 0.3  # by this factor


@dataclass(frozen=True, slots=True)
class Shape:
    """How the links of a site are spread over its pages."""

    growth: float  # exponent of Heaps' law; 1: no site gets poorer
    burst_links: float  # mean links of a burst; 1 or less: links come one by one
    burst_sd: float  # of the logarithm of a burst's rate
    section_pages: float  # mean length
    section_sd: float  # of the logarithm of a section's factor; 0: no sections
    links_page_p: float  # of a page full of links
    links_page_mu: float  # mean and deviation of the logarithm of its links
    links_page_sd: float
    empty_head_p: float  # of empty pages at the beginning
    empty_head_pages: float  # most of them


@dataclass(frozen=True, slots=True)
class Size:
    """How large sites are: the logarithms of the pages, and of links per page, are normal."""

    pages_mu: float
    pages_sd: float
    density_mu: float
    density_sd: float
    least: int = 1
    most: int = 10**9

    def draw(self, rng: np.random.Generator) -> tuple[int, float]:
        """Pages and expected links of a site."""
        pages = int(min(max(math.exp(rng.normal(self.pages_mu, self.pages_sd)), self.least), self.most))
        return pages, pages * math.exp(rng.normal(self.density_mu, self.density_sd))


PINNED = Size(8.0, 0.5, -2.63, 0.6, 300, 9000)
SCENARIO = {
    "universities": Size(8.03, 1.0, -2.22, 0.65, 60, 40_000),
    "institutes": Size(8.14, 1.2, -3.26, 0.61, 60, 40_000),
}
STATIONARY = {"universities": Size(9.0, 0.3, -0.7, 0.8), "institutes": Size(9.0, 0.3, -1.5, 0.8)}
STEADY = {
    "universities": Shape(1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    "institutes": Shape(1.0, 15.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
}


def pinned(profile: str, rng: np.random.Generator) -> Web:
    """The five sites of table 1 and five drawn ones of *profile*; for `sample` the ten sites of the table."""
    web = []
    for kind in _kinds(profile):
        web += [site(pages, links, _shape(kind), rng) for pages, links in _parameters()["sites"][kind]]
    while len(web) < SITES:
        web.append(site(*PINNED.draw(rng), _shape(profile), rng))
    return web


def scenario(number: int, profile: str, rng: np.random.Generator) -> Web:
    """Ten drawn sites, their shape the fit *number* from 0 to `scenarios()` - 1."""
    return [site(*SCENARIO[kind].draw(rng), _shape(kind, number), rng) for kind in _each_site(profile)]


def stationary(profile: str, rng: np.random.Generator) -> Web:
    """Ten drawn sites whose pages are alike from the first to the last; what textbook bandits expect."""
    return [site(*STATIONARY[kind].draw(rng), STEADY[kind], rng) for kind in _each_site(profile)]


def scenarios() -> int:
    """The number of fits that `scenario` knows."""
    return len(_parameters()["scenarios"])


def site(pages: int, links: float, shape: Shape, rng: np.random.Generator) -> list[int]:
    """New external links of each of *pages* pages; together *links* in the mean, a page full of links not counted."""
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
    """How much richer than usual each page is: one factor a section, 1 in the mean."""
    factors = np.ones(pages)
    begin = 0
    while shape.section_sd and begin < pages:
        mean = shape.section_pages * (FIRST_SECTIONS if begin < FIRST_PAGES else 1.0)
        end = begin + 1 + int(rng.exponential(mean))
        factors[begin:end] = math.exp(shape.section_sd * rng.standard_normal() - shape.section_sd**2 / 2)
        begin = end
    return factors


def _bursts(rates: NDArray[np.float64], shape: Shape, rng: np.random.Generator) -> NDArray[np.int64]:
    """The links of each page whose mean is *rates*: bursts of one link and a log-normal Poisson number more."""
    if shape.burst_links <= 1:
        return rng.poisson(rates)
    bursts = rng.poisson(rates / shape.burst_links)
    mu = math.log(shape.burst_links - 1) - shape.burst_sd**2 / 2
    page = np.repeat(np.arange(len(rates)), bursts)
    size = 1 + rng.poisson(np.exp(mu + shape.burst_sd * rng.standard_normal(len(page))))
    return np.bincount(page, size, len(rates)).astype(np.int64)


def _kinds(profile: str) -> tuple[str, ...]:
    return ("universities", "institutes") if profile == "sample" else (profile,)


def _each_site(profile: str) -> list[str]:
    kinds = _kinds(profile)
    return [kinds[number * len(kinds) // SITES] for number in range(SITES)]


def _shape(kind: str, number: int | None = None) -> Shape:
    shapes = _parameters()["pinned"] if number is None else _parameters()["scenarios"][number]
    return Shape(**shapes[kind])


@cache
def _parameters() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(__package__).joinpath("web_generator.json").read_text("utf-8"))
    return found
