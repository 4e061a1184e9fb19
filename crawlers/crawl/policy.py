"""The decisions of a mission about its URLs and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.frontier.values import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from crawlers.frontier.values import Lease
    from crawlers.items import Page, Target
    from crawlers.store.reader_threads import Run
    from crawlers.store.schema.message_tables import Message
    from crawlers.store.sites.site_rows import SiteRow


class CrawlPolicy:
    """The default policy; missions override the methods that they need.

    A policy is created when the crawl is open (`SiteSpider.crawl_policy`), so it may read the store at once.
    """

    def load_sites(self, rows: Sequence[SiteRow]) -> Callable[[float], None]:
        """Read what the mission needs of sites that are about to be opened; may be called in any thread.

        Returns a function of the time that takes it up, as soon as the sites are open. Sites that are new in the store
        are not announced.
        """
        return lambda now: None

    def close_sites(self, site_ids: Collection[int]) -> None:
        """Forget sites that another worker may open from now on."""

    async def divide_work(self, others: int, run: Run, now: float) -> None:
        """Share what the crawl has only once with *others* workers; called about every second."""

    async def receive(self, messages: Sequence[Message], run: Run, now: float) -> Sequence[Message]:
        """Return the *messages* of other workers as they are to be taken up."""
        return messages

    @property
    def has_more(self) -> bool:
        """Whether the mission may still queue pages: the crawl is not over although none waits."""
        return False

    @property
    def is_queueing(self) -> bool:
        """Whether the mission may queue pages before any that waits now is fetched."""
        return False

    @property
    def is_ready(self) -> bool:
        """Whether pages may be requested."""
        return True

    def reason_against(self, target: Target) -> str | None:
        """Return why a new URL must not be fetched, or None; called once per URL."""
        return None

    def reason_to_skip(self, lease: Lease) -> str | None:
        """Return why a leased URL must not be requested after all, or None."""
        return None

    def decide(self, lease: Lease, page: Page, now: float) -> Decision:
        """Return the decision about *page*, in whatever state, with which its lease will end."""
        return Decision(page)

    def found_by_robots(self, sitemaps: list[str]) -> list[str]:
        """Return the URLs to fetch among the *sitemaps* that a robots.txt names."""
        return []
