"""A page fails by its own fault only, and no browser renders two pages at a time."""

import asyncio
import os
import signal
from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy.http import Response

from crawlers.downloader import browser as module
from crawlers.downloader.browser import Browser, Chromium, Chromiums, rendering_bytes
from crawlers.downloader.download_errors import failure_of
from crawlers.items import LEASE, State
from tests.support.opened_crawl import project_settings

URL = "http://a.test/"


class World:
    """Chromium as Playwright shows it; *happens* is called when the page was opened, with its handlers of events."""

    def __init__(self, monkeypatch, happens):
        self.handlers = {}
        self.is_connected = True
        self.usable = []
        self._happens = happens
        crawl = SimpleNamespace(clock=lambda: 0.0)
        monkeypatch.setattr(module, "owner_of", lambda crawler: SimpleNamespace(crawl=crawl))
        requests = SimpleNamespace(limit=None, answer=None, redirect=None, close=lambda: None)
        monkeypatch.setattr(module, "SubRequests", lambda *_: requests)
        crawler = SimpleNamespace(settings=project_settings())
        self.browser = Browser(crawler)
        self.browser._hosts = object()
        self.browser._chromiums = SimpleNamespace(acquire=self._take, give_back=self._give_back)
        session = SimpleNamespace(on=lambda *_: None, send=self._nothing)
        self._page = SimpleNamespace(
            on=self.handlers.__setitem__, add_init_script=self._nothing, route=self._nothing, goto=self._go
        )
        self._context = SimpleNamespace(new_page=self._opened, new_cdp_session=lambda _: self._nothing(session))

    async def _nothing(self, result=None, *_):
        return result

    async def _opened(self):
        return self._page

    async def _take(self):
        async def context(**_):
            return self._context

        return Chromium(SimpleNamespace(new_context=context, is_connected=lambda: self.is_connected), 1)

    async def _give_back(self, chromium, *, is_usable):
        self.usable.append(is_usable)
        self.handlers["close"](self._page)  # as Playwright does when we close the page

    async def _go(self, *_, **__):
        self._happens(self)

    def reason(self):
        """Return why the page is not rendered."""

        async def render():
            async with asyncio.timeout(10):
                await self.browser.render(Request(URL, meta={LEASE: None}), Response(URL))

        with pytest.raises(Exception) as raised:  # noqa: PT011
            asyncio.run(render())
        return failure_of(raised.value)


def close(world):
    world.handlers["close"](None)


def crash(world):
    world.handlers["crash"](None)


def disconnect(world):
    world.is_connected = False
    close_early(world)


def close_early(_):
    """The browser was killed a moment ago, and Playwright does not know it yet."""
    from playwright.async_api import Error

    raise Error("Target page, context or browser has been closed")


@pytest.mark.parametrize(
    ("happens", "text", "is_transient"),
    [
        (close, "browser_closed", True),
        (close_early, "browser_closed", True),
        (disconnect, "browser_closed", True),
        (crash, "rendering_crash", False),
    ],
)
def test_page_whose_browser_ends_has_a_reason_at_once(monkeypatch, happens, text, is_transient):
    pytest.importorskip("playwright")
    world = World(monkeypatch, happens)
    assert world.reason() == (text, State.FAILED, is_transient)
    assert world.usable == [False]


# The browsers themselves


class Context:
    """Is closed at once, or never."""

    def __init__(self, *, is_busy):
        self._is_busy = is_busy

    async def close(self):
        if self._is_busy:
            await asyncio.Event().wait()


class Program:
    """The browser as Playwright shows it."""

    def __init__(self, pid, *, is_busy):
        self.contexts = [Context(is_busy=is_busy)]
        self.pid = pid
        self.is_running = True

    def is_connected(self):
        return self.is_running

    async def new_browser_cdp_session(self):
        async def send(_):
            return {"processInfo": [{"type": "GPU", "id": 1}, {"type": "browser", "id": self.pid}]}

        async def detach():
            pass

        return SimpleNamespace(send=send, detach=detach)


@pytest.fixture
def killed(monkeypatch):
    pids = []
    monkeypatch.setattr(os, "kill", lambda pid, number: pids.append((pid, number)))
    return pids


def browsers(*, is_busy=False):
    pids = iter(range(100, 200))

    async def launch():
        return Program(next(pids), is_busy=is_busy)

    return Chromiums(launch)


def test_pages_at_the_same_time_have_different_browsers_and_later_ones_the_same(killed):
    async def pids():
        ours = browsers()
        first, second = await ours.acquire(), await ours.acquire()
        await ours.give_back(first, is_usable=True)
        return [first.pid, second.pid, (await ours.acquire()).pid, (await ours.acquire()).pid]

    assert asyncio.run(pids()) == [100, 101, 100, 102]
    assert killed == []


@pytest.mark.parametrize(("is_usable", "is_busy"), [(False, False), (True, True)])
def test_browser_that_is_of_no_use_is_killed_and_only_that(killed, monkeypatch, is_usable, is_busy):
    monkeypatch.setattr(module, "CLOSING_S", 0.0)

    async def next_pid():
        ours = browsers(is_busy=is_busy)
        first, _ = await ours.acquire(), await ours.acquire()
        await ours.give_back(first, is_usable=is_usable)
        return (await ours.acquire()).pid

    assert asyncio.run(next_pid()) == 102
    assert killed == [(100, signal.SIGKILL)]


def test_browser_that_ended_is_not_taken_again_and_nothing_is_killed(killed):
    async def next_pid():
        ours = browsers()
        first = await ours.acquire()
        await ours.give_back(first, is_usable=True)
        first.browser.is_running = False
        second = await ours.acquire()
        second.browser.is_running = False
        await ours.give_back(second, is_usable=False)
        return (await ours.acquire()).pid

    assert asyncio.run(next_pid()) == 102
    assert killed == []


def test_memory_is_that_of_the_largest_process_that_renders_below_the_browser(tmp_path):
    def process(pid, parent, kind, anonymous_kb):
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a b) c) S {parent} 1 1")
        (tmp_path / str(pid) / "cmdline").write_bytes(f"chromium\0--type={kind}\0".encode())
        status = f"VmRSS:\t99999999 kB\nRssAnon:\t{anonymous_kb} kB\nRssFile:\t9999 kB\nRssShmem:\t1 kB\n"
        (tmp_path / str(pid) / "status").write_text(status)

    process(10, 1, "browser", 5000)
    process(11, 10, "zygote", 4000)
    process(12, 11, "renderer", 300)
    process(13, 11, "renderer", 200)
    process(20, 1, "renderer", 6000)  # of another browser
    (tmp_path / "30").mkdir()  # has ended meanwhile
    assert rendering_bytes(10, tmp_path) == 301 * 1024
    assert rendering_bytes(99, tmp_path) == 0
