"""Synthetic webs for the comparison of rules: the new external links of each page of ten sites, breadth first.

The parameters are fitted to BeeBot's tables (see `web_generator.json`). The links of a site grow by Heaps' law, rich
and poor sections alternate, links come in bursts, some sites begin with empty pages, and some have a *links page*, one
page with very many links.

References
----------
.. [1] BeeBot: Pechnikov, Chernobrovkin, Adaptive crawler for the search and gathering of external hyperlinks (in
   Russian), table 1: pages and external links of universities and institutes of the Academy of Sciences.
.. [2] Heaps (1978), Information Retrieval: Computational and Theoretical Aspects, section 7.5.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files  # also works if the package is not a folder (zip)
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Web = list[list[int]]  # by site and page: new external links

PROFILES = ("universities", "institutes", "sample")  # sample: half of the sites of each kind
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


@dataclass(frozen=True, slots=True)
class Size:
    """The distribution of site sizes: the logarithms of pages and of links per page are normally distributed."""

    pages_mu: float
    pages_sd: float
    density_mu: float  # links per page
    density_sd: float
    least: int = 1  # pages
    most: int = 10**9

    def draw(self, rng: np.random.Generator) -> tuple[int, float]:
        """Return the number of pages and the expected number of links of a random site."""
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
    """Return the five sites of table 1 and five random ones of *profile*; for `sample`, the ten sites of the table."""
    web = []
    for kind in _kinds(profile):
        web += [site(pages, links, _shape(kind), rng) for pages, links in _parameters()["sites"][kind]]
    while len(web) < SITES:
        web.append(site(*PINNED.draw(rng), _shape(profile), rng))
    return web


def scenario(number: int, profile: str, rng: np.random.Generator) -> Web:
    """Return ten random sites with the shapes of fit *number*, from 0 to `scenarios()` - 1."""
    return [site(*SCENARIO[kind].draw(rng), _shape(kind, number), rng) for kind in _each_site(profile)]


def stationary(profile: str, rng: np.random.Generator) -> Web:
    """Return ten random sites whose pages have the same distribution throughout, as textbook bandits assume."""
    return [site(*STATIONARY[kind].draw(rng), STEADY[kind], rng) for kind in _each_site(profile)]


def scenarios() -> int:
    """Return the number of fits."""
    return len(_parameters()["scenarios"])


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
