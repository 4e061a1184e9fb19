"""Renders pages in Chromium, by Playwright.

The browser has no network of its own. It gets the page as it was downloaded, and what the scripts request is downloaded
by the crawl, with its limits and rules (`SubRequests`). Each page has a browser of its own while it is rendered, a
context without the cookies and caches of others, a clock that runs only while nothing is downloaded, and the same
random numbers each time. So what is rendered depends on the web, and not on other pages or the speed of the machine.
Each of the Chromiums renders one page at a time, so that no page can slow down or end that of another.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals

from crawlers.downloader.download_errors import DownloadRefusedError, RenderingInterruptedError
from crawlers.downloader.sub_requests import Hosts, SubRequests
from crawlers.errors import FrontierError
from crawlers.extensions.crawl_owner import CRAWL_OPENED, owner_of
from crawlers.items import LEASE, State
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Self

    from playwright.async_api import Playwright
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlers.crawl.running_crawl import Crawl
    from crawlers.urls.resolution import Redirect


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


logger = logging.getLogger(__name__)

DAY_S = 86_400.0
OTHER_MB = 256  # of the process of a page beside the objects of its scripts: Chromium itself, the document, buffers
VIRTUAL_TIME = "Emulation.setVirtualTimePolicy"
FAILED = State.FAILED
CHANCE = """
    let state = 1;
    Math.random = () => (state = state * 16807 % 2147483647) / 2147483647;
    crypto.getRandomValues = (array) => array.map((_, i) => array[i] = Math.random() * 4294967296);
    crypto.randomUUID = () => '00000000-0000-4000-8000-' + String(Math.random()).slice(2, 14).padEnd(12, '0');
    window.open = () => null;
"""

VIRTUAL_S = 5.0  # of the clock of a page, in which its scripts may act
MEMORY_MB = 512  # of the objects of the scripts of one page


class Browser:
    """The browser of *crawler*: as many Chromiums as pages are rendered at a time, each started when it is needed."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._crawler = crawler
        self._pages = asyncio.Semaphore(settings.getint("RENDER_PAGES"))
        self._timeout_s = settings.getfloat("RENDER_TIMEOUT_SECONDS")
        self._largest = settings.getint("DOWNLOAD_MAXSIZE")
        self._chromiums = Chromiums(self._launch)
        self._hosts: Hosts | None = None
        self._options: dict[str, Any] = {}  # of each Chromium
        self._playwright: Playwright | None = None
        self._starting = asyncio.Lock()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        browser = cls(crawler)
        crawler.signals.connect(browser._open, CRAWL_OPENED)
        crawler.signals.connect(browser._close, signals.spider_closed)
        return browser

    def _open(self, crawl: Crawl) -> None:
        if not crawl.rendered.are_any:
            return
        self._hosts = Hosts(self._crawler)
        self._options = {
            "executable_path": crawl.rendered.browser,
            "headless": True,
            "chromium_sandbox": os.geteuid() != 0,  # Chromium refuses to start for root with it
            "args": [
                # Whatever `SubRequests` does not answer ends at a proxy that does not exist.
                *("--proxy-server=http://127.0.0.1:1", "--proxy-bypass-list=<-loopback>"),
                "--webrtc-ip-handling-policy=disable_non_proxied_udp",  # else STUN and TURN go past the proxy
                *("--blink-settings=imagesEnabled=false", "--disable-gpu", "--disable-dev-shm-usage"),
                f"--js-flags=--max-old-space-size={MEMORY_MB}",
            ],
        }
        logger.info("Pages are rendered by %s", crawl.rendered.browser)

    async def _launch(self) -> Any:
        from playwright.async_api import async_playwright  # an extra, and slow to import

        async with self._starting:
            if self._playwright is None:
                self._playwright = await async_playwright().start()
        return await self._playwright.chromium.launch(**self._options)

    async def _close(self) -> None:
        if self._playwright is not None:
            await self._playwright.stop()

    async def render(self, request: Request, response: Response) -> tuple[str, Redirect | None]:
        """Return the document of *response* as HTML after its scripts ran, and the redirect that they demanded, if any.

        Raises `DownloadRefusedError` if that takes too long, or the document becomes too large, and
        `RenderingInterruptedError` if the browser ended by no fault of the page.
        """
        async with self._pages:
            return await asyncio.ensure_future(self._render(request, response))  # a task of its own, to be cancelled

    async def _render(self, request: Request, response: Response) -> tuple[str, Redirect | None]:
        from playwright.async_api import Error

        assert self._hosts is not None
        requests = SubRequests(self._crawler, request.meta[LEASE], response, self._hosts)
        try:
            chromium = await self._chromiums.acquire()
        except Error as error:
            if "launch" in str(error):
                failure = FrontierError(f"Chromium can't be started: {_first_line(error)}; check RENDER_BROWSER")
                owner_of(self._crawler).crawl.control.abort(failure, Reason.NO_BROWSER)
            raise DownloadRefusedError(Reason.BROWSER_FAILED.of(_first_line(error)), FAILED) from error
        opened = _OpenedPage()
        is_usable = False
        watch = asyncio.ensure_future(self._watch(chromium, opened))
        try:
            async with asyncio.timeout(self._timeout_s) as limit:
                requests.limit = limit
                html = await self._document(response.url, requests, chromium.browser, opened)
            is_usable = True
        except TimeoutError:
            raise DownloadRefusedError(Reason.RENDERING_TIMEOUT.of(f"{self._timeout_s:g}"), FAILED) from None
        except asyncio.CancelledError:
            if not (opened.has_crashed or opened.is_gone):
                raise
            raise self._ended(opened) from None
        except Error as error:
            is_gone = "has been closed" in str(error) or not chromium.browser.is_connected()
            if opened.has_crashed or is_gone:
                raise self._ended(opened) from error
            raise DownloadRefusedError(Reason.BROWSER_FAILED.of(_first_line(error)), FAILED) from error
        finally:
            opened.is_closing = True
            watch.cancel()
            requests.close()
            await self._chromiums.give_back(chromium, is_usable=is_usable)
        return html, requests.redirect

    async def _watch(self, chromium: Chromium, opened: _OpenedPage) -> None:
        """Kill the browser if its page needs too much memory; V8 limits only the objects of scripts."""
        await chromium.exceeds((MEMORY_MB + OTHER_MB) * 1_000_000)
        opened.is_too_large = True
        chromium.kill()

    def _ended(self, opened: _OpenedPage) -> Exception:
        if opened.is_too_large:
            return DownloadRefusedError(Reason.RENDERING_MEMORY, FAILED)
        if opened.has_crashed:
            return DownloadRefusedError(Reason.RENDERING_CRASH, FAILED)
        return RenderingInterruptedError(Reason.BROWSER_CLOSED)

    async def _document(self, url: str, requests: SubRequests, browser: Any, opened: _OpenedPage) -> str:
        task = asyncio.current_task()
        assert task is not None
        is_over = asyncio.Event()  # the time in which scripts may act
        began_at = owner_of(self._crawler).crawl.clock() // DAY_S * DAY_S

        def crashed(_: Any) -> None:
            opened.has_crashed = True
            task.cancel()  # else it would wait for a page that is gone

        def closed(_: Any) -> None:
            if not opened.is_closing:
                opened.is_gone = True
                task.cancel()

        context = await browser.new_context(
            accept_downloads=False,
            locale="en-US",
            service_workers="block",
            timezone_id="UTC",
            user_agent=self._crawler.settings.get("USER_AGENT"),
        )
        page = await context.new_page()
        page.on("crash", crashed)
        page.on("close", closed)
        devtools = await context.new_cdp_session(page)  # of the protocol of Chromium's developer tools

        devtools.on("Emulation.virtualTimeBudgetExpired", lambda _: is_over.set())
        await page.add_init_script(CHANCE)
        await page.route("**", requests.answer)
        await devtools.send(VIRTUAL_TIME, {"policy": "pause", "initialVirtualTime": began_at})
        await page.goto(url, wait_until="commit", timeout=0)  # the time is limited by our caller
        policy = {"policy": "pauseIfNetworkFetchesPending", "budget": VIRTUAL_S * 1000}
        await devtools.send(VIRTUAL_TIME, policy)
        await is_over.wait()
        if await page.evaluate("document.documentElement.outerHTML.length") > self._largest:
            raise DownloadRefusedError(Reason.TOO_LARGE_RENDERED)
        html: str = await page.content()
        return html


class _OpenedPage:
    """How a page in the browser ended."""

    has_crashed = False
    is_gone = False  # its browser was closed or killed, not by us
    is_closing = False
    is_too_large = False


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]  # scripts of a page may choose it
