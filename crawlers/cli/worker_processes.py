"""Several workers of one crawl on this machine under one command: `scrapy crawl … -s WORKERS=4`.

Each worker is a process of the same command with WORKERS=1. This process only starts and watches them; what it shows is
read from the store. Nothing here knows how processes are started, see `child_process`.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from contextlib import suppress
from queue import Empty
from typing import TYPE_CHECKING

from crawlers.cli.child_process import Event, Events, Exit, Line, Signal, StoreView
from crawlers.plurals import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.cli.child_process import ChildProcess
    from crawlers.cli.store_watch import StoreWatch
    from crawlers.cli.workers_display import WorkersDisplay
    from crawlers.workers.worker_table import ProcessRow

logger = logging.getLogger(__name__)

INTERVAL_S = 0.5  # between two looks at the store
MAX_DEATHS = 5  # of workers at one place in a row, before any of them read a page
MAX_HELD = 1000  # lines of a worker whose number is not known yet
MAX_HELD_CHARACTERS = 1 << 20  # of these lines
SUSPEND = -1 if sys.platform == "win32" else int(signal.SIGTSTP)  # Ctrl-Z
STORE_FAILED = 74  # the exit status of a worker whose store failed for good: EX_IOERR of sysexits.h
SEVERITY = (0, 3, 2, 1)  # exit statuses of workers, the worst last


class WorkerProcesses:
    """Starts *number* workers, the first one alone until it has joined, and runs until all have ended.

    *start* starts a worker at a place, 1 to *number*, which joins the crawl of a number, or any; what happens to it is
    put into *events*. *interval_s* is the time between two looks at the *store*. Nothing here waits for the store, so
    signals are obeyed at once, whatever has become of it.
    """

    def __init__(
        self,
        number: int,
        start: Callable[[int, int | None], ChildProcess],
        store: StoreWatch,
        display: WorkersDisplay,
        events: Events,
        interval_s: float = INTERVAL_S,
    ) -> None:
        self._places = range(1, number + 1)
        self._start_process = start
        self._store = store
        self._display = display
        self._events = events
        self._interval_s = interval_s
        self._look_at = 0.0
        self._is_looking = False
        self._looked = StoreView({})  # the last result
        self._running: dict[int, ChildProcess] = {}  # by place
        self._ended: dict[
            int, tuple[ChildProcess, int]
        ] = {}  # with their statuses: what follows depends on the next look
        self._asked_for: frozenset[int] = frozenset()  # places whose workers had ended when the look began
        self._seen: dict[int, ProcessRow] = {}  # what the last looks that succeeded said of the workers, by place
        self._held: dict[int, list[str]] = {}  # lines of workers without a number, by place
        self._deaths = dict.fromkeys(self._places, 0)  # in a row, before a page
        self._crawl_id: int | None = None  # None: the first worker has not joined yet
        self._late: set[int] = set()  # places of workers that began when the crawl had ended
        self._signals = 0
        self._is_stopping = False
        self._has_lost = False  # a worker while the crawl was stopping
        self._status = 0

    def run(self) -> int:
        """Run until all workers have ended; return the worst of their exit statuses."""
        self._start(1)
        self._watch()
        if self._has_lost and self._looked.course.is_running and not (self._looked.has_failed or self.is_forced):
            # The lock of a worker that was killed is free a moment later: until then, no other is the last one.
            logger.info("The last worker was lost before it wrote the outputs; one more is started to write them")
            self._start(1)
            self._stop()
            self._watch()
        return self._status

    def _watch(self) -> None:
        while self._running or self._ended:
            if not self._is_looking and (self._ended or time.monotonic() >= self._look_at):
                self._look()
            with suppress(Empty):
                self._take(self._events.get(self._interval_s))

    @property
    def is_forced(self) -> bool:
        """Whether a second signal ended everything at once."""
        return self._signals > 1

    def _start(self, place: int) -> None:
        self._running[place] = self._start_process(place, self._crawl_id)
        self._seen.pop(place, None)
        if place > 1:  # the lines of the first one come at once, because it may say why the crawl can't begin
            self._held[place] = []

    # What the store says ----------------------------------------------------------------------------

    def _look(self) -> None:
        self._is_looking = True
        self._look_at = time.monotonic() + self._interval_s
        self._asked_for = frozenset(self._ended)
        processes = [*self._running.values(), *(process for process, _ in self._ended.values())]
        self._store.look([process.pid for process in processes], self._crawl_id)

    def _note_look(self, looked: StoreView) -> None:
        self._is_looking = False
        self._looked = looked
        seen = looked.workers
        for place, process in self._running.items():
            if process.pid in seen:
                self._seen[place] = seen[process.pid]  # it may have joined again, under a new number
                self._release(place)
        for place, (process, status) in list(self._ended.items()):
            if place in self._asked_for or looked.has_failed:  # else the store may know more by now
                del self._ended[place]
                self._end(place, process, status, looked)
        if self._crawl_id is None and seen:
            self._crawl_id = next(iter(seen.values())).crawl_id
            if not self._is_stopping and self._running:
                for place in self._places[1:]:
                    self._start(place)

    # What happens to workers ------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        match event:
            case Line(place, text, is_output):
                self._write(place, text, is_output=is_output)
            case Exit(place, status):
                process = self._running.pop(place)
                if self.is_forced:
                    self._status = 1
                elif place in self._late:
                    pass  # it had nothing to do
                elif self._looked.has_failed:
                    self._end(place, process, status, self._looked)
                else:
                    self._ended[place] = process, status
            case Signal(number):
                self._ask(number)
            case StoreView():
                self._note_look(event)

    def _write(self, place: int, text: str, *, is_output: bool) -> None:
        if place in self._late:
            return
        if is_output:
            self._display.write(text, is_output=True)
        elif place in self._held:
            held = self._held[place]
            held.append(text)
            if len(held) >= MAX_HELD or sum(map(len, held)) >= MAX_HELD_CHARACTERS:
                self._release(place)
        else:
            self._display.write(self._named(place, text), is_output=False)

    def _release(self, place: int) -> None:
        for line in self._held.pop(place, ()):
            self._display.write(self._named(place, line), is_output=False)

    def _named(self, place: int, line: str) -> str:
        """Return *line* after the number of its worker; lines of JSON are left as they are."""
        seen = self._seen.get(place)
        return line if seen is None or line.startswith("{") else f"[{seen.worker}] {line}"

    def _end(self, place: int, process: ChildProcess, status: int, looked: StoreView) -> None:
        if process.pid in looked.workers:
            self._seen[place] = looked.workers[process.pid]
        self._release(place)
        if status in (0, 2, 3):
            self._note(status)
            if self._crawl_id is not None and not looked.course.goes_on:
                self._end_late_ones(looked)
        elif status == STORE_FAILED:
            self._note(1)  # another worker would fail, too
        else:
            self._replace(place, process, status, goes_on=looked.course.goes_on)

    def _end_late_ones(self, looked: StoreView) -> None:
        """End the workers that have not joined the crawl, which has ended meanwhile."""
        for place, process in self._running.items():
            if process.pid not in looked.workers:
                self._late.add(place)
                self._held.pop(place, None)
                process.kill()

    def _note(self, status: int) -> None:
        self._status = max(self._status, status, key=SEVERITY.index)

    def _replace(self, place: int, process: ChildProcess, status: int, *, goes_on: bool) -> None:
        seen = self._seen.get(place)
        self._deaths[place] = 0 if seen is not None and seen.pages else self._deaths[place] + 1
        how = f"was ended by {_name(-status)}" if status < 0 else f"ended with status {status}"
        who = f"Worker {place if seen is None else seen.worker} (process {process.pid}) {how}"
        if self._is_stopping or (seen is not None and not goes_on):
            logger.warning("%s while the crawl was stopping; the same command resumes it", who)
            self._has_lost = True
            self._note(1)
        elif self._deaths[place] >= MAX_DEATHS:
            self._note(1)
            self._stop()
            self._display.fail(
                f"{who}, like {MAX_DEATHS - 1} workers before it that read no page either; correct what the log says, "
                "then run the same command again"
            )
        else:
            logger.warning("%s; another one takes its place", who)
            self._start(place)

    # What people want -------------------------------------------------------------------------------

    def _ask(self, number: int) -> None:
        if number == SUSPEND:
            self._suspend()
            return
        self._signals += 1
        workers = counted(len(self._running), "worker")
        if self._signals == 1:
            logger.info("Received %s; stopping %s gracefully. Send it again to end at once", _name(number), workers)
            self._stop()
        elif self._signals == 2:
            logger.info("Received %s twice; ending %s at once", _name(number), workers)
            for process in self._running.values():
                process.kill()
            if self._ended:  # without the store it is not known how they ended
                self._ended.clear()
                self._status = 1

    def _stop(self) -> None:
        self._is_stopping = True
        for process in self._running.values():
            process.stop()

    def _suspend(self) -> None:
        """Suspend all processes, as Ctrl-Z does, until this one is continued."""
        for process in self._running.values():
            process.send(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        for process in self._running.values():
            process.send(signal.SIGCONT)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
