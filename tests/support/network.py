"""A network between a worker and PostgreSQL that a test can cut: a TCP proxy before the socket of the server."""

import asyncio
from contextlib import suppress

from sqlalchemy import make_url

from tests.support.connections import Connections, reset
from tests.support.loop_thread import LoopThread


class Network:
    """Forwards connections to the database *url*, of `services.fresh_database`, until the end of the `with` block.

    On a *cut* line nothing arrives, in either direction, and nobody is told: connections are accepted, and what is sent
    is kept until the line is mended, as TCP would send it again. A line that is *broken* resets connections, and
    refuses new ones.
    """

    def __init__(self, url):
        self._url = make_url(url)
        self._server = f"{self._url.query['host']}/.s.PGSQL.5432"
        self._thread = LoopThread()
        self._is_whole = asyncio.Event()
        self._is_whole.set()
        self._port = 0  # any, then always the same
        self._listening = None
        self._connections = Connections()
        self._writers = set()
        self._thread.start()
        self._thread.run(self._listen())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._thread.end(self._close())

    @property
    def url(self):
        """The URL of the same database through this network."""
        return self._url.set(host="127.0.0.1", port=self._port, query={}).render_as_string(hide_password=False)

    def cut(self):
        """Cut the line: let nothing arrive."""
        self._thread.loop.call_soon_threadsafe(self._is_whole.clear)

    def break_off(self):
        """Break the line: reset all connections."""
        self._thread.run(self._reset())

    def forget(self):
        """Let nothing arrive any more on the open connections, as a firewall does that was restarted."""
        self._thread.loop.call_soon_threadsafe(self._forget)

    def mend(self):
        """Let everything arrive again."""
        self._thread.run(self._mend())

    async def _listen(self):
        self._listening = await asyncio.start_server(
            self._connections.served_by(self._connected), "127.0.0.1", self._port
        )
        self._port = self._listening.sockets[0].getsockname()[1]

    def _forget(self):
        self._is_whole.clear()
        self._is_whole = asyncio.Event()
        self._is_whole.set()

    async def _mend(self):
        self._is_whole.set()
        if self._listening is None:
            await self._listen()

    async def _reset(self):
        assert self._listening is not None
        listening, self._listening = self._listening, None
        for writer in self._writers:
            reset(writer)
        self._writers.clear()
        await self._connections.close(listening)

    async def _close(self):
        if self._listening is not None:
            await self._reset()

    async def _connected(self, reader, writer):
        with suppress(OSError):
            self._writers.add(writer)
            is_whole = self._is_whole
            await is_whole.wait()
            answers, requests = await asyncio.open_unix_connection(self._server)
            self._writers.add(requests)
            await asyncio.gather(self._forward(reader, requests, is_whole), self._forward(answers, writer, is_whole))
            self._writers.discard(requests)
        self._writers.discard(writer)

    async def _forward(self, reader, writer, is_whole):
        with suppress(OSError):
            while received := await reader.read(65_536):
                await is_whole.wait()
                writer.write(received)
                await writer.drain()
        await is_whole.wait()  # the end of a connection does not arrive either
        writer.close()
