"""The frontier's contract: what waits, and what is fetched next.

The life of a URL: `add` (or a page's links, in `acknowledge`) makes it wait; `lease` hands it out when
rule, order and politeness allow; the lease ends by `acknowledge`, when everything learnt from the page
is written, or by `release`, when it goes back to wait. A process that dies loses its leases, and the
URLs wait again. Time comes in as *now*, in seconds of any clock that only goes forward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crawlers.frontier.pulls import NOTHING
from crawlers.items import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.frontier.pulls import Earned
    from crawlers.items import Page, Target


class Candidate(NamedTuple):
    """A URL that wants to be fetched."""

    site_id: int
    target: Target
    level: int = 0  # clicks from the home page
    hops: int = 0  # redirects followed within the level
    found_on: int | None = None  # page id
    request: str | None = None  # JSON of a request that is more than its URL


@dataclass(slots=True)
class Lease:
    """A URL in flight. Its page id is its name; attempts counts the earlier failures."""

    id: int
    site_id: int
    key: int
    url: str
    level: int
    hops: int
    attempts: int
    request: str | None
    leased_at: float
    group: int = 0  # which of its site's groups of links it came from


@dataclass(slots=True)
class SiteState:
    """What the frontier must know of a site before its first candidate."""

    id: int
    parallel: int  # leases at a time, >= 1
    delay_s: float  # seconds between the starts of two leases
    max_level: int | None = None  # deepest level fetched, inclusive


Counts = dict[State, int]


class Frontier(Protocol):
    """One small protocol, several engines, one test suite that all of them pass (tests/contracts)."""

    def add(self, candidates: Iterable[Candidate], now: float) -> int:
        """How many were new. A known one that still waits may gain a shorter level or a better spelling."""

    def lease(self, now: float, n: int) -> list[Lease]:
        """Up to *n* candidates that may be fetched now, in the order of rule and order."""

    def acknowledge(self, lease: Lease, page: Page, now: float, earned: Earned = NOTHING) -> int:
        """End the lease with what was learnt: the page, its links, its reward. Returns how many URLs were new."""

    def release(self, lease: Lease, not_before: float, reason: str = "", *, failed: bool = False) -> None:
        """The URL waits again, until *not_before*; *failed* counts as an attempt."""

    def next_due(self, now: float) -> float | None:
        """Seconds until something may be leased; None when nothing will be without further news."""

    def counts(self) -> dict[int, Counts]:
        """Per site id and state, leased ones as waiting."""
