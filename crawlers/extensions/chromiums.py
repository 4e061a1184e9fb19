"""The Chromiums of a crawl: each renders one page at a time, so that no page can slow down or end that of another."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

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


class Chromiums:
    """The browsers that *launch* starts; as many as are taken at a time."""

    def __init__(self, launch: Callable[[], Awaitable[Any]]) -> None:
        self._launch = launch
        self._idle: list[Chromium] = []

    async def take(self) -> Chromium:
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
