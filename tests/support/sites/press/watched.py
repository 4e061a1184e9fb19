"""A press in a thread of this process, whose clock goes on with each request: so it is seen what was asked, and when.

Every second site names the versions of its pages by ETag, the others by Last-Modified.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import ExitStack
from email.utils import formatdate
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import unquote

from aiohttp import web as http

from tests.support.sites.press.press import Press

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.sites.press.press import Answer

END_S = 10
BEGAN = 1_700_000_000.0  # long past by every clock: what a feed dates in the future would be no date
DAY_S = 86_400


class Announcement(NamedTuple):
    """What a feed or news sitemap that was sent told of; *sent_at* by the real clock."""

    sent_at: float
    feed: str
    articles: set[str]


class WatchedPress:
    """*sites* that publish for so many *days*, which pass with so many *requests*; served while the block lasts.

    *on_request* may be set to what is to be called, in the server's thread, before a request is answered.
    """

    def __init__(self, seed: int, sites: int, requests: int, *, days: int = 3, per_day: float = 10) -> None:
        self._exit = ExitStack()
        self._sockets = [
            self._exit.enter_context(socket.create_server((f"127.77.1.{number}", 0), backlog=512))
            for number in range(1, sites + 1)
        ]
        origins = ["http://{}:{}".format(*sock.getsockname()) for sock in self._sockets]
        self.press = Press(seed, origins, BEGAN, per_day=per_day, archive_days=days)
        self.end = BEGAN + days * DAY_S
        self._step_s = max(1.0, days * DAY_S / requests)  # a second at least: it is what Last-Modified can tell apart
        self._versions: dict[str, tuple[bytes, float]] = {}  # by URL: the latest, and since when
        self.requests = 0
        self.unchanged = 0  # requests that were answered with 304
        self.announcements: list[Announcement] = []
        self.read_at: dict[str, float] = {}  # when a page was sent last, by its unescaped URL
        self.on_request: Callable[[], None] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="press")

    @property
    def now(self) -> float:
        """The time at the press, which stands still at its end."""
        return min(BEGAN + self.requests * self._step_s, self.end)

    @property
    def is_over(self) -> bool:
        return self.now >= self.end

    def sources(self) -> str:
        """The text of sources.yaml, with rules as people would write them."""
        return self.press.sources({host: self.press.rules(host) for host in self.press.hosts})

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(END_S)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(END_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(END_S)
        self._loop.close()
        self._exit.close()

    async def _open(self) -> None:
        application = http.Application()
        application.router.add_route("GET", "/{path:.*}", self._handle)
        self._runner = http.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        for sock in self._sockets:
            await http.SockSite(self._runner, sock).start()

    async def _handle(self, request: http.Request) -> http.Response:
        self.requests += 1
        if self.on_request is not None:
            self.on_request()
        host, now = request.host, self.now
        url = f"http://{host}{request.raw_path}"
        answer = self.press.page(host, request.raw_path, now)
        name, asked, version = self._version(url, answer, now)
        if answer.status == 200 and request.headers.get(asked) == version:
            self.unchanged += 1
            return http.Response(status=304, headers={name: version})
        if answer.status == 200:
            self.read_at[unquote(url)] = now
            if articles := self.press.announced(host, request.raw_path, now):
                self.announcements.append(Announcement(time.time(), url, articles))
        return http.Response(status=answer.status, headers={**answer.headers, name: version}, body=answer.body)

    def _version(self, url: str, answer: Answer, now: float) -> tuple[str, str, str]:
        """The header that names the version, the one that asks for another, and the name."""
        digest = blake2b(answer.body, digest_size=8).digest()
        if url not in self._versions or self._versions[url][0] != digest:
            self._versions[url] = digest, now
        if self.press.hosts.index(url.split("/")[2]) % 2 == 0:
            return "ETag", "If-None-Match", f'"{digest.hex()}"'
        return "Last-Modified", "If-Modified-Since", formatdate(self._versions[url][1], usegmt=True)
