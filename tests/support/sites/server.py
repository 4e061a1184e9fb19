"""HTTP servers on loopback that do what the demo web does not: they stall, lie, disconnect, and count requests.

A site is a function of an `Exchange`, and has its own port. Each response closes its connection, so that
every request that arrives was made deliberately.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tests.support.connections import Connections, reset
from tests.support.loop_thread import LoopThread

if TYPE_CHECKING:
    from collections.abc import Mapping

SEND_BUFFER_BYTES = 65_536  # small, so that sent bytes exceed read bytes by at most this


class Request(NamedTuple):
    """A request, received at *at_s* of the monotonic clock."""

    at_s: float
    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes


@dataclass(slots=True)
class Site:
    """A served site and its requests."""

    origin: str
    requests: list[Request] = field(default_factory=list)
    sent_bytes: Counter[str] = field(default_factory=Counter)  # by path, of bodies
    at_once: int = 0  # requests in progress
    most_at_once: int = 0

    def count(self, path):
        return sum(one.path == path for one in self.requests)

    @property
    def paths(self):
        """The requested paths, in order."""
        return [one.path for one in self.requests]

    @property
    def gaps_s(self):
        """Seconds between one request and the next."""
        times = [one.at_s for one in self.requests]
        return [later - earlier for earlier, later in pairwise(times)]


class Exchange:
    """One request, and the connection for the response."""

    def __init__(self, site, request, reader, writer):
        self.site = site
        self.request = request
        self.path = request.path
        self._reader = reader
        self._writer = writer

    async def head(self, status=200, content_type="text/html", **more):
        """Send status and headers; the names of *more* have `_` for `-`."""
        lines = [f"HTTP/1.1 {status} Whatever", "Connection: close"]
        if content_type:
            lines.append(f"Content-Type: {content_type}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        await self._writer.drain()

    async def body(self, data):
        """Send a piece of the body; return when nearly all of it was read."""
        self._writer.write(data)
        await self._writer.drain()
        self.site.sent_bytes[self.path] += len(data)

    async def page(self, body=b"", status=200, **headers):
        """Send a complete response, HTML by default."""
        data = body.encode() if isinstance(body, str) else body
        await self.head(status, Content_Length=len(data), **headers)
        await self.body(data)

    async def until_closed(self):
        """Send nothing until the client closes the connection."""
        await self._reader.read()

    def reset(self):
        """Close the connection with a TCP reset."""
        reset(self._writer)


def links(*hrefs):
    return "<!DOCTYPE html><title>Links</title>" + "".join(f'<a href="{href}">{href}</a> ' for href in hrefs)


def pages(bodies, robots=None):
    """Return the handler of a site with these pages; other paths are 404."""

    async def respond(exchange):
        if exchange.path == "/robots.txt" and robots is not None:
            await exchange.page(robots, content_type="text/plain")
        elif exchange.path in bodies:
            await exchange.page(bodies[exchange.path])
        else:
            await exchange.page("missing", 404)

    return respond


class Web:
    """Sites by name, served by a thread during the `with` block, which fails at its end if a handler failed.

    A site whose handler is None has a port without a listener.
    """

    def __init__(self, **handlers):
        self._handlers = handlers
        self._sockets = {name: socket.socket() for name in handlers}
        self._servers = []
        self._connections = Connections()
        self._thread = LoopThread()
        self.sites = {}
        for name, sock in self._sockets.items():
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
            sock.bind(("127.0.0.1", 0))
            self.sites[name] = Site(f"http://127.0.0.1:{sock.getsockname()[1]}")

    def __getitem__(self, name):
        return self.sites[name]

    def hosts(self, *names, limits=";8;;0"):
        """Return the argument `hosts` for the sites *names*, or for all."""
        return ",".join(self.sites[name].origin + limits for name in names or self.sites)

    def __enter__(self):
        self._thread.start()
        self._thread.run(self._open())
        return self

    def __exit__(self, *_):
        try:
            self._thread.end(self._close())
        finally:
            for sock in self._sockets.values():
                sock.close()

    @contextmanager
    def held(self):
        """Respond to nothing until the end of the block."""
        with self._thread.held():
            yield

    async def _open(self):
        for name, handler in self._handlers.items():
            if handler is not None:
                served = self._connections.served_by(self._served(self.sites[name], handler))
                self._servers.append(await asyncio.start_server(served, sock=self._sockets[name], backlog=512))

    async def _close(self):
        await self._connections.close(*self._servers)

    def _served(self, site, handler):
        async def serve(reader, writer):
            site.at_once += 1
            try:
                request = await _read(reader)
                site.most_at_once = max(site.most_at_once, site.at_once)
                site.requests.append(request)
                await handler(Exchange(site, request, reader, writer))
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass  # closed by the client or by the end of the test
            finally:
                site.at_once -= 1

        return serve


async def _read(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
    at_s = time.monotonic()
    method, path, _ = head[0].split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(at_s, method, path, headers, body)
