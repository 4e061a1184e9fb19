"""The values that a frontier takes and gives: candidates, leases, sites, rewards and decisions."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from crawlers.items import LinkPlace, QueueSlot, State
from crawlers.storage.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from crawlers.frontier.frontier_store import PreviousVisit
    from crawlers.items import Page, Target


class Candidate(NamedTuple):
    """A URL to be fetched."""

    site_id: int
    target: Target
    level: int = 0  # clicks from the home page
    hops: int = 0  # redirects followed within the level
    found_on: int | None = None  # page id
    request: str | None = None  # JSON of a request that is more than its URL
    slot: QueueSlot | None = None  # under an order with slots


class Origin(NamedTuple):
    """Where URLs were found together, and what is known of the links to them."""

    level: int  # theirs: clicks from the home page
    hops: int = 0  # redirects followed within the level
    found_on: int | None = None  # page id
    request: str | None = None  # JSON of a request that is more than its URL
    slots: Mapping[int, QueueSlot] = MappingProxyType({})  # by key, under an order with slots
    places: Mapping[int, LinkPlace] = MappingProxyType({})  # by key, what the page shows of them, if the order learns
    follows: int | None = None  # the page whose redirect leads to them


@dataclass(frozen=True, slots=True)
class Lease:
    """A URL in flight, identified by its page id; *attempts* counts the earlier failures."""

    id: int
    site_id: int
    key: int
    url: str
    level: int
    hops: int
    attempts: int
    request: str | None
    leased_at: float
    queue: int = 0  # the number of the queue of its site in which it waited
    previous: PreviousVisit | None = None  # of a page that was fetched before

    @property
    def is_revisit(self) -> bool:
        """Whether the page was fetched before: it may have changed."""
        return self.previous is not None


@dataclass(frozen=True, slots=True)
class SiteState:
    """The facts of a site that the frontier needs before its first candidate."""

    id: int
    site: str  # scheme://host[:port]
    parallel: int  # leases at a time, >= 1
    delay_s: float  # seconds between the starts of two leases
    max_level: int | None = None  # deepest level fetched, inclusive
    is_new: bool = False  # nothing of it is stored yet, so that the store need not be queried


class Reward(NamedTuple):
    """The reward of a page, >= 0, and the keys already counted on its site."""

    amount: float = 0.0
    keys: Collection[int] = ()


NO_REWARD = Reward()


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of a mission about a fetched page."""

    page: Page  # as it is to be stored
    # Under an order with slots, by key: those of its links that are new; known ones that still wait are moved there.
    slots: Mapping[int, QueueSlot] = field(default_factory=dict)
    revisit_at: float | None = None  # None: no scheduled revisit
    records_changes: bool = True  # keep the differences to the previous visit; of polls only new links matter
    changes: ChangeSet = field(default_factory=ChangeSet)  # rows of the mission, committed with the page


class AcknowledgedPage(NamedTuple):
    """The result of an acknowledgement."""

    new: int  # URLs that were never seen before
    page: Page  # as it was stored: redirects in a loop have failed


class RuleDecisions(NamedTuple):
    """How often the site rule was asked for a site, by the outcome."""

    chosen: int = 0
    waited: int = 0  # for a better site, or for results
    nothing_ready: int = 0


Counts = dict[State, int]
Position = tuple[float, int]  # priority and number of a page, among those that wait on a site
BEFORE_ALL: Position = (float("-inf"), 0)
SeenPage = tuple[int, str | None, float | None]  # number, reason and time of the last visit
