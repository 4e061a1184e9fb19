"""Reports the errbacks of plain Scrapy spiders as pending: they run without spider middlewares and without a signal."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.misc import arg_to_iter
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from crawlers.extensions.pending_callbacks import PendingCallbacks
    from crawlers.items import Page


class WatchedErrback:
    """Wraps the errback of a request, or its absence; *page_of* returns the page of a failed download."""

    def __init__(
        self,
        original: Callable[[Failure], Any] | None,
        callbacks: PendingCallbacks,
        page_of: Callable[[Failure], Page],
    ) -> None:
        self.original = original
        self._callbacks = callbacks
        self._page_of = page_of

    def __call__(self, failure: Failure) -> Any:
        page = self._page_of(failure)
        if page.id in self._callbacks:  # it failed on its way into the spider, as CallbackMiddleware reported
            return failure if self.original is None else self.original(failure)
        self._callbacks.begin(failure, page)
        if self.original is None:
            self._callbacks.record_end(failure)
            return failure
        try:
            output = self.original(failure)
        except BaseException:
            self._callbacks.record_end(failure)
            raise
        if isinstance(output, Failure):
            self._callbacks.record_end(failure)
            return output
        watched = self._awaited if inspect.iscoroutine(output) else self._watched
        return watched(output, failure)

    async def _awaited(self, output: Coroutine[Any, Any, Any], failure: Failure) -> AsyncIterator[Any]:
        try:
            return self._watched(await output, failure)
        except BaseException:
            self._callbacks.record_end(failure)
            raise

    async def _watched(self, output: Any, failure: Failure) -> AsyncIterator[Any]:
        try:
            outputs = output if inspect.isasyncgen(output) else as_async_generator(arg_to_iter(output))
            async for one in outputs:
                self._callbacks.record_output(failure, one)
                yield one
        finally:
            self._callbacks.record_end(failure)
