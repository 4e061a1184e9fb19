"""The Chromiums of a crawl: each renders one page at a time, so that no page can slow down or end that of another."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

LOOK_S = 0.5  # between two looks at the memory of a browser
CLOSING_S = 10.0  # until the page of a browser is closed; else the browser is killed


class Chromium(NamedTuple):
    """A running browser, and its main process."""

    browser: Any
    pid: int

    def kill(self) -> None:
        """End the browser and its other processes at once; one that is busy would not obey."""
        if self.browser.is_connected():
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    async def exceeds(self, largest_bytes: int) -> None:
        """Return when a process that renders a page has more than *largest_bytes* of memory of its own."""
        while await asyncio.to_thread(rendering_bytes, self.pid) <= largest_bytes:
            await asyncio.sleep(LOOK_S)


class Chromiums:
    """The browsers that *launch* starts; as many as are taken at a time."""

    def __init__(self, launch: Callable[[], Awaitable[Any]]) -> None:
        self._launch = launch
        self._idle: list[Chromium] = []

    async def acquire(self) -> Chromium:
        """Return a browser without pages, for the caller alone.

        Raises Playwright's `Error` if none can be started.
        """
        while self._idle:
            chromium = self._idle.pop()
            if chromium.browser.is_connected():
                return chromium
        browser = await self._launch()
        session = await browser.new_browser_cdp_session()
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        await session.detach()
        return Chromium(browser, next(process["id"] for process in processes if process["type"] == "browser"))

    async def give_back(self, chromium: Chromium, *, is_usable: bool) -> None:
        """Close the page of *chromium*; kill the browser if it is not usable, or busy for too long."""
        if is_usable:
            with suppress(Exception):  # also a browser that ended meanwhile
                async with asyncio.timeout(CLOSING_S):
                    for context in chromium.browser.contexts:
                        await context.close()
                self._idle.append(chromium)
                return
        chromium.kill()


def rendering_bytes(pid: int, processes: Path = Path("/proc")) -> int:
    """Return the memory of the largest process below *pid* that renders a page, without mapped files; 0 if unknown.

    Only Linux has *processes*; see proc_pid_stat(5) and proc_pid_status(5).
    """
    parents: dict[int, int] = {}
    for path in processes.glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            parents[int(path.parent.name)] = int(path.read_bytes().rpartition(b")")[2].split()[1])
    ours = {pid}
    while found := {child for child, parent in parents.items() if parent in ours} - ours:
        ours |= found
    return max(_bytes_of(processes / str(child)) for child in ours)


def _bytes_of(process: Path) -> int:
    try:
        if b"--type=renderer" not in (process / "cmdline").read_bytes():
            return 0
        lines = (process / "status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
