"""The changes of the town during a crawl: determined by numbers of requests, never by a clock.

*requests* counts the previous requests by (site, path); every change is a function of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    RequestCounts = Mapping[tuple[str, str], int]

FRONT = ("news", "/")
EDITION_REQUESTS = 3  # after this many requests for the front page of the news, it changes
HEADLINES = 8  # stories of an edition; each edition adds one and drops one
KEPT = 6  # editions for which a story remains after its last headline

# The garden's offer: gone after this many requests, although the home page still links to it.
OFFER = ("gardening", "/offer.html")
OFFER_REQUESTS = 4

# The diary's new page: it appears, with a link, after this many requests for the diary's home page.
ENTRY = ("diary", "/spring.html")
ENTRY_AFTER_REQUESTS = 4


def edition(requests: RequestCounts) -> int:
    """Return the edition of the news front page, counted from 0."""
    return requests.get(FRONT, 0) // EDITION_REQUESTS


def headlines(requests: RequestCounts) -> range:
    """Return the numbers of the stories linked from the front page."""
    return range(edition(requests), edition(requests) + HEADLINES)


def has_story(number: int, requests: RequestCounts) -> bool:
    """Return whether story *number* has appeared and is not yet removed."""
    return edition(requests) - KEPT <= number < edition(requests) + HEADLINES


def has_offer(requests: RequestCounts) -> bool:
    """Return whether the garden's offer still exists."""
    return requests.get(OFFER, 0) < OFFER_REQUESTS


def has_entry(requests: RequestCounts) -> bool:
    """Return whether the diary's new page exists."""
    return requests.get((ENTRY[0], "/"), 0) >= ENTRY_AFTER_REQUESTS
