"""The changes of the town during a crawl: determined by numbers of requests, never by a clock.

*asked* counts the previous requests by (site, path); every change is a function of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    Asked = Mapping[tuple[str, str], int]

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


def edition(asked: Asked) -> int:
    """Return the edition of the news front page, counted from 0."""
    return asked.get(FRONT, 0) // EDITION_REQUESTS


def headlines(asked: Asked) -> range:
    """Return the numbers of the stories linked from the front page."""
    return range(edition(asked), edition(asked) + HEADLINES)


def has_story(number: int, asked: Asked) -> bool:
    """Return whether story *number* has appeared and is not yet removed."""
    return edition(asked) - KEPT <= number < edition(asked) + HEADLINES


def has_offer(asked: Asked) -> bool:
    """Return whether the garden's offer still exists."""
    return asked.get(OFFER, 0) < OFFER_REQUESTS


def has_entry(asked: Asked) -> bool:
    """Return whether the diary's new page exists."""
    return asked.get((ENTRY[0], "/"), 0) >= ENTRY_AFTER_REQUESTS
