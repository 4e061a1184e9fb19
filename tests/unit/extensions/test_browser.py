"""A page fails by its own fault only; if its browser is closed or killed, it may be rendered again."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from crawlers.extensions import browser as module
from crawlers.extensions.browser import Browser, Chromium
from crawlers.items import LEASE, State
from crawlers.schedulers.failures import failure_of
from tests.support.opened_crawl import project_settings

URL = "http://a.test/"


class World:
    """Chromium as Playwright shows it; *happens* is called when the page was opened, with its handlers of events."""

    def __init__(self, monkeypatch, happens):
        self.handlers: dict[str, Any] = {}
        self.is_connected = True
        self.usable: list[bool] = []
        self._happens = happens
        crawl = SimpleNamespace(clock=lambda: 0.0)
        monkeypatch.setattr(module, "owner_of", lambda crawler: SimpleNamespace(crawl=crawl))
        requests = SimpleNamespace(limit=None, answer=None, redirect=None, close=lambda: None)
        monkeypatch.setattr(module, "SubRequests", lambda *_: requests)
        crawler: Any = SimpleNamespace(settings=project_settings())
        self.browser: Any = Browser(crawler)
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
