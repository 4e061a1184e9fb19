"""Reads what a store keeps to learn from, features of links and rewards of pages: it may be damaged."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from crawlers.algorithms.ranking.link_features import TABLE_SIZE, features_of
from crawlers.errors import StoreError

if TYPE_CHECKING:
    from crawlers.algorithms.ranking.link_features import Features


def read_features(text: str, store: str) -> Features:
    """Return the features that *text* stores; raises `StoreError`, with the name of the *store*, if it is damaged."""
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
