"""The weights with which `LinkValues` begins: words, levels and lengths of anchors that paid on other sites.

They come from documentation of software, such as manuals and release notes, in English (`link_prior.json`, made by
`bench.ranking.link_prior`). Elsewhere little is proved; what a crawl learns soon outweighs them.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from crawlers.algorithms.ranking.link_features import feature_id

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "link_prior.json"


@lru_cache(maxsize=1)
def shipped_prior() -> Mapping[int, float]:
    """Return the weights that come with the project, by id of feature."""
    weights: dict[str, dict[str, float]] = json.loads(files(__package__).joinpath(FILE).read_text("utf-8"))
    return prior_of(weights)


def prior_of(weights: Mapping[str, Mapping[str, float]]) -> dict[int, float]:
    """Return *weights*, by kind and text of features that mean the same on all sites, by id.

    >>> len(prior_of({"anchor": {"changelog": 1.7, "news": 0.8}}))
    2
    """
    return {feature_id(kind, "", text): weight for kind, texts in weights.items() for text, weight in texts.items()}
