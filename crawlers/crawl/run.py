"""A mission at work: what it reads of responses, and what it decides about its URLs and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.frontier.values import Decision

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from crawlers.frontier.values import IncomingLink, Lease
    from crawlers.items import Page, Target
    from crawlers.pages.response import ResponseReader, WebResponse
    from crawlers.store.reader_threads import InThread
    from crawlers.store.sites.site_opening import SiteRow

    Fetch = Callable[[str], Awaitable[WebResponse]]  # of a URL that a person named


class Run:
    """The default mission reads pages with *reader*, large ones *in_thread*; others override what they need.

    It is created when the crawl is open (`CrawlSpec.open`), so it may read the store at once. Without a *reader* it
    reads nothing: plain Scrapy spiders do so themselves.
    """

    is_ready = True  # pages may be requested

    def __init__(self, reader: ResponseReader | None, in_thread: InThread) -> None:
        self._reader = reader
        self._in_thread = in_thread

    # The crawl ----------------------------------------------------------------------------------------

    async def begin(self, fetch: Fetch) -> None:
        """Prepare, if it isn't ready yet; *fetch* downloads what a person named."""

    async def step(self, others: int, now: float) -> None:
        """Work between pages, and share what the crawl has only once with *others* workers; about every second."""

    @property
    def has_more(self) -> bool:
        """Whether the mission may still queue pages before any that waits is fetched.

        Then a crawl does not end early while only later revisits wait; one in which nothing waits ends nevertheless.
        """
        return False

    async def close(self) -> None:
        """End what was begun; the store may be closed."""

    # Its sites ----------------------------------------------------------------------------------------

    def load_sites(self, rows: Sequence[SiteRow]) -> Callable[[float], None]:
        """Read what the mission needs of sites that are about to be opened; may be called in any thread.

        Returns a function of the time that takes it up, as soon as the sites are open. Sites that are new in the store
        are not announced.
        """
        return lambda now: None

    def close_sites(self, site_ids: Collection[int]) -> None:
        """Forget sites that another worker may open from now on."""

    async def receive(self, links: Sequence[IncomingLink], now: float) -> Sequence[IncomingLink]:
        """Return the *links* from pages of other workers as they are to be taken up."""
        return links

    def found_by_robots(self, sitemaps: list[str]) -> list[str]:
        """Return the URLs to fetch among the *sitemaps* that a robots.txt names."""
        return []

    # Its pages ----------------------------------------------------------------------------------------

    def reason_against(self, target: Target) -> str | None:
        """Return why a new URL must not be fetched, or None; called once per URL."""
        return None

    def reason_to_skip(self, lease: Lease) -> str | Callable[[], Callable[[], None]] | None:
        """Return why a leased URL must not be requested after all; None; or a query as `RobotsPolicy.verdict` does."""
        return None

    def read(self, response: WebResponse, lease: Lease, now: float) -> Page | Awaitable[Page]:
        """Return the page in a *response*, with the facts that `decide` needs."""
        assert self._reader is not None
        return self._reader.read_or_wait(response, lease.id, lease.level, now, self._in_thread)

    def decide(self, lease: Lease, page: Page, now: float) -> Decision:
        """Return the decision about *page*, in whatever state, with which its lease will end."""
        return Decision(page)
