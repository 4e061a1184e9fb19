"""Whatever goes wrong with an answer ends its lease: errors of downloads, of spiders and of pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from crawlers.frontier.protocols import Lease
from crawlers.items import LEASE, Page, State
from crawlers.schedulers.failures import failed_page, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.http import Response
    from scrapy.signalmanager import SignalManager
    from twisted.python.failure import Failure

    from crawlers.frontier.protocols import CrawlFrontier
    from crawlers.schedulers.foreign.completion import PendingCallbacks
    from crawlers.schedulers.robots_fetch import RobotsFetch


class ErrorHandlers:
    """Gives *finish* the page that an error makes of the URL in flight."""

    def __init__(self, finish: Callable[[Page], object]) -> None:
        self._finish = finish

    def watch(
        self, manager: SignalManager, frontier: CrawlFrontier, answers: PendingCallbacks, robots: RobotsFetch
    ) -> None:
        """From now on, errors end leases of *frontier*; those about *answers* in work and *robots* are theirs."""
        self._frontier = frontier
        self._answers = answers
        self._robots = robots
        manager.connect(self._spider_error, signals.spider_error)
        manager.connect(self._item_error, signals.item_error)
        manager.connect(self._item_dropped, signals.item_dropped)

    def failed(self, failure: Failure) -> None:
        """The errback of our own requests: no answer came."""
        lease = self._open_lease(failure.request)  # type: ignore[attr-defined]  # Scrapy puts it there
        if lease is not None:
            self._finish(failed_page(lease, failure.value))

    def _open_lease(self, request: Request) -> Lease | None:
        lease = request.meta.get(LEASE)
        is_open = isinstance(lease, Lease) and self._frontier.leased(lease.id) is lease
        return lease if is_open else None

    def _spider_error(self, failure: Failure, response: Response | Failure | None) -> None:
        reason = f"the spider failed: {reason_of(failure.value).text}"
        request = getattr(response, "request", None)
        if self._answers.failed(response, reason) or request is None or self._robots.broke(request, reason):
            return
        if (lease := self._open_lease(request)) is not None:
            self._finish(Page(lease.id, lease.url, lease.level, State.FAILED, reason=reason))

    def _item_error(self, item: object, failure: Failure) -> None:
        self._item_lost(item, failure.value, "a pipeline failed: ")

    def _item_dropped(self, item: object, exception: BaseException) -> None:
        self._item_lost(item, exception, "a pipeline dropped it: ")

    def _item_lost(self, item: object, error: BaseException | None, why: str) -> None:
        if isinstance(item, Page) and (lease := self._frontier.leased(item.id)) is not None:
            self._finish(failed_page(lease, error, why))
