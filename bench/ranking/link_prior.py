"""Makes the weights of words, levels and lengths of anchors with which ORDER=learnt begins.

    python -m bench.ranking.site_pages FILES CACHE SITES.json...        once
    python -m bench.ranking.link_prior CACHE SITE...

Writes crawlers/algorithms/ranking/link_prior.json: a ridge regression of ln(1 + new links) on the features of the first
link to a page that mean the same on all sites, with an intercept for each site, from breadth-first crawls.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import lsqr

from bench.ranking.simulated_harvest import NO_LINK, BreadthFirst, Rows, Waiting, Web, harvest
from bench.ranking.site_pages import SitePages, cached
from crawlers.algorithms.bandits.turns import Sequential
from crawlers.algorithms.ranking import link_prior
from crawlers.algorithms.ranking.link_features import FEATURES, link_feature_names
from crawlers.algorithms.ranking.link_prior import FILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGES = 400  # of a site, at random: otherwise large sites would decide
FEW_PAGES = 30  # smaller sites count less: their pages have the weight of pages of a site with so many
VARIANCES = {"anchor": 0.1, "url": 0.1, "anchor length": 0.02, "level": 0.05}  # of weights, by kind of feature
NOISE = 0.5  # the variance of ln(1 + new links) of pages with the same features
MIN_SITES = 3  # on which a word must occur: others are names of products
LARGEST = 200  # weights that are kept; more are no better
SHARED = [at for at, feature in enumerate(FEATURES) if not feature.is_of_site and feature.kind != "all links"]

Name = tuple[str, str]  # kind and text of a feature
Example = tuple[list[Name], float]  # features of the link to a page, and the new links of the page


class _Recorded(BreadthFirst):
    """Breadth first; records each page with its reward."""

    def __init__(self) -> None:
        super().__init__()
        self.ended_pages: list[tuple[Waiting, int]] = []

    def ended(self, page: Waiting, reward: int) -> None:
        self.ended_pages.append((page, reward))


def examples(site: SitePages, seed: int = 0) -> list[Example]:
    """Return the features of links and the new links of the pages behind them, of a breadth-first crawl of *site*."""
    order = _Recorded()
    harvest(Web([site]), Sequential(), [order], 10**9)
    pages = [(page, reward) for page, reward in order.ended_pages if page.link != NO_LINK]
    if len(pages) > PAGES:
        pages = random.Random(seed).sample(pages, PAGES)
    rows = Rows(site)
    found = []
    for page, reward in pages:
        names = link_feature_names(*rows.arguments(page.link, page.level))
        found.append(([(FEATURES[at].kind, names[at]) for at in SHARED if names[at]], float(reward)))
    return found


def weights(
    sites: Sequence[Sequence[Example]], largest: int = LARGEST, min_sites: int = MIN_SITES
) -> dict[Name, float]:
    """Return the *largest* weights of features that occur on *min_sites*, learnt from the examples of some *sites*."""
    spread = Counter(name for site in sites for name in {name for names, _ in site for name in names})
    columns: dict[Name, int] = {}
    entries: list[tuple[int, int, float]] = []
    goals: list[float] = []
    for number, site in enumerate(sites):
        weight = (100.0 / max(FEW_PAGES, len(site))) ** 0.25
        for names, reward in site:
            for name in (name for name in dict.fromkeys(names) if spread[name] >= min_sites):
                column = len(sites) + columns.setdefault(name, len(columns))
                entries.append((len(goals), column, weight * VARIANCES[name[0]] ** 0.5))
            entries.append((len(goals), number, weight))
            goals.append(weight * float(np.log1p(reward)))
    rows, places, values = zip(*entries, strict=True)
    matrix = csr_matrix((values, (rows, places)), shape=(len(goals), len(sites) + len(columns)))
    solved = lsqr(matrix, np.array(goals), damp=NOISE**0.5, atol=1e-8, btol=1e-8)[0][len(sites) :]
    found = {name: float(solved[at]) * VARIANCES[name[0]] ** 0.5 for name, at in columns.items()}
    kept = sorted(found, key=lambda name: (-abs(found[name]), name))[:largest]
    return {name: round(found[name], 3) for name in sorted(kept)}


def main() -> None:
    folder = Path(sys.argv[1])
    found: Mapping[Name, float] = weights([examples(cached(folder, name)) for name in sorted(sys.argv[2:])])
    by_kind: dict[str, dict[str, float]] = {}
    for (kind, text), weight in found.items():
        by_kind.setdefault(kind, {})[text] = weight
    file = Path(link_prior.__file__).with_name(FILE)
    file.write_text(json.dumps(by_kind, ensure_ascii=False, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
