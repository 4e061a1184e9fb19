"""Knows when all that an ordinary spider made of an answer is taken care of: only then its lease ends.

Scrapy puts what a callback yields into a queue, so the end of the callback is too early: a process killed
then would lose the requests and items in that queue. Errbacks of failed downloads run without spider
middlewares and without a signal, so they are wrapped.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.misc import arg_to_iter
from twisted.python.failure import Failure

from crawlers.items import Page, State

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from scrapy.http import Response


class _Work:
    """What is still to be done about one answer, and the page that ends its lease then."""

    __slots__ = ("is_read", "origin", "page", "page_id", "pending")

    def __init__(self, origin: Response | Failure, page: Page) -> None:
        self.origin = origin  # kept, so that no other object can get its id()
        self.page_id = page.id
        self.page: Page | None = page  # None: the spider yields one itself
        self.pending = 0  # requests and items on their way
        self.is_read = False  # the spider will yield nothing more


class PendingCallbacks:
    """The answers that the spider is working on. *finish* ends the lease of a page; it may be asked twice."""

    def __init__(self, finish: Callable[[Page], object]) -> None:
        self._finish = finish
        self._works: dict[int, _Work] = {}  # by id() of the response or failure
        self._requests: dict[int, _Work] = {}  # by id() of a yielded request that is not scheduled yet
        self._pages: set[int] = set()

    def __contains__(self, page_id: int) -> bool:
        return page_id in self._pages

    def begin(self, origin: Response | Failure, page: Page) -> None:
        """The spider gets *origin*; *page* is what became of it, unless the spider yields a `Page` itself."""
        self._works[id(origin)] = _Work(origin, page)
        self._pages.add(page.id)

    def came(self, origin: Response | Failure, output: Any) -> None:
        """The spider yielded *output* about *origin*."""
        work = self._works.get(id(origin))
        if work is None or output is None:
            return
        work.pending += 1
        if isinstance(output, Request):
            self._requests[id(output)] = work
        elif isinstance(output, Page):
            work.page = None

    def read(self, origin: Response | Failure) -> None:
        """The spider yields nothing more about *origin*."""
        work = self._works.get(id(origin))
        if work is not None:
            work.is_read = True
            self._end_if_done(work)

    def failed(self, origin: Response | Failure | None, reason: str) -> bool:
        """The spider raised something about *origin*; returns whether that was in work."""
        work = self._works.get(id(origin))
        if work is None:
            return False
        if work.page is not None:
            work.page = replace(work.page, state=State.FAILED, reason=reason)
        work.is_read = True
        self._end_if_done(work)
        return True

    def scheduled(self, request: Request) -> None:
        """*request* waits in the frontier now, or was refused."""
        work = self._requests.pop(id(request), None)
        if work is not None:
            self._settle(work)

    def item_done(self, response: Response | Failure | None) -> None:
        """An item that came of *response* has passed the pipelines, or was dropped there."""
        work = self._works.get(id(response))
        if work is not None:
            self._settle(work)

    def _settle(self, work: _Work) -> None:
        work.pending -= 1
        self._end_if_done(work)

    def _end_if_done(self, work: _Work) -> None:
        if work.is_read and work.pending <= 0 and self._works.pop(id(work.origin), None) is not None:
            self._pages.discard(work.page_id)
            if work.page is not None:
                self._finish(work.page)


class WatchedErrback:
    """Stands in for a request's errback, or for none; *page_of* makes a page of a failed download."""

    def __init__(
        self,
        original: Callable[[Failure], Any] | None,
        answers: PendingCallbacks,
        page_of: Callable[[Failure], Page],
    ) -> None:
        self.original = original
        self._answers = answers
        self._page_of = page_of

    def __call__(self, failure: Failure) -> Any:
        page = self._page_of(failure)
        if page.id in self._answers:  # it failed on its way into the spider, where LeaseMiddleware looks on
            return failure if self.original is None else self.original(failure)
        self._answers.begin(failure, page)
        if self.original is None:
            self._answers.read(failure)
            return failure
        try:
            output = self.original(failure)
        except BaseException:
            self._answers.read(failure)
            raise
        if isinstance(output, Failure):
            self._answers.read(failure)
            return output
        watched = self._awaited if inspect.iscoroutine(output) else self._watched
        return watched(output, failure)

    async def _awaited(self, output: Coroutine[Any, Any, Any], failure: Failure) -> AsyncIterator[Any]:
        try:
            return self._watched(await output, failure)
        except BaseException:
            self._answers.read(failure)
            raise

    async def _watched(self, output: Any, failure: Failure) -> AsyncIterator[Any]:
        try:
            outputs = output if inspect.isasyncgen(output) else as_async_generator(arg_to_iter(output))
            async for one in outputs:
                self._answers.came(failure, one)
                yield one
        finally:
            self._answers.read(failure)
