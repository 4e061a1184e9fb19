"""Connections to a server of a test, each of which is closed when the test ends."""

import asyncio
import socket
import struct


def reset(writer):
    """Close the connection with a TCP reset."""
    opened = writer.get_extra_info("socket")
    if opened.family == socket.AF_INET:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class Connections:
    """The connections of one event loop, each served by a task."""

    def __init__(self):
        self._tasks = set()
        self._writers = set()
        self._failures = []

    def served_by(self, serve):
        """Return what `asyncio.start_server` calls with a connection; it is closed when *serve* returns."""

        def connected(reader, writer):
            task = asyncio.get_running_loop().create_task(serve(reader, writer))
            self._tasks.add(task)
            self._writers.add(writer)
            # not by a `finally` in the task: a task that is cancelled before its first step runs none of its lines
            task.add_done_callback(lambda _: self._ended(task, writer))

        return connected

    def _ended(self, task, writer):
        writer.close()
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            self._failures.append(failure)

    async def close(self, *servers):
        """End all connections, then *servers*; raise an ExceptionGroup of what was raised while serving.

        A server that closes while it accepts a connection leaves the socket open: so do asyncio's own tasks when they
        are cancelled. They end by themselves.
        """
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in self._tasks & others:
                task.cancel()
            await asyncio.wait(others)
        for server in servers:
            server.close()
        for writer in self._writers:
            writer.transport.abort()  # bytes that nobody reads would keep it open
        self._writers.clear()
        await asyncio.sleep(0)  # each transport closes its socket in the loop's next step
        if self._failures:
            raise BaseExceptionGroup("the server of the test failed", self._failures)
