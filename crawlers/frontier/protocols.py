"""The frontier's contract: which URLs wait, and which are fetched next.

The life of a URL: `add` (or a page's links, in `acknowledge`) queues it; `lease` hands it out when rule, order
and politeness allow; the lease ends with `acknowledge`, which writes the results of the page, or with
`release`, which queues the URL again. A process that dies loses its leases, and their URLs wait again.
Time is the argument *now*, in seconds of any monotonic clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from crawlers.items import QueueSlot, State
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.worker_status import Wait

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
    from concurrent.futures import Future

    from crawlers.algorithms.slices import Slices
    from crawlers.frontier.frontier_store import PreviousVisit, QueueEntry, SiteStart
    from crawlers.frontier.politeness import HostGate
    from crawlers.items import Page, Target
    from crawlers.storage.order_parts import StoredPart
    from crawlers.storage.pulls import Pull
    from crawlers.storage.schema.message_tables import Message


class Candidate(NamedTuple):
    """A URL to be fetched."""

    site_id: int
    target: Target
    level: int = 0  # clicks from the home page
    hops: int = 0  # redirects followed within the level
    found_on: int | None = None  # page id
    request: str | None = None  # JSON of a request that is more than its URL
    slot: QueueSlot | None = None  # under an order with slots


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
    group: int = 0  # number of the site's group of links that it came from
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


class Earned(NamedTuple):
    """The earnings of a page: its reward >= 0, and the keys that earn no further reward on its site."""

    reward: float = 0.0
    keys: Collection[int] = ()


NOTHING = Earned()


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of a mission about a fetched page."""

    page: Page  # as it is to be stored
    # Under an order with slots, by key: those of its links that are new; known ones that still wait are moved there.
    slots: Mapping[int, QueueSlot] = field(default_factory=dict)
    revisit_at: float | None = None  # None: no scheduled revisit
    records_changes: bool = True  # keep the differences to the previous visit; of polls only new links matter
    changes: ChangeSet = field(default_factory=ChangeSet)  # rows of the mission, committed with the page


class Acknowledged(NamedTuple):
    """The result of an acknowledgement."""

    new: int  # URLs that were never seen before
    page: Page  # as it was stored: redirects in a loop have failed


class Choices(NamedTuple):
    """How often the site rule was asked for a site, by the outcome."""

    chosen: int = 0
    waited: int = 0  # for a better site, or for results
    nothing_ready: int = 0


Counts = dict[State, int]
Position = tuple[float, int]  # priority and number of a page, among those that wait on a site
BEFORE_ALL: Position = (float("-inf"), 0)
SeenPage = tuple[int, str | None, float | None]  # number, reason and time of the last visit


class Frontier(Protocol):
    """The queue operations of an engine; all engines pass the test suite tests/contracts."""

    def add(self, candidates: Iterable[Candidate], now: float, changes: ChangeSet | None = None) -> int:
        """Queue *candidates*; return the number of new ones. Known URLs that still wait may get a lower level or a
        better variant. What belongs to them, such as the rows of new sites, is given as *changes*, and committed with
        them."""

    def lease(self, now: float, n: int) -> list[Lease]:
        """Return up to *n* URLs that may be fetched now, in the order of rule and order."""

    def acknowledge(self, lease: Lease, decision: Decision, now: float, earned: Earned = NOTHING) -> Acknowledged:
        """End the lease with its results: the page, its links, its reward.

        If the page redirects to another variant of its own URL, that variant is queued instead.
        """

    def acknowledging(
        self, lease: Lease, decision: Decision, now: float, earned: Earned = NOTHING
    ) -> Slices[Acknowledged]:
        """Return the work of `acknowledge` in slices of `SLICE_LINKS` links.

        The lease ends with the last one. Everything that is submitted from the first one to the last is one
        transaction. Meanwhile nothing is leased, and every other change of the frontier does what is left first.
        """

    def reserve(self, count: int) -> Future[Any] | None:
        """Get the numbers of *count* new pages ready; return what `acknowledge` would wait for without that, if any."""

    def release(self, lease: Lease, not_before: float, reason: str = "", *, failed: bool = False) -> None:
        """Queue the URL again, not to be leased before *not_before*; *failed* counts as an attempt."""

    def next_due(self, now: float) -> float | None:
        """Return the seconds until something may be leased; None if nothing will be without a further event."""

    def counts(self) -> dict[int, Counts]:
        """Return the numbers of pages by site id and state; leased ones count as waiting."""


class Budget(Protocol):
    """What this worker may still pull, and has pulled. With a page budget, nothing is leased before the first grant."""

    def grant(self, total: int) -> None:
        """Allow *total* pulls since the frontier was created; -1: any number. Less than before has no effect."""

    def limit(self, block: int) -> int:
        """Allow at most *block* pulls from now on; return the number allowed since the frontier was created."""

    def index_share(self, now: float) -> float:
        """Return the share of the best index that a site needs to be fetched from now, in [0, 1]; 0: any site may be.

        It is 0 unless the crawl has a budget, waits for better sites, and is not behind the pace of its time limit.
        """

    @property
    def is_spent(self) -> bool:
        """Whether the pulls that were granted are used up, even if URLs still wait."""

    @property
    def has_room(self) -> bool:
        """Whether what was granted allows another pull now, besides those in flight."""

    @property
    def has_pulled(self) -> bool:
        """Whether any pull has ended since the frontier was created."""


class SiteControl(Protocol):
    """The operations of a scheduler on the sites of its frontier."""

    def add_elsewhere(self, names: Iterable[str]) -> None:
        """Let links to these sites of the crawl, as long as they are not open here, be sent as messages."""

    def drop_elsewhere(self, names: Iterable[str]) -> None:
        """Send no more messages to these sites: they are none of the crawl after all."""

    def share(self, parts: Mapping[int, StoredPart], now: float) -> None:
        """Take up what the order's *parts* say about the pages of other workers, and the cash that this one got."""

    def send(self, targets: Iterable[Target], slot: QueueSlot | None, now: float, changes: ChangeSet) -> None:
        """Add the rows to *changes* that let the workers of the sites of *targets* queue these, on level 0.

        The sites must be sites of the crawl, or added by *changes*.
        """

    def receive(self, messages: Iterable[Message], now: float) -> None:
        """Take up *messages* to open sites, in this order; others are ignored. None is taken up twice."""

    def numbers_known(self, site_ids: Collection[int]) -> Mapping[int, int]:
        """Return how many URLs the store knows of each of the sites, without those of which it knows none.

        May be called in any thread; takes a hundredth of the time of `load_sites`.
        """

    def load_sites(self, site_ids: Sequence[int]) -> list[SiteStart]:
        """Return everything that the store knows of each of these sites, which are not open; for any thread."""

    def open_site(self, state: SiteState, now: float, start: SiteStart | None = None) -> None:
        """Add a site with everything that is known of it: *start*, as returned by `load_sites`, which None calls.

        Everything that was submitted of the site must be committed. Raises `FrontierError` if the site is open.
        """

    def close_site(self, site_id: int, now: float) -> ChangeSet:
        """Forget a site, and return the row that gives it up; once that is committed, anyone may open the site.

        It continues from its rows as if it had stayed open, except for the delay that its host has earned by refusals.
        Any later call that names the site is a `FrontierError`, and so is this one if a URL of the site is leased.
        """

    def first_found(self, site_id: int, targets: Iterable[Target], level: int) -> set[int]:
        """Return the keys of those of the *targets* on a site to which no page leads on a lower level than *level*."""

    def spare_sites(self, count: int, busy: Container[int] = ()) -> list[int]:
        """Return up to *count* sites that others may crawl instead, the best to give up first.

        On all of them something waits, and one more such site stays. First come those without a lease in this run, then
        those whose last lease is longest ago; those with open leases come last, and can't be closed yet. Sites that are
        *busy* outside the frontier are left out; paused ones are not.
        """

    def register_sites(self, site_ids: Iterable[int]) -> None:
        """Number the arms of the site rule in the order of *site_ids*, before their sites are opened here or elsewhere.

        A rule decides ties by these numbers, so all workers of a crawl should register the same sites.
        """

    def learn(self, pulls: Iterable[Pull]) -> int:
        """Report pulls of earlier runs or of other workers to the site rule, and to an order that learns, in order.

        A site that is opened later has its history already; the rule of its groups receives it from `load_sites`.
        Returns the number of pulls.
        """

    def gate(self, site_id: int) -> HostGate:
        """Return the politeness of a site; changes apply from the next lease on."""

    def pause(self, site_id: int, *, is_awaited: bool = False, wait: Wait = Wait.ROBOTS) -> None:
        """Lease nothing of this site until `resume`; people are told that it waits for *wait*.

        A crawl that waits for good sites waits if it *is_awaited*.
        """

    def resume(self, site_id: int, now: float) -> None:
        """Allow leases of this site again."""

    def leased(self, page_id: int) -> Lease | None:
        """Return the open lease of a page; None if it is not leased."""

    def fetch_again(self, site: str, pages: Iterable[SeenPage], now: float) -> None:
        """Queue fetched *pages* of a site for one more complete fetch.

        A scheduled revisit is due at once; a revisit in flight is followed by another one.
        """

    def has_unread(self, site_id: int) -> bool:
        """Return whether any page of a site waits for its first download."""

    def slot(self, page_id: int) -> QueueSlot | None:
        """Return the queue slot of a page, or its last one if it is leased; None under an order without slots."""

    def unseen(self, targets: Iterable[Target], level: int) -> list[Target]:
        """Return those of the *targets*, found on *level*, that are new and may be fetched, each once."""

    def waiting(self, site_id: int, after: Position = BEFORE_ALL) -> Callable[[], Sequence[QueueEntry]]:
        """Return the query for some waiting pages of a site, behind *after*, for `requeue`; for any thread.

        It sees what is committed.
        """

    def requeue(
        self,
        site_id: int,
        site: str,
        pages: Sequence[QueueEntry],
        slot_of: Callable[[str, str], QueueSlot],
        now: float,
    ) -> Position | None:
        """Move *pages* that `waiting` found, and that still wait, to the slots that *slot_of* returns for site and URL.

        Returns the position to continue from; None if there are no more.
        """


class FrontierStatus(Protocol):
    """The status by which a scheduler decides whether to wait, to continue or to end."""

    @property
    def leases(self) -> int:
        """The number of leased URLs."""

    @property
    def has_pending(self) -> bool:
        """Whether anything will be leased sooner or later without a further event."""

    @property
    def is_waiting(self) -> bool:
        """Whether any URL of the open sites waits, whenever it is due, or is leased."""

    @property
    def waiting_sites(self) -> int:
        """The number of open sites with URLs that wait or are leased."""

    @property
    def waits(self) -> Mapping[Wait, int]:
        """The numbers of open sites by what they wait for; O(1)."""

    def best_index(self, now: float) -> float | None:
        """Return the greatest index of the sites that can be fetched from soon; None if there are none.

        Infinite while a site has initial pages left. Rules without an index count all sites as equal: 0.
        """

    def only_revisits(self, after: float, *, with_paused: bool = True) -> bool:
        """Whether nothing is leased, and all waiting pages are revisits that are due *after* that time.

        The pages of paused sites count only *with_paused*.
        """

    def is_drained(self, site_id: int) -> bool:
        """Whether nothing of a site waits or is leased."""

    @property
    def choices(self) -> Choices:
        """The choices of the site rule until now."""

    def site_ids(self) -> list[int]:
        """Return the numbers of the open sites. O(sites), but 20,000 take less than a millisecond."""

    def sum_of(self, site_ids: Iterable[int]) -> Counter[State]:
        """Return the numbers of pages by state, as `counts`, of those *site_ids* together that are open."""


class CrawlFrontier(Frontier, SiteControl, FrontierStatus, Protocol):
    """The complete interface of an engine."""

    @property
    def budget(self) -> Budget:
        """The pulls that this worker is granted, and those that it has made."""
