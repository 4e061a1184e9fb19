"""Threads that query the store, so that the reactor does not wait for it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

T = TypeVar("T")


class InThread(Protocol):
    """Runs a query in another thread."""

    async def __call__(self, query: Callable[[], T]) -> T:
        """Return the result of *query*, or raise its exception."""


THREADS = 4  # queries take less than a millisecond, unless the disk or the server is slow


class ReaderThreads:
    """A pool of threads. Queries may only share immutable values with the caller."""

    def __init__(self, threads: int = THREADS) -> None:
        self._threads = ThreadPoolExecutor(threads, "store-reader")

    async def run(self, query: Callable[[], T]) -> T:
        """Return the result of *query*, or raise its exception."""
        return await asyncio.wrap_future(self.submit(query))

    def submit(self, query: Callable[[], T]) -> Future[T]:
        """Return the future result of *query*."""
        return self._threads.submit(query)

    def call(self, query: Callable[[], T], then: Callable[[Future[T]], None]) -> None:
        """Call *then* with the result of *query*, in the running event loop; without one, the caller waits for it."""
        found = self.submit(query)
        if is_in_event_loop():
            loop = asyncio.get_running_loop()
            found.add_done_callback(lambda done: loop.call_soon_threadsafe(then, done))
        else:
            wait([found])
            then(found)

    def close(self) -> None:
        """Wait for the running queries, and cancel the others."""
        self._threads.shutdown(cancel_futures=True)


def is_in_event_loop() -> bool:
    """Return whether an event loop runs in this thread, which must not wait for the store."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
