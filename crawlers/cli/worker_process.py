"""The process of a worker that another process watches in an event loop."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LINE_BYTES = 1 << 16  # longer lines are divided
LAST_BYTES = 1 << 19  # what pipes may hold of a process that has ended; whatever comes later is of its programs
LAST_LINES_S = 2.0  # to read what it wrote, if programs that it started keep its pipes open


class WorkerProcess(asyncio.SubprocessProtocol):
    """A process whose lines *write* shows, with True those of standard output; `ended` is its exit status.

    A negative status is the number of the signal that ended it.

    It has a process group of its own, so that Ctrl-C reaches the watching process only, and a pipe as standard input:
    when that is closed, on purpose or because the watching process died, the worker stops gracefully.
    """

    _transport: asyncio.SubprocessTransport

    def __init__(self, write: Callable[[str, bool], None]) -> None:
        self._write = write
        self._loop = asyncio.get_running_loop()
        self._begun = {1: b"", 2: b""}  # incomplete lines, by descriptor
        self._bytes = 0
        self.ended: asyncio.Future[int] = self._loop.create_future()

    @property
    def pid(self) -> int:
        number = self._transport.get_pid()
        assert number is not None
        return number

    def stop(self) -> None:
        """Let it stop gracefully."""
        if (pipe := self._transport.get_pipe_transport(0)) is not None:
            pipe.close()

    def send(self, number: int) -> None:
        """Send a signal to it and to all programs that it started."""
        if self._transport.get_returncode() is None:  # else its number may be that of another group
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._bytes += len(data)
        *lines, rest = (self._begun[fd] + data).split(b"\n")
        if len(rest) > MAX_LINE_BYTES:
            lines.append(rest)
            rest = b""
        self._begun[fd] = rest
        for line in lines:
            self._write(line.decode("utf-8", "backslashreplace").rstrip("\r"), fd == 1)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if self._begun.get(fd):
            self.pipe_data_received(fd, b"\n")

    def process_exited(self) -> None:
        self.stop()
        self._close_if_silent(-1, self._bytes + LAST_BYTES)

    def _close_if_silent(self, before: int, most: int) -> None:
        if before < self._bytes < most:
            self._loop.call_later(LAST_LINES_S, self._close_if_silent, self._bytes, most)
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport.close()
        status = self._transport.get_returncode()
        assert status is not None
        self.ended.set_result(status)
