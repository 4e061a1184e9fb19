"""Ends the lease of a plain Scrapy spider's request when everything that its callback yielded has been handled.

Scrapy puts what a callback yields into a queue, so the end of the callback is too early: the requests and items in that
queue would be lost if the process were killed then. `CallbackMiddleware` and `WatchedErrback` report the callbacks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals

from crawlers.extensions.crawl_owner import owner_of
from crawlers.items import Page, State

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure


@dataclass(slots=True, eq=False)
class _Callback:
    """A callback at work, and the page that ends the lease when everything is handled."""

    origin: Response | Failure  # kept, so that no other object can get its id()
    page_id: int
    page: Page | None  # None: the spider yields one itself
    pending: int = 0  # requests and items that were yielded and are not handled yet
    is_exhausted: bool = False  # the callback will yield nothing more


class PendingCallbacks:
    """The callbacks and errbacks at work. *record* ends the lease of a page; a second call for a page does nothing."""

    def __init__(self, record: Callable[[Page], object]) -> None:
        self._record = record
        self._callbacks: dict[int, _Callback] = {}  # by id() of the response or failure
        # By id() of a yielded request that is not scheduled yet; one object may be yielded repeatedly.
        self._requests: dict[int, list[_Callback]] = {}
        self._pages: set[int] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        callbacks = cls(lambda page: owner_of(crawler).crawl.recording.record(page))
        for handled in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(callbacks.item_handled, handled)
        return callbacks

    def __contains__(self, page_id: int) -> bool:
        return page_id in self._pages

    def begin(self, origin: Response | Failure, page: Page) -> None:
        """Note that the spider receives *origin*; *page* ends the lease unless the spider yields a `Page` itself."""
        self._callbacks[id(origin)] = _Callback(origin, page.id, page)
        self._pages.add(page.id)

    def record_output(self, origin: Response | Failure, output: Any) -> None:
        """Note that the callback of *origin* yielded *output*."""
        callback = self._callbacks.get(id(origin))
        if callback is None or output is None:
            return
        callback.pending += 1
        if isinstance(output, Request):
            self._requests.setdefault(id(output), []).append(callback)
        elif isinstance(output, Page):
            callback.page = None

    def record_end(self, origin: Response | Failure) -> None:
        """Note that the callback of *origin* yields nothing more."""
        callback = self._callbacks.get(id(origin))
        if callback is not None:
            callback.is_exhausted = True
            self._end_if_done(callback)

    def record_failure(self, origin: Response | Failure | None, reason: str) -> bool:
        """Note that the callback of *origin* raised an exception; return whether it is a callback at work."""
        callback = self._callbacks.get(id(origin))
        if callback is None:
            return False
        if callback.page is not None:
            callback.page = replace(callback.page, state=State.FAILED, reason=reason)
        callback.is_exhausted = True
        self._end_if_done(callback)
        return True

    def record_request(self, request: Request) -> None:
        """Note that *request* waits in the frontier, or was refused."""
        callbacks = self._requests.get(id(request))
        if callbacks:
            callback = callbacks.pop()
            if not callbacks:
                del self._requests[id(request)]
            self._finish(callback)

    def item_handled(self, response: Response | Failure | None) -> None:
        """Note that an item from *response* has passed the pipelines, or was dropped there."""
        callback = self._callbacks.get(id(response))
        if callback is not None:
            self._finish(callback)

    def _finish(self, callback: _Callback) -> None:
        callback.pending -= 1
        self._end_if_done(callback)

    def _end_if_done(self, callback: _Callback) -> None:
        is_done = callback.is_exhausted and callback.pending <= 0
        if is_done and self._callbacks.pop(id(callback.origin), None) is not None:
            self._pages.discard(callback.page_id)
            if callback.page is not None:
                self._record(callback.page)
