"""What changes in the town while it is being visited: told by numbers of requests, never by a clock.

*asked* says of each (site, path) how often it was asked for before: what comes is a function of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    Asked = Mapping[tuple[str, str], int]

FRONT = ("news", "/")
EDITION_REQUESTS = 3  # after so many requests for the front page of the news it is a new one
HEADLINES = 8  # stories of an edition: each adds one and drops one
KEPT = 6  # editions that a story stays for once no headline leads to it

# The garden's offer: gone for ever after so many requests, though its home page goes on to link to it.
OFFER = ("gardening", "/offer.html")
OFFER_REQUESTS = 4

# The diary's new page: not there until the diary's home page, which then links to it, was asked for so often.
ENTRY = ("diary", "/spring.html")
ENTRY_AFTER_REQUESTS = 4


def edition(asked: Asked) -> int:
    """Return which edition the front page of the news is in, from 0."""
    return asked.get(FRONT, 0) // EDITION_REQUESTS


def headlines(asked: Asked) -> range:
    """Return the numbers of the stories that the front page leads to."""
    return range(edition(asked), edition(asked) + HEADLINES)


def has_story(number: int, asked: Asked) -> bool:
    """Whether story *number* has appeared, and is not yet taken down."""
    return edition(asked) - KEPT <= number < edition(asked) + HEADLINES


def has_offer(asked: Asked) -> bool:
    """Whether the garden's offer still stands."""
    return asked.get(OFFER, 0) < OFFER_REQUESTS


def has_entry(asked: Asked) -> bool:
    """Whether the diary's new page is there."""
    return asked.get((ENTRY[0], "/"), 0) >= ENTRY_AFTER_REQUESTS
