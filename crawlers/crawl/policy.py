"""The decisions of a mission about its URLs and pages, and its control over the running crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from crawlers.frontier.protocols import Decision

if TYPE_CHECKING:
    from crawlers.errors import CrawlersError
    from crawlers.frontier.protocols import Lease
    from crawlers.items import Page, Target


class CrawlPolicy:
    """The default policy; missions override the methods that they need.

    A policy is created when the crawl is open (`SiteSpider.crawl_policy`), so it may read the store at once.
    """

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

    def found_by_robots(self, text: str) -> list[str]:
        """Return the URLs to fetch because the robots.txt *text* names them."""
        return []


class CrawlControl(Protocol):
    """The running crawl, as its mission may control it."""

    @property
    def failure(self) -> BaseException | None:
        """The error that ends the crawl early; None if there is none."""

    def abort(self, error: CrawlersError, reason: str = "store_failed") -> None:
        """Report *error*, and end the crawl; everything stored is kept."""

    def resume(self) -> None:
        """Request pages, because the policy is now ready."""
