"""The known URLs of a site, as a cache that can be dropped.

One integer per URL contains everything that a found link is compared with: the page's number (below 2^32), its
place, and whether it was leased. URLs that were found or changed recently are in a dict, some 120 bytes
a URL; all others in a hash table of two arrays, 24 to 48 bytes a URL.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

ARBITRARY_VARIANT = 2  # see resolution.variant_rank: of several from this rank on, the least URL is requested
TAKEN = 1  # leased at least once, or ended: it can no longer be improved
REVIVABLE = 2  # rejected, but a shorter path or another run may revive it
_VARIANT_BITS, _HOPS_BITS, _LEVEL_BITS = 2, 5, 15
PLACE_SHIFT, _PLACE_BITS = 2, _VARIANT_BITS + _HOPS_BITS + _LEVEL_BITS
PLACE_MASK = (1 << _PLACE_BITS) - 1
ID_SHIFT = PLACE_SHIFT + _PLACE_BITS
MAX_LEVEL = (1 << _LEVEL_BITS) - 1  # 32,767 clicks from the start URL
MIN_MERGED = 64  # URLs in the dict before they are merged into the table
_MERGED_SHIFT = 3  # and at least an eighth of those in the table
_STEP_SHIFT = 32  # keys are hashes: their low bits name a slot, their high bits the way to the next ones, so that no
# site can make many URLs that are looked for in the same slots


# The integer of a row of the table `page`, as computed by `pack`, in SQL. PostgreSQL does not widen integers by itself.
PACKED_SQL = (
    f"(CAST(id AS BIGINT) << {ID_SHIFT}) + "
    f"(((CAST(level AS BIGINT) << {_HOPS_BITS}) + hops) << {_VARIANT_BITS + PLACE_SHIFT}) + "
    f"(variant << {PLACE_SHIFT}) + ({{flags}})"
)


def place_of(level: int, hops: int, variant: int = 0) -> int:
    """Return the place among the ways to a page: the least level first, then the fewest redirects, then the variant.

    The *variant* is its rank by `resolution.variant_rank`.
    """
    return (level << _HOPS_BITS | hops) << _VARIANT_BITS | variant


def pack(page_id: int, level: int, hops: int, variant: int, flags: int) -> int:
    """Return the integer of a URL.

    >>> value = pack(7, 2, 1, 1, TAKEN)
    >>> id_of(value), place_in(value) == place_of(2, 1, 1), bool(value & TAKEN)
    (7, True, True)
    """
    return page_id << ID_SHIFT | ((level << _HOPS_BITS | hops) << _VARIANT_BITS | variant) << PLACE_SHIFT | flags


def id_of(value: int) -> int:
    """Return the number of the page."""
    return value >> ID_SHIFT


def place_in(value: int) -> int:
    """Return the place, as computed by `place_of`."""
    return value >> PLACE_SHIFT & PLACE_MASK


class UrlCache:
    """Maps keys to packed values.

    *lately* contains URLs that were found or changed since they were last merged into the table, and precedes it; its
    owner writes to it. *is_complete* means that a missing key is a new URL; otherwise the store must be queried.
    *urls* contains the URLs of waiting or too deep pages whose variant rank does not determine which of two variants is
    better.
    """

    __slots__ = ("_keys", "_merged", "_values", "is_complete", "lately", "urls")

    def __init__(self, expected: int = 0) -> None:
        self.lately: dict[int, int] = {}
        self.urls: dict[int, str] = {}
        self.is_complete = True
        self._clear(expected)

    def _clear(self, expected: int = 0) -> None:
        """Empty the table, which has room for as many URLs as are *expected*."""
        self._merged = 0
        self._keys, self._values = _slots(expected), _slots(expected)

    def __len__(self) -> int:
        """Return the number of known URLs; a URL that changed since it was merged counts twice."""
        return len(self.lately) + self._merged

    def merged_values(self, keys: Iterable[int]) -> dict[int, int]:
        """Return the values of *keys* in the table, as of the time at which they were merged."""
        slots, values, mask = self._keys, self._values, len(self._keys) - 1
        found = {}
        for key in keys:
            at = key & mask
            while slots[at] != key and values[at]:
                at = at + (key >> _STEP_SHIFT | 1) & mask
            if value := values[at]:
                found[key] = value
        return found

    def values_of(self, keys: Collection[int]) -> dict[int, int]:
        """Return the values of those *keys* that are known."""
        lately = self.lately
        known = {key: lately[key] for key in keys if key in lately}
        return known | self.merged_values(key for key in keys if key not in known) if self._merged else known

    def merge_if_large(self) -> None:
        """Move the dict into the table if it is large enough."""
        if len(self.lately) >= max(MIN_MERGED, self._merged >> _MERGED_SHIFT):
            self._merge()

    def _merge(self) -> None:
        self.merge(self.lately)
        self.lately = {}

    def merge(self, known: Mapping[int, int]) -> None:
        """Add URLs to the table."""
        needed = self._merged + len(known)
        if 3 * needed > 2 * len(self._keys):  # searches are short while a third of it is free
            before = zip(self._keys, self._values, strict=True)
            self._keys, self._values = _slots(needed), _slots(needed)
            self._put((key, value) for key, value in before if value)
        self._merged += self._put(known.items())

    def _put(self, items: Iterable[tuple[int, int]]) -> int:
        """Write *items* to the table; return how many of the keys were not there."""
        slots, values, mask = self._keys, self._values, len(self._keys) - 1
        new = 0
        for key, value in items:
            at = key & mask
            while slots[at] != key and values[at]:
                at = at + (key >> _STEP_SHIFT | 1) & mask
            new += not values[at]
            slots[at], values[at] = key, value
        return new

    def forget(self) -> None:
        """Drop the URLs that were neither found for the first time nor changed since they were merged."""
        if self._merged:
            self.is_complete = False
            self.urls = {key: url for key, url in self.urls.items() if key in self.lately}
            self._clear()
        self._merge()


def _slots(number: int) -> array[int]:
    """Return empty slots for a *number* of URLs."""
    return array("q", bytes(8 << (3 * number // 2).bit_length()))
