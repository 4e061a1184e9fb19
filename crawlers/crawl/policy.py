"""What a mission decides of its URLs and pages, and what it may do to its crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from crawlers.errors import CrawlersError
    from crawlers.frontier.protocols import Lease
    from crawlers.items import Page, Target


class CrawlPolicy:
    """The policy of a mission that wants nothing special; others override the methods that they need.

    A policy is made when the crawl is open (`SiteSpider.crawl_policy`), so it may read the store from its first moment.
    """

    @property
    def is_ready(self) -> bool:
        """Whether pages may be requested."""
        return True

    def reason_against(self, target: Target) -> str | None:
        """Why a URL that was never seen before is not to be fetched, or None; asked once a URL."""
        return None

    def reason_to_skip(self, lease: Lease) -> str | None:
        """Why a leased URL is not to be requested after all, or None."""
        return None

    def ending(self, lease: Lease, page: Page, now: float) -> None:
        """Complete *page*, whose lease is about to end, whatever came of it."""

    def found_by_robots(self, text: str) -> list[str]:
        """The URLs that are to be fetched because the robots.txt *text* names them."""
        return []


class CrawlControl(Protocol):
    """What a mission may do to its crawl while it runs."""

    @property
    def failure(self) -> BaseException | None:
        """Why the crawl ends early; None: it does not."""

    def give_up(self, error: CrawlersError, reason: str = "store_failed") -> None:
        """End the crawl because of *error*, which is reported; what is stored stays."""

    def go_on(self) -> None:
        """Request pages: the policy is ready."""
