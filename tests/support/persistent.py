"""HTTP servers on loopback whose connections stay open, so that a test decides how each of them goes on."""

import asyncio
from collections import Counter
from contextlib import suppress

from tests.support.connections import Connections
from tests.support.loop_thread import LoopThread


def response(body, status=200):
    data = body.encode()
    return b"HTTP/1.1 %d X\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (status, len(data), data)


class Connection:
    """One connection; *number* is that of its latest request for a page, from 1."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer
        self.number = 0

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()


class PersistentSite:
    """A site without robots.txt, served by a thread during the `with` block.

    *answer* responds to a path, and may close the connection. With *context* the site has TLS.
    """

    def __init__(self, answer, context=None):
        self._answer = answer
        self._context = context
        self.paths = Counter()
        self._connections = Connections()
        self._thread = LoopThread()

    def __enter__(self):
        self._thread.start()
        opened = asyncio.start_server(self._connections.served_by(self._serve), "127.0.0.1", 0, ssl=self._context)
        self._server = self._thread.run(opened)
        scheme = "http" if self._context is None else "https"
        self.origin = f"{scheme}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_):
        self._thread.end(self._close())

    async def _close(self):
        await self._connections.close(self._server)

    async def _serve(self, reader, writer):
        connection = Connection(reader, writer)
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while not writer.is_closing():
                path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
                self.paths[path] += 1
                if path == "/robots.txt":
                    await connection.send(response("", 404))
                else:
                    connection.number += 1
                    await self._answer(connection, path)
