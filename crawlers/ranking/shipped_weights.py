"""The weights of models that come with the project: JSON files beside the modules that use them."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files  # also works if the package is not a folder (zip)
from typing import Any

OF_LINKS = "ranking/link_prior.json"  # with which ORDER=learnt begins
OF_URLS = "missions/news/urls/url_prior.json"  # of `UrlPrior`
OF_BLOCKS = "missions/news/article/text_weights.json"  # of `text_choice`


@cache
def shipped_weights(name: str) -> Any:
    """Return the weights by feature in one of these files, always the same object.

    >>> shipped_weights(OF_BLOCKS)[""] < 0.0  # the constant
    True
    """
    return json.loads(files("crawlers").joinpath(name).read_text("utf-8"))
