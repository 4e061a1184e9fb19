"""HTTP servers on loopback that do what the demo web does not: they stall, lie, break off, and keep count.

A site is a function of an `Exchange`; every site of a `Web` has a port of its own. Nothing is shared between
answers, each has a connection of its own, so that a request that arrives is a request that was made.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    WebResponse = Callable[["Exchange"], Awaitable[None]]

END_S = 10
SEND_BUFFER_BYTES = 65_536  # small, so that what was sent is what was read, save for this


class Asked(NamedTuple):
    """A request as it came in, at *at_s* of the monotonic clock."""

    at_s: float
    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes


@dataclass(slots=True)
class Site:
    """A served site and what it has seen."""

    origin: str
    asked: list[Asked] = field(default_factory=list)
    sent_bytes: Counter[str] = field(default_factory=Counter)  # by path, of bodies
    at_once: int = 0  # requests that are being answered
    most_at_once: int = 0

    def count(self, path: str) -> int:
        return sum(one.path == path for one in self.asked)

    @property
    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [one.path for one in self.asked]

    @property
    def gaps_s(self) -> list[float]:
        """Seconds between one request and the next."""
        times = [one.at_s for one in self.asked]
        return [later - earlier for earlier, later in pairwise(times)]


class Exchange:
    """One request, and the connection to answer it on."""

    def __init__(self, site: Site, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.site = site
        self.asked = asked
        self.path = asked.path
        self._writer = writer

    async def head(self, status: int = 200, content_type: str = "text/html", **more: object) -> None:
        """Send status and headers; in the names of *more*, `_` stands for `-`."""
        lines = [f"HTTP/1.1 {status} Whatever", "Connection: close"]
        if content_type:
            lines.append(f"Content-Type: {content_type}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        await self._writer.drain()

    async def body(self, data: bytes) -> None:
        """Send a piece of the body; returns when nearly all of it was taken."""
        self._writer.write(data)
        await self._writer.drain()
        self.site.sent_bytes[self.path] += len(data)

    async def page(self, body: bytes | str = b"", status: int = 200, **headers: object) -> None:
        """Send a whole answer, HTML unless *headers* say otherwise."""
        data = body.encode() if isinstance(body, str) else body
        await self.head(status, Content_Length=len(data), **headers)  # type: ignore[arg-type]
        await self.body(data)

    def reset(self) -> None:
        """Break the connection off with a TCP reset instead of an end."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def links(*hrefs: str) -> str:
    return "<!DOCTYPE html><title>Links</title>" + "".join(f'<a href="{href}">{href}</a> ' for href in hrefs)


def pages(bodies: Mapping[str, str], robots: str | None = None) -> WebResponse:
    """A site of these pages; everything else is missing."""

    async def answer(exchange: Exchange) -> None:
        if exchange.path == "/robots.txt" and robots is not None:
            await exchange.page(robots, content_type="text/plain")
        elif exchange.path in bodies:
            await exchange.page(bodies[exchange.path])
        else:
            await exchange.page("missing", 404)

    return answer


class Web:
    """Sites by name, served from a thread of their own while the `with` block lasts.

    A site that is None has a port, but nobody listens there.
    """

    def __init__(self, **answers: WebResponse | None) -> None:
        self._answers = answers
        self._sockets = {name: socket.socket() for name in answers}
        self._servers: list[asyncio.Server] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="sites")
        self.sites: dict[str, Site] = {}
        for name, sock in self._sockets.items():
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
            sock.bind(("127.0.0.1", 0))
            self.sites[name] = Site(f"http://127.0.0.1:{sock.getsockname()[1]}")

    def __getitem__(self, name: str) -> Site:
        return self.sites[name]

    def hosts(self, *names: str, limits: str = ";8;;0") -> str:
        """The argument `hosts` for the sites *names* (all: none named)."""
        return ",".join(self.sites[name].origin + limits for name in names or self.sites)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(END_S)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(END_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(END_S)
        self._loop.close()
        for sock in self._sockets.values():
            sock.close()

    async def _open(self) -> None:
        for name, answer in self._answers.items():
            if answer is not None:
                served = self._served(self.sites[name], answer)
                self._servers.append(await asyncio.start_server(served, sock=self._sockets[name], backlog=512))

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        connections = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    def _served(self, site: Site, answer: WebResponse) -> Callable[..., Awaitable[None]]:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            site.at_once += 1
            try:
                asked = await _read(reader)
                site.most_at_once = max(site.most_at_once, site.at_once)
                site.asked.append(asked)
                await answer(Exchange(site, asked, writer))
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass  # the visitor, or the end of the test, broke it off
            finally:
                site.at_once -= 1
                writer.close()

        return serve


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
    at_s = time.monotonic()
    method, path, _ = head[0].split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(at_s, method, path, headers, body)
