"""The URLs of a site that the crawl knows already, as a cache that can be dropped.

One integer a URL says all that a found link must be held against: the page's number (below 2^32), the group of links
it came from, how near it was found, how it is spelled, and whether it was handed out. What was found or changed lately
is in a dict, some 120 bytes a URL; all else in two sorted arrays, 16 bytes a URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlers.algorithms.ranking.link_groups import MOST_GROUPS

if TYPE_CHECKING:
    from collections.abc import Sequence

TAKEN = 1  # leased at least once, or ended: nothing about it can be improved any more
TOO_DEEP = 2  # rejected for its level alone
_SPELLING_SHIFT = 2
_SPELLING_MASK = 0b11
_RANK_SHIFT = 4
_RANK_BITS = 20
_RANK_MASK = (1 << _RANK_BITS) - 1
_GROUP_SHIFT = _RANK_SHIFT + _RANK_BITS
MAX_GROUP = MOST_GROUPS - 1  # the greatest number of a site's groups of links
_GROUP_MASK = (1 << MAX_GROUP.bit_length()) - 1
_ID_SHIFT = _GROUP_SHIFT + MAX_GROUP.bit_length()
_HOPS_BITS = 5
LEAST_SETTLED = 64  # URLs in the dict; arrays are not made anew for fewer
_SETTLED_SHIFT = 3  # nor for less than an eighth of what they hold, so that each URL is copied some eight times
_NONE = np.empty(0, dtype=np.int64)
MAX_LEVEL = (1 << (_RANK_BITS - _HOPS_BITS)) - 1  # 32,767 clicks from the home page


def rank(level: int, hops: int) -> int:
    """Nearness as one number: the level first, then the redirects within it."""
    return level << _HOPS_BITS | hops


def pack(page_id: int, group: int, nearness: int, variant: int, flags: int) -> int:
    """
    >>> value = pack(7, 3, rank(2, 1), 1, TAKEN)
    >>> id_of(value), link_group_of(value), rank_of(value) == rank(2, 1), variant_of(value), bool(value & TAKEN)
    (7, 3, True, 1, True)
    """
    return page_id << _ID_SHIFT | group << _GROUP_SHIFT | nearness << _RANK_SHIFT | variant << _SPELLING_SHIFT | flags


def id_of(value: int) -> int:
    """The number of the page."""
    return value >> _ID_SHIFT


def link_group_of(value: int) -> int:
    """The group of links that it was first found in."""
    return value >> _GROUP_SHIFT & _GROUP_MASK


def rank_of(value: int) -> int:
    """The nearness, as `rank` made it."""
    return value >> _RANK_SHIFT & _RANK_MASK


def variant_of(value: int) -> int:
    """The rank among the spellings, see `urls.spelling_rank`."""
    return value >> _SPELLING_SHIFT & _SPELLING_MASK


class UrlCache:
    """Key -> packed value.

    *lately* has what was found or changed since the arrays were made, and goes before them; its owner writes to it.
    *is_complete* means that a missing key is a new URL; otherwise the store must be asked. *urls* has the
    spelling of those waiting or too deep URLs whose rank among the spellings does not say which of two is better.
    """

    __slots__ = ("_keys", "_values", "is_complete", "lately", "urls")

    def __init__(self) -> None:
        self.lately: dict[int, int] = {}
        self.urls: dict[int, str] = {}
        self.is_complete = True
        self._keys, self._values = _NONE, _NONE

    def __len__(self) -> int:
        """How many URLs are known; one that changed since the arrays were made counts twice."""
        return len(self.lately) + len(self._keys)

    def settled(self, keys: Sequence[int]) -> dict[int, int]:
        """Those of *keys* that are in the arrays, as they were when these were made."""
        if not keys or not len(self._keys):
            return {}
        asked = np.array(keys, dtype=np.int64)
        places = np.searchsorted(self._keys, asked)
        places[places == len(self._keys)] = 0
        is_there = self._keys[places] == asked
        return dict(zip(asked[is_there].tolist(), self._values[places[is_there]].tolist(), strict=True))

    def known(self, keys: Sequence[int]) -> dict[int, int]:
        """Those of *keys* that are known."""
        return self.settled(keys) | {key: self.lately[key] for key in keys if key in self.lately}

    def settle(self) -> None:
        """Move what is in the dict to the arrays, if that is enough to be worth it."""
        if len(self.lately) >= max(LEAST_SETTLED, len(self._keys) >> _SETTLED_SHIFT):
            self._merge()

    def _merge(self) -> None:
        keys = np.fromiter(self.lately, np.int64, len(self.lately))
        values = np.fromiter(self.lately.values(), np.int64, len(self.lately))
        order = np.argsort(keys)
        keys, values = keys[order], values[order]
        places = np.searchsorted(self._keys, keys)
        is_there = np.zeros(len(keys), dtype=np.bool_)
        within = places < len(self._keys)
        is_there[within] = self._keys[places[within]] == keys[within]
        self._values[places[is_there]] = values[is_there]
        is_new = ~is_there
        self._keys = np.insert(self._keys, places[is_new], keys[is_new])
        self._values = np.insert(self._values, places[is_new], values[is_new])
        self.lately = {}

    def forget(self) -> None:
        """Drop what was neither found for the first time nor changed since the arrays were made."""
        if len(self._keys):
            self.is_complete = False
            self.urls = {key: url for key, url in self.urls.items() if key in self.lately}
            self._keys, self._values = _NONE, _NONE
        self._merge()
