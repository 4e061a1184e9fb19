"""The known URLs of a site, as a cache that can be dropped.

One integer per URL contains everything that a found link is compared with: the page's number (below 2^32), its
nearness, its variant, and whether it was leased. URLs that were found or changed recently are in a dict, some 120 bytes
a URL; all others in two sorted arrays, 16 bytes a URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ARBITRARY_VARIANT = 2  # see resolution.variant_rank: of several from this rank on, the least URL is requested
TAKEN = 1  # leased at least once, or ended: it can no longer be improved
REVIVABLE = 2  # rejected, but a shorter path or another run may revive it
_VARIANT_SHIFT = 2
_VARIANT_MASK = 0b11
_RANK_SHIFT = 4
_RANK_BITS = 20
_RANK_MASK = (1 << _RANK_BITS) - 1
_ID_SHIFT = _RANK_SHIFT + _RANK_BITS
_HOPS_BITS = 5
MIN_SETTLED = 64  # URLs in the dict; arrays are not rebuilt for fewer
_SETTLED_SHIFT = 3  # nor for less than an eighth of their size, so that each URL is copied some eight times
_NONE = np.empty(0, dtype=np.int64)
MAX_LEVEL = (1 << (_RANK_BITS - _HOPS_BITS)) - 1  # 32,767 clicks from the start URL


# The integer of a row of the table `page`, as computed by `pack`, in SQL. PostgreSQL does not widen integers by itself.
PACKED_SQL = (
    f"(CAST(id AS BIGINT) << {_ID_SHIFT}) + "
    f"(((CAST(level AS BIGINT) << {_HOPS_BITS}) + hops) << {_RANK_SHIFT}) + (variant << {_VARIANT_SHIFT}) + ({{flags}})"
)


def rank(level: int, hops: int) -> int:
    """Return the nearness as one number: the level first, then the redirects within it."""
    return level << _HOPS_BITS | hops


def pack(page_id: int, nearness: int, variant: int, flags: int) -> int:
    """Return the integer of a URL.

    >>> value = pack(7, rank(2, 1), 1, TAKEN)
    >>> id_of(value), rank_of(value) == rank(2, 1), variant_of(value), bool(value & TAKEN)
    (7, True, 1, True)
    """
    return page_id << _ID_SHIFT | nearness << _RANK_SHIFT | variant << _VARIANT_SHIFT | flags


def id_of(value: int) -> int:
    """Return the number of the page."""
    return value >> _ID_SHIFT


def rank_of(value: int) -> int:
    """Return the nearness, as computed by `rank`."""
    return value >> _RANK_SHIFT & _RANK_MASK


def variant_of(value: int) -> int:
    """Return the rank among the variants, see `resolution.variant_rank`."""
    return value >> _VARIANT_SHIFT & _VARIANT_MASK


class UrlIndex(NamedTuple):
    """The known URLs of a site, as an `UrlCache` holds them: *keys* in ascending order, and their packed *values*."""

    keys: NDArray[np.int64]
    values: NDArray[np.int64]
    urls: dict[int, str]


class UrlCache:
    """Maps keys to packed values.

    *lately* contains URLs that were found or changed since the arrays were built, and precedes them; its owner writes
    to it. *is_complete* means that a missing key is a new URL; otherwise the store must be queried. *urls* contains
    the URLs of waiting or too deep pages whose variant rank does not determine which of two variants is better.
    """

    __slots__ = ("_keys", "_values", "is_complete", "lately", "urls")

    def __init__(self) -> None:
        self.lately: dict[int, int] = {}
        self.urls: dict[int, str] = {}
        self.is_complete = True
        self._keys, self._values = _NONE, _NONE

    def __len__(self) -> int:
        """Return the number of known URLs; a URL that changed since the arrays were built counts twice."""
        return len(self.lately) + len(self._keys)

    def adopt(self, known: UrlIndex) -> None:
        """Begin with these URLs; the cache must be empty."""
        self._keys, self._values, self.urls = known

    def merged_values(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the values of *keys* in the arrays, as of the time at which these were built."""
        if not keys or not len(self._keys):
            return {}
        asked = np.array(keys, dtype=np.int64)
        positions = np.searchsorted(self._keys, asked)
        positions[positions == len(self._keys)] = 0
        is_there = self._keys[positions] == asked
        return dict(zip(asked[is_there].tolist(), self._values[positions[is_there]].tolist(), strict=True))

    def values_of(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the values of those *keys* that are known."""
        return self.merged_values(keys) | {key: self.lately[key] for key in keys if key in self.lately}

    def merge_if_large(self) -> None:
        """Move the dict into the arrays if it is large enough."""
        if len(self.lately) >= max(MIN_SETTLED, len(self._keys) >> _SETTLED_SHIFT):
            self._merge()

    def _merge(self) -> None:
        keys = np.fromiter(self.lately, np.int64, len(self.lately))
        values = np.fromiter(self.lately.values(), np.int64, len(self.lately))
        order = np.argsort(keys)
        keys, values = keys[order], values[order]
        positions = np.searchsorted(self._keys, keys)
        is_there = np.zeros(len(keys), dtype=np.bool_)
        within = positions < len(self._keys)
        is_there[within] = self._keys[positions[within]] == keys[within]
        self._values[positions[is_there]] = values[is_there]
        is_new = ~is_there
        self._keys = np.insert(self._keys, positions[is_new], keys[is_new])
        self._values = np.insert(self._values, positions[is_new], values[is_new])
        self.lately = {}

    def forget(self) -> None:
        """Drop the URLs that were neither found for the first time nor changed since the arrays were built."""
        if len(self._keys):
            self.is_complete = False
            self.urls = {key: url for key, url in self.urls.items() if key in self.lately}
            self._keys, self._values = _NONE, _NONE
        self._merge()
