"""Threads that query the store, so that the reactor does not wait for it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Run(Protocol):
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
        return await asyncio.get_running_loop().run_in_executor(self._threads, query)

    def close(self) -> None:
        """Wait for the running queries, and cancel the others."""
        self._threads.shutdown(cancel_futures=True)
