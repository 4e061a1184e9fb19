"""Processes for work that is too heavy for the reactor, or that may crash: pure functions of bytes.

A worker is a Python of its own (`extraction.worker`) that is given calls over its standard input and gives results over
its standard output. So nothing is forked, a script that uses it is not imported again, and a worker ends when the
crawler does, however that ends: its input is at an end then. One that takes too long, or dies, takes no page but its
own with it.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from crawlers.extraction.worker import LENGTH, MEMORY, RAISED

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

TASKS_PER_WORKER = 1_000  # the caches of trafilatura and lxml grow; a new worker costs half a second of its own
MEMORY_BYTES = 2 * 1024**3  # of address space; an ordinary worker has 0.4 GB of it
START_S = 60.0  # for a worker to begin, on a machine that is busy with other things


class ExtractionPool:
    """Runs functions in up to *processes* workers, each for at most *timeout_s*; within one running event loop."""

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
            result: T | str = await worker.run(pickle.dumps((function, args, named)))
            return result
        finally:
            self._idle.put_nowait(worker)

    async def close(self) -> None:
        """End the workers, also those that are at work."""
        await asyncio.gather(*(worker.end() for worker in self._workers))


class _Worker:
    """One process, replaced when it dies and after so many tasks."""

    def __init__(self, timeout_s: float, memory_bytes: int) -> None:
        self._timeout_s = timeout_s
        self._memory_bytes = memory_bytes
        self._process: asyncio.subprocess.Process | None = None
        self._tasks = 0

    async def run(self, call: bytes) -> Any:
        for _ in range(2):  # one that died may have been killed for the memory of others
            try:
                kind, value = await self._answer(call)
            except TimeoutError:
                await self.end()
                return f"took longer than {self._timeout_s:g} s"
            except (asyncio.IncompleteReadError, OSError):
                await self.end()
                continue
            except asyncio.CancelledError:
                self._kill()  # its answer would be taken for that of the next call
                raise
            if kind == MEMORY:
                await self.end()
            elif kind == RAISED:
                raise value
            return value
        return "killed its process"

    async def _answer(self, call: bytes) -> tuple[str, Any]:
        process = await self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(LENGTH.pack(len(call)) + call)
        async with asyncio.timeout(self._timeout_s):
            await process.stdin.drain()
            (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
            answer: tuple[str, Any] = pickle.loads(await process.stdout.readexactly(length))  # noqa: S301 - our own
        return answer

    async def _started(self) -> asyncio.subprocess.Process:
        if self._tasks >= TASKS_PER_WORKER:
            await self.end()
        if self._process is None:
            command = [sys.executable, "-m", "crawlers.extraction.worker", str(self._memory_bytes)]
            self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},  # which may name an egg
                start_new_session=True,  # Ctrl-C is for the crawler, which ends its workers in its time
            )
            assert self._process.stdout is not None
            async with asyncio.timeout(START_S):
                await self._process.stdout.readexactly(1)
        self._tasks += 1
        return self._process

    async def end(self) -> None:
        process = self._kill()
        if process is not None:
            await process.wait()

    def _kill(self) -> asyncio.subprocess.Process | None:
        process, self._process, self._tasks = self._process, None, 0
        if process is not None and process.returncode is None:
            process.kill()
        return process
