"""The URLs of a site that the crawl knows already, as a cache that can be dropped.

One integer a URL says all that a found link must be held against: the page's number, the group of links
it came from, how near it was found, how it is spelled, and whether it was handed out. Packed into one Python
int it costs no more than the number alone (of 268 million pages); with its key that is some 120 bytes a URL.
"""

from __future__ import annotations

from crawlers.algorithms.link_groups import MOST_GROUPS

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
MAX_LEVEL = (1 << (_RANK_BITS - _HOPS_BITS)) - 1  # 32,767 clicks from the home page


def rank(level: int, hops: int) -> int:
    """Nearness as one number: the level first, then the redirects within it."""
    return level << _HOPS_BITS | hops


def pack(page_id: int, group: int, nearness: int, spelling: int, flags: int) -> int:
    """
    >>> value = pack(7, 3, rank(2, 1), 1, TAKEN)
    >>> id_of(value), link_group_of(value), rank_of(value) == rank(2, 1), spelling_of(value), bool(value & TAKEN)
    (7, 3, True, 1, True)
    """
    return page_id << _ID_SHIFT | group << _GROUP_SHIFT | nearness << _RANK_SHIFT | spelling << _SPELLING_SHIFT | flags


def id_of(value: int) -> int:
    """The number of the page."""
    return value >> _ID_SHIFT


def link_group_of(value: int) -> int:
    """The group of links that it was first found in."""
    return value >> _GROUP_SHIFT & _GROUP_MASK


def rank_of(value: int) -> int:
    """The nearness, as `rank` made it."""
    return value >> _RANK_SHIFT & _RANK_MASK


def spelling_of(value: int) -> int:
    """The rank among the spellings, see `urls.spelling_rank`."""
    return value >> _SPELLING_SHIFT & _SPELLING_MASK


class SeenUrls:
    """Key -> packed value, in two generations: `age` drops the older one.

    *is_complete* means that a missing key is a new URL; otherwise the store must be asked. *urls* has the
    spelling of those waiting or too deep URLs whose rank among the spellings does not say which of two is better.
    """

    __slots__ = ("is_complete", "old", "urls", "young")

    def __init__(self) -> None:
        self.young: dict[int, int] = {}
        self.old: dict[int, int] = {}
        self.urls: dict[int, str] = {}
        self.is_complete = True

    def get(self, key: int) -> int | None:
        value = self.young.get(key)
        if value is None and self.old:
            value = self.old.get(key)
            if value is not None:
                self.young[key] = value
        return value

    def age(self) -> int:
        """Forget what was not used since the last call; return how many keys are left."""
        if self.old:
            self.is_complete = False
        self.old, self.young = self.young, {}
        self.urls = {key: url for key, url in self.urls.items() if key in self.old}
        return len(self.old)
