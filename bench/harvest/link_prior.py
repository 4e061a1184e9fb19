"""Makes the weights of words, levels and lengths of anchors with which ORDER=learnt begins.

    python -m bench.harvest.site_pages FILES CACHE SITES.json...        once
    python -m bench.harvest.link_prior CACHE SITE...

Writes crawlers/ranking/link_prior.json: a ridge regression of ln(1 + new links) on the features of the first
link to a page that mean the same on all sites, with an intercept for each site, from breadth-first crawls.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import crawlers
from bench.harvest.simulation import Rows, Web, harvest
from bench.harvest.site_pages import SitePages, cached
from crawlers.bandits.turns import Sequential
from crawlers.lab.learn import LARGEST, MIN_SITES, PAGES, by_kind, largest, regression
from crawlers.lab.order_replay import LevelByLevel
from crawlers.ranking.link_features import OF_LINKS, SHARED, link_feature_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlers.lab.learn import Example, Name
    from crawlers.lab.order_replay import ReplayEntry
    from crawlers.ranking.link_values import Features


class _Recorded(LevelByLevel):
    """Breadth first; records each page with its reward."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[tuple[ReplayEntry, int]] = []

    def record_reward(self, page: ReplayEntry, reward: int) -> None:
        self.read.append((page, reward))


def _number_of_link(site: int, link: int, level: int) -> Features:
    """Let the number of a link stand for its features, so that `_Recorded` knows by which link a page was found."""
    return np.array([link], np.uint32)


def examples(site: SitePages, seed: int = 0) -> list[Example]:
    """Return the features of links and the new links of the pages behind them, of a breadth-first crawl of *site*."""
    order = _Recorded()
    harvest(Web([site]), Sequential(), [order], 10**9, _number_of_link)
    pages = [(page, reward) for page, reward in order.read if page.level]
    if len(pages) > PAGES:
        pages = random.Random(seed).sample(pages, PAGES)
    rows = Rows(site)
    found = []
    for page, reward in pages:
        names = link_feature_names(*rows.arguments(int(page.features[0]), page.level))
        found.append(([(kind, names[at]) for at, kind in SHARED if names[at]], float(reward)))
    return found


def weights(sites: Sequence[Sequence[Example]], most: int = LARGEST, min_sites: int = MIN_SITES) -> dict[Name, float]:
    """Return the *most* largest weights of features that occur on *min_sites*, learnt from the examples of *sites*."""
    return largest(regression(sites, min_sites), most)


def main() -> None:
    folder = Path(sys.argv[1])
    found = weights([examples(cached(folder, name)) for name in sorted(sys.argv[2:])])
    file = Path(crawlers.__file__).parent / OF_LINKS
    file.write_text(json.dumps(by_kind(found.items()), ensure_ascii=False, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
