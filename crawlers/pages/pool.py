"""Worker processes for pure functions of bytes that are too slow for the reactor, or may crash.

A worker is a Python process (`pool_worker`) that reads calls from its standard input and writes results
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
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from crawlers.pages.pool_worker import LENGTH, MEMORY, RAISED
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

P = ParamSpec("P")
T = TypeVar("T")

TASKS_PER_WORKER = 1_000  # the caches of htmldate and lxml grow; starting a worker costs half a second
MEMORY_BYTES = 2 * 1024**3  # of address space; a typical worker uses 0.4 GB
MAX_STRIKES = 4  # reduces 30 s to 0.1 s, which suffices for nearly every page
START_S = 60.0  # to start a worker, on a busy machine
REPEATS = 3  # of a call whose worker died; on a busy machine that kills a worker every 3 s, one is not enough


def environment() -> dict[str, str]:
    """Return the environment of a Python process of ours: it finds the modules of this one.

    Its current folder, where crawls write their files, comes last on the path: the project may be there, but a
    `json.py` must not hide the module of that name.
    """
    here = str(Path.cwd())
    path = sorted((str(Path(folder).absolute()) for folder in sys.path), key=lambda folder: folder == here)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONSAFEPATH": "1"}  # the path may contain an egg


class ExtractionPool:
    """Runs functions in up to *processes* workers, each for at most *timeout_s*; within one running event loop.

    Workers import *modules* when they start.
    """

    def __init__(
        self, processes: int, timeout_s: float, memory_bytes: int = MEMORY_BYTES, modules: Sequence[str] = ()
    ) -> None:
        self._timeout_s = timeout_s
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()  # of active owners
        self._strikes: Counter[str] = Counter()  # consecutive pages of an owner that took too long
        self._killers: set[str] = set()  # owners whose latest page killed all of its processes
        self._repeating = asyncio.Lock()  # of calls whose worker died
        self._taking = asyncio.Lock()  # of those who wait for workers, in their order
        self._workers = [_Worker(memory_bytes, modules) for _ in range(processes)]
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()  # warm workers first
        for worker in self._workers:
            self._idle.put_nowait(worker)

    async def run(self, owner: str, function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T | str:
        """Return the result of *function*, or the reason for having none: "took_too_long 30" …

        No *owner* (a site) gets all workers, and after each timeout its next call gets a quarter of the time; otherwise
        one site whose pages all time out would block the workers for the others.

        A call whose worker died, which may have been killed for the memory of others, is repeated up to `REPEATS`
        times. Only one call is repeated at a time, while the others go on, so repeats of deadly pages take one worker
        at most; each attempt waits for those of earlier ones, which may take up to their limits. If all of its workers
        die, later calls of its owner are not repeated until one returns.

        The worker imports *function* by name. Its exceptions are raised here, except for lack of memory.
        """
        async with self._turn(owner):
            timeout_s = self._timeout_s / 4 ** self._strikes[owner]
            result: T | str = await self._result(owner, pickle.dumps((function, args, named)), timeout_s)
            if result == _too_slow(timeout_s):
                self._strikes[owner] = min(MAX_STRIKES, self._strikes[owner] + 1)
            else:
                del self._strikes[owner]
            return result

    def _turn(self, owner: str) -> asyncio.Semaphore:
        return self._turns.setdefault(owner, asyncio.Semaphore(max(1, len(self._workers) - 1)))

    async def _result(self, owner: str, call: bytes, timeout_s: float) -> Any:
        try:
            result = await self._run(call, timeout_s)
        except _Died:
            return Reason.KILLED_ITS_PROCESS if owner in self._killers else await self._repeat(owner, call, timeout_s)
        self._killers.discard(owner)
        return result

    async def _run(self, call: bytes, timeout_s: float) -> Any:
        async with self._taking:
            worker = await self._idle.get()
        try:
            return await worker.run(call, timeout_s)
        finally:
            self._idle.put_nowait(worker)

    async def _repeat(self, owner: str, call: bytes, timeout_s: float) -> Any:
        """Run *call* again; it takes its turn behind the others before each attempt."""
        for _ in range(REPEATS):
            async with self._repeating:
                with suppress(_Died):
                    return await self._run(call, timeout_s)
        self._killers.add(owner)
        return Reason.KILLED_ITS_PROCESS

    async def close(self) -> None:
        """End the workers, including busy ones; calls that have no result yet end as killed, and later ones, too."""
        await asyncio.gather(*(worker.close() for worker in self._workers))
        idle = [await self._idle.get() for _ in self._workers]  # none is starting any more
        for worker in idle:
            self._idle.put_nowait(worker)


class _Died(Exception):
    """The worker died during a call."""


def _too_slow(timeout_s: float) -> str:
    return Reason.TOOK_TOO_LONG.of(f"{timeout_s:.3g}")


class _Worker:
    """One process, replaced when it dies and after a number of tasks."""

    def __init__(self, memory_bytes: int, modules: Sequence[str]) -> None:
        self._arguments = str(memory_bytes), *modules
        self._process: asyncio.subprocess.Process | None = None
        self._tasks = 0
        self._is_closed = False

    async def run(self, call: bytes, timeout_s: float) -> Any:
        """Return the result of *call*, or the reason for having none; raises `_Died`."""
        try:
            kind, value = await self._call(await self._started(), call, timeout_s)
        except TimeoutError:
            await self.end()
            return _too_slow(timeout_s)
        except (asyncio.IncompleteReadError, OSError) as error:
            await self.end()
            raise _Died from error
        except asyncio.CancelledError:
            await self.end()  # otherwise its result would be read as that of the next call
            raise
        if kind == MEMORY:
            await self.end()
        elif kind == RAISED:
            raise value
        return value

    async def _call(self, process: asyncio.subprocess.Process, call: bytes, timeout_s: float) -> tuple[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(LENGTH.pack(len(call)) + call)
        async with asyncio.timeout(timeout_s):
            await process.stdin.drain()
            (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
            result: tuple[str, Any] = pickle.loads(await process.stdout.readexactly(length))  # noqa: S301 - our own
        return result

    async def _started(self) -> asyncio.subprocess.Process:
        """Return the process, a new one if there is none or it died while it was idle."""
        if self._tasks >= TASKS_PER_WORKER or (self._process is not None and self._process.returncode is not None):
            await self.end()
        process = self._process or await self._start()
        self._tasks += 1
        return process

    async def _start(self) -> asyncio.subprocess.Process:
        if self._is_closed:
            raise OSError("the pool is closed")
        process = self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "crawlers.pages.pool_worker", *self._arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment(),
            cwd=sys.prefix,
            start_new_session=True,  # Ctrl-C is for the crawler, which ends its workers itself
        )
        assert process.stdout is not None
        try:
            if self._is_closed:
                raise OSError("the pool was closed meanwhile")
            async with asyncio.timeout(START_S):
                await process.stdout.readexactly(1)
        except BaseException as error:
            await self.end()
            if isinstance(error, TimeoutError):
                raise OSError("the worker did not start") from error
            raise
        return process

    async def end(self) -> None:
        process, self._process, self._tasks = self._process, None, 0
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def close(self) -> None:
        """End the process, also one that starts; no other one is started."""
        self._is_closed = True
        await self.end()
