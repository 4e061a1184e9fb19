"""Reads what a store keeps to learn from, features of links and rewards of pages: it may be damaged.

The link prior of a crawl, the weights with which its order began to learn, is a part of the crawl: whatever becomes of
its file, and of the one that comes with the project, the crawl makes the same choices when it is resumed, on other
machines, and when it is explained.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from crawlers.errors import StoreError
from crawlers.store.reading.crawl_settings import record, setting_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from crawlers.ranking.link_prior import LinkPrior
    from crawlers.ranking.link_values import Features


def read_features(text: str, store: str) -> Features:
    """Return the features that *text* stores; raises `StoreError`, with the name of the *store*, if it is damaged."""
    from crawlers.ranking.link_features import TABLE_SIZE
    from crawlers.ranking.link_values import features_of  # with numpy; only orders that learn have features

    try:
        features = features_of(text)
    except (TypeError, ValueError) as error:
        raise damaged(store, "features of a link cannot be read") from error
    if features.max() >= TABLE_SIZE:
        raise damaged(store, "features of a link cannot be read")
    return features


def read_reward(value: Any, store: str) -> float:
    """Return the reward that is stored as *value*; raises `StoreError`, with the name of the *store*, if it is none."""
    if not isinstance(value, float) or not 0.0 <= value < math.inf:
        raise damaged(store, f"the reward {value!r} of a page is not one")
    return value


def damaged(store: str, what: str) -> StoreError:
    """Return the error of a *store* in which *what* is wrong."""
    return StoreError(f"{store} is damaged: {what}; restore it, or name another")


WEIGHTS = "LINK_WEIGHTS"  # stored like a setting; LINK_PRIOR is their name


def keep_link_prior(connection: Connection, crawl_id: int, first: Callable[[], LinkPrior]) -> None:
    """Store what *first* returns, unless the crawl has weights; raises what *first* raises."""
    if connection.scalar(setting_of(crawl_id, WEIGHTS)) is None:
        record(connection, crawl_id, {WEIGHTS: json.dumps(first(), sort_keys=True)})


def stored_link_prior(connection: Connection, crawl_id: int) -> LinkPrior:
    """Return the link prior of a crawl; no weights if its order does not learn from links."""
    text = connection.scalar(setting_of(crawl_id, WEIGHTS))
    weights: LinkPrior = {} if text is None else json.loads(text)
    return weights
