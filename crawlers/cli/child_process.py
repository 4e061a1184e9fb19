"""The process of a worker that another process watches, and what happens to such processes, in order.

It has a process group of its own, so that Ctrl-C reaches the watching process only, and a pipe as standard input: when
that is closed, on purpose or because the watching process died, the worker stops gracefully.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from threading import Semaphore
from typing import IO, TYPE_CHECKING, NamedTuple

from crawlers.workers.worker_table import Course

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlers.workers.worker_table import ProcessRow

MAX_LINES = 256  # of all workers that wait to be shown


class Line(NamedTuple):
    """A line that a worker wrote."""

    place: int
    text: str
    is_output: bool = False  # on standard output, not in the log


class Exit(NamedTuple):
    """The end of a worker; a negative status is the number of the signal that ended it."""

    place: int
    status: int


class Signal(NamedTuple):
    """A signal to this process."""

    number: int


class StoreView(NamedTuple):
    """What the store said after `StoreWatch.look`."""

    workers: dict[int, ProcessRow]  # by process: those that have joined a crawl
    course: Course = Course()  # of the crawl
    has_failed: bool = False  # the store could not be read


Event = Line | Exit | Signal | StoreView


class Events:
    """What happens, in order. A worker that writes lines faster than they are shown has to wait."""

    def __init__(self, max_lines: int = MAX_LINES) -> None:
        self._queue: SimpleQueue[Event] = SimpleQueue()
        self._room = Semaphore(max_lines)

    def put(self, event: Event) -> None:
        """Add *event*. Anything but a line can be added by a signal handler, also while `get` is running."""
        if isinstance(event, Line):
            self._room.acquire()
        self._queue.put(event)

    def get(self, timeout: float) -> Event:
        """Return the next event; raise `Empty` if there is none within *timeout* seconds."""
        event = self._queue.get(timeout=timeout)
        if isinstance(event, Line):
            self._room.release()
        return event


MAX_LINE_BYTES = 1 << 16  # longer lines are divided
LAST_BYTES = 1 << 19  # what pipes and readers may hold; whatever comes later is of programs that it started
LAST_LINES_S = 2.0  # to read what a process wrote that has ended; programs that it started may keep its pipes open


class ChildProcess:
    """A process of *command* at a place; its lines and its end are put into *events*."""

    def __init__(self, place: int, command: Sequence[str], environment: Mapping[str, str], events: Events) -> None:
        self._place = place
        self._events = events
        self._process = subprocess.Popen(  # noqa: S603  # our own command
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
        self.pid = self._process.pid
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._input = self._process.stdin
        self._is_putting = {True: False, False: False}  # by whether it is output: a line waits for room in the events
        self._put_bytes = {True: 0, False: 0}  # by whether they are output
        readers = [
            threading.Thread(target=self._read, args=(stream, is_output), daemon=True)
            for stream, is_output in ((self._process.stdout, True), (self._process.stderr, False))
        ]
        for thread in (*readers, threading.Thread(target=self._wait, args=(readers,), daemon=True)):
            thread.start()

    def stop(self) -> None:
        """Let it stop gracefully."""
        self._input.close()

    def kill(self) -> None:
        """End it at once, with all programs that it started."""
        if sys.platform == "win32":
            self._process.kill()
        else:
            self.send(signal.SIGKILL)

    def send(self, number: int) -> None:
        """Send a signal to it and to all programs that it started."""
        if self._process.returncode is None:  # else its number may be that of another group
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def _read(self, stream: IO[bytes], is_output: bool) -> None:
        with stream:
            while line := stream.readline(MAX_LINE_BYTES):
                text = line.decode("utf-8", "backslashreplace").rstrip("\r\n")
                self._is_putting[is_output] = True
                self._events.put(Line(self._place, text, is_output))
                self._put_bytes[is_output] += len(line)
                self._is_putting[is_output] = False

    def _wait(self, readers: Sequence[threading.Thread]) -> None:
        status = self._process.wait()
        most_bytes = self._bytes_put + LAST_BYTES
        for reader in readers:
            before = -1
            # A reader is not ready as long as its line waits for room, or it has put lines since the last look.
            while (
                reader.is_alive()
                and self._bytes_put < most_bytes
                and (any(self._is_putting.values()) or before < self._bytes_put)
            ):
                before = self._bytes_put
                reader.join(LAST_LINES_S)
        self._input.close()
        self._events.put(Exit(self._place, status))

    @property
    def _bytes_put(self) -> int:
        return sum(self._put_bytes.values())
