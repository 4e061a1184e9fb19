"""What a spider of ours may want to hear of its crawl; all of it is optional."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.spiders import Spider

    from crawlers.crawl.session import CrawlSession
    from crawlers.frontier.protocols import Lease
    from crawlers.items import Page, Target


class Hooks:
    """Calls the methods of *spider* that it has."""

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        self._ending: Callable[[Lease, Page, float], None] | None = None
        self._reason_against: Callable[[Target], str | None] = lambda target: None
        self._reason_to_skip: Callable[[Lease], str | None] = lambda lease: None

    @property
    def is_ready(self) -> bool:
        """Whether pages may be asked for."""
        return bool(getattr(self._spider, "is_ready", True))

    def opened(self, session: CrawlSession) -> None:
        """The store and the sites are open: `crawl_opened`. Raises `ConfigError`."""
        crawl_opened = self._method("crawl_opened")
        if crawl_opened is not None:
            delays = {row.id: row.delay_s for row in session.row.sites}
            crawl_opened(session.database, session.row.id, session.writer, session.frontier, delays)
        policy = getattr(self._spider, "policy", None)
        if policy is not None:
            self._ending, self._reason_against = policy.ending, policy.reason_against
            self._reason_to_skip = policy.reason_to_skip

    def admitting(self, reason_against: Callable[[Target], str | None]) -> Callable[[Target], str | None]:
        """Says why a new URL is not to be fetched: *reason_against*, then `desk.reason_against`."""
        return lambda target: reason_against(target) or self._reason_against(target)

    def reason_to_skip(self, lease: Lease) -> str | None:
        """Why a leased URL is not to be asked for after all: `desk.reason_to_skip`."""
        return self._reason_to_skip(lease)

    def ending(self, lease: Lease, page: Page, now: float) -> None:
        """The lease of *page* is about to end: `desk.ending`, which may complete the page."""
        if self._ending is not None:
            self._ending(lease, page, now)

    def found_by_robots(self, text: str) -> list[str]:
        """The URLs that a robots.txt leads to: `found_by_robots`."""
        found_by_robots = self._method("found_by_robots")
        return found_by_robots(text) if found_by_robots is not None else []

    def _method(self, name: str) -> Callable[..., Any] | None:
        return getattr(self._spider, name, None)
