"""Worker processes for pure functions of bytes that are too slow for the reactor, or may crash.

A worker is a separate Python process (`extraction.worker`) that reads calls from its standard input and writes results
to its standard output. So nothing is forked, the main script is not imported again, and a worker ends when the crawler
ends in any way, because its input is closed. A worker that takes too long, or dies, affects only the page it is
processing.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from crawlers.extraction.worker import LENGTH, MEMORY, RAISED

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

TASKS_PER_WORKER = 1_000  # the caches of trafilatura and lxml grow; starting a worker costs half a second
MEMORY_BYTES = 2 * 1024**3  # of address space; a typical worker uses 0.4 GB
MAX_STRIKES = 4  # reduces 30 s to 0.1 s, which suffices for nearly every page
START_S = 60.0  # to start a worker, on a busy machine


class ExtractionPool:
    """Runs functions in up to *processes* workers, each for at most *timeout_s*; within one running event loop."""

    def __init__(self, processes: int, timeout_s: float, memory_bytes: int = MEMORY_BYTES) -> None:
        self._timeout_s = timeout_s
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()  # of active owners
        self._strikes: Counter[str] = Counter()  # consecutive pages of an owner that took too long
        self._workers = [_Worker(memory_bytes) for _ in range(processes)]
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()  # warm workers first
        for worker in self._workers:
            self._idle.put_nowait(worker)

    async def run(self, owner: str, function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T | str:
        """Return the result of *function*, or the reason for having none: "took longer than 30 s" …

        No *owner* (a site) gets all workers, and after each timeout its next call gets a quarter of the time; otherwise
        one site whose pages all time out would block the workers for the others.

        The worker imports *function* by name. Its exceptions are raised here, except for lack of memory.
        """
        turn = self._turns.setdefault(owner, asyncio.Semaphore(max(1, len(self._workers) - 1)))
        async with turn:
            worker = await self._idle.get()
            strikes = self._strikes[owner]
            try:
                result: T | str = await worker.run(pickle.dumps((function, args, named)), self._timeout_s / 4**strikes)
            finally:
                self._idle.put_nowait(worker)
            if worker.was_slow:
                self._strikes[owner] = min(MAX_STRIKES, strikes + 1)
            else:
                del self._strikes[owner]
            return result

    async def close(self) -> None:
        """End the workers, including busy ones."""
        await asyncio.gather(*(worker.end() for worker in self._workers))


class _Worker:
    """One process, replaced when it dies and after a number of tasks."""

    def __init__(self, memory_bytes: int) -> None:
        self.was_slow = False  # whether the latest task timed out
        self._memory_bytes = memory_bytes
        self._process: asyncio.subprocess.Process | None = None
        self._tasks = 0

    async def run(self, call: bytes, timeout_s: float) -> Any:
        self.was_slow = False
        for _ in range(2):  # a worker that died may have been killed for the memory of others
            try:
                kind, value = await self._call(call, timeout_s)
            except TimeoutError:
                await self.end()
                self.was_slow = True
                return f"took longer than {timeout_s:.3g} s"
            except (asyncio.IncompleteReadError, OSError):
                await self.end()
                continue
            except asyncio.CancelledError:
                await self.end()  # otherwise its result would be read as that of the next call
                raise
            if kind == MEMORY:
                await self.end()
            elif kind == RAISED:
                raise value
            return value
        return "killed its process"

    async def _call(self, call: bytes, timeout_s: float) -> tuple[str, Any]:
        process = await self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(LENGTH.pack(len(call)) + call)
        async with asyncio.timeout(timeout_s):
            await process.stdin.drain()
            (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
            result: tuple[str, Any] = pickle.loads(await process.stdout.readexactly(length))  # noqa: S301 - our own
        return result

    async def _started(self) -> asyncio.subprocess.Process:
        if self._tasks >= TASKS_PER_WORKER:
            await self.end()
        if self._process is None:
            command = [sys.executable, "-m", "crawlers.extraction.worker", str(self._memory_bytes)]
            self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},  # may contain an egg
                start_new_session=True,  # Ctrl-C is for the crawler, which ends its workers itself
            )
            assert self._process.stdout is not None
            try:
                async with asyncio.timeout(START_S):
                    await self._process.stdout.readexactly(1)
            except TimeoutError as error:
                raise OSError("the worker did not start") from error
        self._tasks += 1
        return self._process

    async def end(self) -> None:
        process, self._process, self._tasks = self._process, None, 0
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        await process.wait()
