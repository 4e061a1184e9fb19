"""The link prior, the weights with which `LinkValues` begins: words, levels and lengths of anchors that paid elsewhere.

Those that come with the project are from documentation of software, such as manuals and release notes, in English
(`link_prior.json`, made by `bench.harvest.link_prior`). Elsewhere little is proved; what a crawl learns soon outweighs
them; `scrapy lab learn` makes others. `shipped_weights` reads those of any model that comes with the project.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files  # also works if the package is not a folder (zip)
from typing import TYPE_CHECKING, Any, TypeAlias

from crawlers.ranking.link_features import SHARED, feature_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    LinkPrior: TypeAlias = Mapping[str, Mapping[str, float]]  # by kind and text of a feature

MAX_ETA = 8.0  # of weights, and of predictions: 3,000 new links
# Those that have a meaning on other sites.
KINDS = tuple(dict.fromkeys(kind for _, kind in SHARED))


def prior_of(weights: LinkPrior) -> dict[int, float]:
    """Return *weights*, by kind and text of features that mean the same on all sites, by id.

    >>> len(prior_of({"anchor": {"changelog": 1.7, "news": 0.8}}))
    2
    """
    return {feature_id(kind, "", text): weight for kind, texts in weights.items() for text, weight in texts.items()}


OF_LINKS = "ranking/link_prior.json"  # with which ORDER=learnt begins


@cache
def shipped_weights(name: str) -> Any:
    """Return the weights by feature in one of these files, always the same object.

    >>> shipped_weights(OF_LINKS)["anchor"]["about"] > 0.0
    True
    """
    return json.loads(files("crawlers").joinpath(name).read_text("utf-8"))
