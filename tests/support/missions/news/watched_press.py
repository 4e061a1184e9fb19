"""A press served by a thread of this process, whose clock advances with each request, which tests can observe.

Every second site has ETag as validator, the others Last-Modified.
"""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from email.utils import formatdate
from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import unquote

from aiohttp import web as http

from examples.press.press import Press
from tests.support.loop_thread import LoopThread

BEGAN = 1_700_000_000.0  # long past for every clock, because feed dates in the future are ignored
DAY_S = 86_400


class Announcement(NamedTuple):
    """An item of a feed or news sitemap that was sent at the real time *sent_at*."""

    sent_at: float
    feed: str
    articles: set[str]


class WatchedPress:
    """*sites* sites whose clock advances *days* days in *requests* requests; served during the `with` block.

    *on_request*, if set, is called in the server's thread before each response.
    """

    def __init__(self, seed, sites, requests, *, days=3, per_day=10):
        self._exit = ExitStack()
        self._sockets = [
            self._exit.enter_context(socket.create_server((f"127.77.1.{number}", 0), backlog=512))
            for number in range(1, sites + 1)
        ]
        origins = ["http://{}:{}".format(*sock.getsockname()) for sock in self._sockets]
        self.press = Press(seed, origins, BEGAN, per_day=per_day, archive_days=days)
        self.end = BEGAN + days * DAY_S
        self._step_s = max(1.0, days * DAY_S / requests)  # at least the resolution of Last-Modified
        self._versions = {}  # by URL: the latest version and its time
        self.requests = 0
        self.unchanged = 0  # number of 304 responses
        self.announcements = []
        self.read_at = {}  # time of the last response, by unescaped URL
        self.on_request = None
        self._thread = LoopThread()

    @property
    def now(self):
        """The time of the press, which stops at the end."""
        return min(BEGAN + self.requests * self._step_s, self.end)

    @property
    def is_over(self):
        return self.now >= self.end

    def sources(self):
        """Return the text of sources.yaml, with rules as people would write them."""
        return self.press.sources({host: self.press.rules(host) for host in self.press.hosts})

    def __enter__(self):
        self._thread.start()
        self._thread.run(self._open())
        return self

    def __exit__(self, *_):
        self._thread.end(self._runner.cleanup())
        self._exit.close()

    async def _open(self):
        application = http.Application()
        application.router.add_route("GET", "/{path:.*}", self._handle)
        self._runner = http.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        for sock in self._sockets:
            await http.SockSite(self._runner, sock).start()

    async def _handle(self, request):
        self.requests += 1
        if self.on_request is not None:
            self.on_request()
        host, now = request.host, self.now
        url = f"http://{host}{request.raw_path}"
        response = self.press.page(host, request.raw_path, now)
        name, condition, version = self._version(url, response, now)
        if response.status == 200 and request.headers.get(condition) == version:
            self.unchanged += 1
            return http.Response(status=304, headers={name: version})
        if response.status == 200:
            self.read_at[unquote(url)] = now
            if articles := self.press.announced(host, request.raw_path, now):
                self.announcements.append(Announcement(time.time(), url, articles))
        return http.Response(status=response.status, headers={**response.headers, name: version}, body=response.body)

    def _version(self, url, response, now):
        """Return the validator header, the conditional request header, and the validator."""
        digest = blake2b(response.body, digest_size=8).digest()
        if url not in self._versions or self._versions[url][0] != digest:
            self._versions[url] = digest, now
        if self.press.hosts.index(url.split("/")[2]) % 2 == 0:
            return "ETag", "If-None-Match", f'"{digest.hex()}"'
        return "Last-Modified", "If-Modified-Since", formatdate(self._versions[url][1], usegmt=True)
