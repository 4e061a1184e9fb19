"""Processes for work that is too heavy for the reactor, or that may crash: pure functions of bytes.

Each worker has an executor of its own, so that one that dies takes no page but its own with it. A worker limits
itself: an alarm ends it when a page takes too long (in the middle of C code, where Python's signals don't reach),
its address space is bounded, and it ends when the crawler does, however that ends.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import resource
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

TASKS_PER_WORKER = 1_000  # the caches of trafilatura and lxml grow; a new worker costs some 50 ms
MEMORY_BYTES = 2 * 1024**3  # of address space; an ordinary worker has 0.4 GB of it
NICENESS = 5  # the reactor goes first

_PRELOADED = ["crawlers.extraction.article"]  # once, for all workers: they are forks of a server that has it


class ExtractionPool:
    """Runs functions in up to *processes* workers, each for at most *timeout_s*; start them in a running event loop."""

    def __init__(self, processes: int, timeout_s: float, memory_bytes: int = MEMORY_BYTES) -> None:
        self._workers = [_Worker(timeout_s, memory_bytes) for _ in range(processes)]
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()  # the warm ones first
        for worker in self._workers:
            self._idle.put_nowait(worker)

    async def run(self, function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T | str:
        """Return what *function* returns, or why it came to no end: "took longer than 30 s" …

        It is imported by its name in the worker. What it raises, other than for want of memory, is raised here.
        """
        worker = await self._idle.get()
        try:
            return await worker.run(function, args, named)
        finally:
            self._idle.put_nowait(worker)

    async def close(self) -> None:
        """End the workers; one that is at work ends after it."""
        await asyncio.gather(*(asyncio.to_thread(worker.end) for worker in self._workers))


class _Worker:
    """One process, replaced when it dies and after so many tasks."""

    def __init__(self, timeout_s: float, memory_bytes: int) -> None:
        self._timeout_s = timeout_s
        self._memory_bytes = memory_bytes
        self._executor: ProcessPoolExecutor | None = None
        self._tasks = 0

    async def run(self, function: Callable[..., T], args: tuple[object, ...], named: dict[str, object]) -> T | str:
        for _ in range(2):  # one that died may have been killed for the memory of others
            start = time.monotonic()
            try:
                future = self._started().submit(_limited, self._timeout_s, function, args, named)
                return await asyncio.wrap_future(future)
            except BrokenProcessPool:
                self._replace()
                if time.monotonic() - start >= self._timeout_s:
                    return f"took longer than {self._timeout_s:g} s"
            except MemoryError:
                self._replace()
                return "out of memory"
        return "killed its process"

    def _started(self) -> ProcessPoolExecutor:
        if self._tasks >= TASKS_PER_WORKER:
            self._replace()
        if self._executor is None:
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload(_PRELOADED)
            self._executor = ProcessPoolExecutor(1, context, initializer=_begin, initargs=(self._memory_bytes,))
        self._tasks += 1
        return self._executor

    def _replace(self) -> None:
        """Let the next task find a new process; this one ends by itself, which nobody waits for."""
        if self._executor is not None:
            self._executor.shutdown(wait=False)
        self._executor = None
        self._tasks = 0

    def end(self) -> None:
        if self._executor is not None:
            self._executor.shutdown()


def _begin(memory_bytes: int) -> None:
    """Make this process a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the crawler, which ends its workers in its time
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _limited(timeout_s: float, function: Callable[..., T], args: tuple[object, ...], named: dict[str, object]) -> T:
    signal.setitimer(signal.ITIMER_REAL, timeout_s)  # nobody handles its signal: it kills
    try:
        return function(*args, **named)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
