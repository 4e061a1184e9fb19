"""What happens to the workers of a command, in order: their lines and ends, signals, and what the store says."""

from __future__ import annotations

from queue import SimpleQueue
from threading import Semaphore
from typing import TYPE_CHECKING, NamedTuple

from crawlers.storage.worker_queries import Course

if TYPE_CHECKING:
    from crawlers.storage.worker_queries import SeenProcess

MAX_LINES = 256  # of all workers that wait to be shown


class Line(NamedTuple):
    """A line that a worker wrote."""

    place: int
    text: str
    is_output: bool = False  # on standard output, not in the log


class Ended(NamedTuple):
    """The end of a worker; a negative status is the number of the signal that ended it."""

    place: int
    status: int


class Asked(NamedTuple):
    """A signal to this process."""

    number: int


class Looked(NamedTuple):
    """What the store said after `StoreWatch.look`."""

    workers: dict[int, SeenProcess]  # by process: those that have joined a crawl
    course: Course = Course()  # of the crawl
    has_failed: bool = False  # the store could not be read


Event = Line | Ended | Asked | Looked


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
