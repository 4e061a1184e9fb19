"""The frontier's contract: what waits, and what is fetched next.

The life of a URL: `add` (or a page's links, in `acknowledge`) makes it wait; `lease` hands it out when
rule, order and politeness allow; the lease ends by `acknowledge`, when everything learnt from the page
is written, or by `release`, when it goes back to wait. A process that dies loses its leases, and the
URLs wait again. Time comes in as *now*, in seconds of any clock that only goes forward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crawlers.items import State

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawlers.frontier.frontier_store import PreviousVisit
    from crawlers.frontier.politeness import HostGate
    from crawlers.items import Page, QueueSlot, Target


class Candidate(NamedTuple):
    """A URL that wants to be fetched."""

    site_id: int
    target: Target
    level: int = 0  # clicks from the home page
    hops: int = 0  # redirects followed within the level
    found_on: int | None = None  # page id
    request: str | None = None  # JSON of a request that is more than its URL
    place: QueueSlot | None = None  # where it waits, under an order with places


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
    previous: PreviousVisit | None = None  # what the last visit left, of a page that was fetched before

    @property
    def is_revisit(self) -> bool:
        """Whether the page was fetched before: it may have changed."""
        return self.previous is not None


@dataclass(slots=True)
class SiteState:
    """What the frontier must know of a site before its first candidate."""

    id: int
    site: str  # scheme://host[:port]
    parallel: int  # leases at a time, >= 1
    delay_s: float  # seconds between the starts of two leases
    max_level: int | None = None  # deepest level fetched, inclusive
    is_new: bool = False  # nothing of it is stored yet: there is nothing to ask for


class Earned(NamedTuple):
    """What a page brought: its reward >= 0, and the keys that no page of its site will be paid for again."""

    reward: float = 0.0
    keys: Collection[int] = ()


NOTHING = Earned()
Counts = dict[State, int]
Position = tuple[float, int]  # priority and number of a page, among those that wait on a site
BEFORE_ALL: Position = (float("-inf"), 0)
SeenPage = tuple[int, str | None, float | None]  # number, reason and time of the last visit


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


class SiteControl(Protocol):
    """What a scheduler does to the sites of its frontier."""

    def open_site(self, state: SiteState, now: float) -> None:
        """Make a site known; on a resumed crawl with all that it knew."""

    def recall_pulls(self, pulls: Iterable[tuple[int, int, float]]) -> int:
        """Tell the rules what earlier runs did, (site id, group, reward) in order; today's sites must be open.

        Returns how many pulls it was.
        """

    def gate(self, site_id: int) -> HostGate:
        """The politeness towards a site; what is changed holds from the next lease on."""

    def pause(self, site_id: int) -> None:
        """Hand out nothing of this site until `resume`."""

    def resume(self, site_id: int, now: float) -> None:
        """Hand out again."""

    def leased(self, page_id: int) -> Lease | None:
        """The open lease of a page."""

    def fetch_again(self, site: str, pages: Iterable[SeenPage], now: float) -> None:
        """Let *pages* of a site that were fetched, and don't come back, be fetched once more, and whole."""

    def place(self, page_id: int) -> QueueSlot | None:
        """Where a page waits, or waited when it was handed out; None under an order without places."""

    def place_again(
        self,
        site_id: int,
        site: str,
        place_of: Callable[[str, str], QueueSlot],
        now: float,
        after: Position = BEFORE_ALL,
    ) -> Position | None:
        """Let some waiting pages of a site, behind *after*, take the places that *place_of* gives them by site and URL.

        Returns behind which one to go on; None: all have their places.
        """


class FrontierStatus(Protocol):
    """What a scheduler must know to decide whether to wait, to go on or to end."""

    @property
    def leases(self) -> int:
        """How many URLs are handed out."""

    @property
    def has_pending(self) -> bool:
        """Whether anything will be leased sooner or later without further news."""

    @property
    def is_waiting(self) -> bool:
        """Whether any URL waits or is leased: the crawl is not finished."""

    def only_revisits(self, after: float) -> bool:
        """Whether nothing is leased, and all that waits are pages that come back *after* that time."""

    @property
    def is_spent(self) -> bool:
        """Whether the page budget is used up, whatever still waits."""

    def is_drained(self, site_id: int) -> bool:
        """Whether nothing of a site waits or is leased."""


class CrawlFrontier(Frontier, SiteControl, FrontierStatus, Protocol):
    """All that a crawl needs of its engine."""
