"""Waiting links with their features, as arrays, so that all of them are valued together."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from crawlers.ranking.link_features import WIDTH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Features = NDArray[np.unsignedinteger[Any]]  # `WIDTH` numbers

_BYTES = 3  # of a number in the store
FIRST_SIZE = 16
NO_FEATURES: Features = np.zeros(WIDTH, np.uint32)  # of a page to which no link leads


def text_of(features: Features) -> str:
    """Return *features* as they are stored: 24 bits each, little-endian, in base64.

    >>> text_of(np.array([1, 2**24 - 1], np.uint32))
    'AQAA////'
    """
    numbers = features.astype("<u4").view(np.uint8).reshape(-1, 4)
    return base64.b64encode(numbers[:, :_BYTES].tobytes()).decode("ascii")


def features_of(text: str) -> Features:
    """Return the features that *text* stores; further ones are `NONE`, if a version before had fewer.

    >>> features_of("AQAA////")[:3].tolist()
    [1, 16777215, 0]
    """
    stored = np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, _BYTES)[:WIDTH]
    numbers = np.zeros((WIDTH, 4), np.uint8)
    numbers[: len(stored), :_BYTES] = stored
    return numbers.view("<u4").reshape(WIDTH).astype(np.uint32)


def best_places(ids: NDArray[np.int64], values: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Return the places of the *most* greatest *values*, the greatest first; of equals, those of the least *ids*.

    >>> best_places(np.array([7, 3, 5]), np.array([1.0, 1.0, 2.0]), 2).tolist()
    [2, 1]
    """
    best = np.arange(len(ids))
    if most < len(ids):  # all that are as good as the last of them: sorting everything takes forty times as long
        best = np.flatnonzero(values >= np.partition(values, -most)[-most])
    found: NDArray[np.int64] = best[np.lexsort((ids[best], -values[best]))][:most]
    return found


class LinkTable:
    """Numbers of pages, each once and in no order, and the features of the links to them.

    8 + 4 `WIDTH` bytes for each, and room for half as many more.
    """

    __slots__ = ("_features", "_ids", "_size")

    def __init__(self) -> None:
        self._size = 0
        self._ids = np.zeros(0, np.int64)
        self._features: Features = np.zeros((0, WIDTH), np.uint32)

    def __len__(self) -> int:
        return self._size

    @property
    def ids(self) -> NDArray[np.int64]:
        """The numbers of the pages, valid until the table changes."""
        return self._ids[: self._size]

    @property
    def features(self) -> Features:
        """The features of the links, a row for each of the `ids`, valid until the table changes."""
        return self._features[: self._size]

    def add(self, page_id: int, features: Features) -> None:
        """Add a page that is not in the table."""
        if self._size == len(self._ids):
            more = max(FIRST_SIZE, self._size // 2)
            self._ids = np.concatenate([self._ids, np.zeros(more, np.int64)])
            self._features = np.concatenate([self._features, np.zeros((more, WIDTH), np.uint32)])
        self._ids[self._size], self._features[self._size] = page_id, features
        self._size += 1

    def __contains__(self, page_id: int) -> bool:
        return bool((self.ids == page_id).any())

    def remove(self, page_id: int) -> Features | None:
        """Remove a page, and return the features of the link to it; None if it is not in the table."""
        found = np.flatnonzero(self.ids == page_id)
        if not len(found):
            return None
        index, last = int(found[0]), self._size - 1
        features: Features = self._features[index].copy()
        self._ids[index], self._features[index] = self._ids[last], self._features[last]
        self._size = last
        return features

    def keep(self, places: NDArray[np.int64]) -> None:
        """Remove all pages but those at *places*."""
        self._ids, self._features, self._size = self._ids[places], self._features[places], len(places)
