"""Several workers of one crawl on this machine under one command: `scrapy crawl … -s WORKERS=4`.

Each worker is a process of the same command with WORKERS=1. This process only starts, watches and replaces them. It
reads the store in threads: a server that does not respond must not keep the command from obeying signals. A worker that
lost its claims or the store begins its command again (`begin_again`) and joins its crawl as a new one; no state is
carried over, so that none can be wrong.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import random
import signal
import sys
import tempfile
import time
from concurrent.futures import Future
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NoReturn

from crawlers.errors import ConfigError, CrawlersError
from crawlers.extensions.progress import INTERVAL_S
from crawlers.extensions.summary import show_summary
from crawlers.inputs.program import CRAWL, WorkerPlace, suggested
from crawlers.inputs.setting_readers import shows_progress
from crawlers.pages.pool import environment
from crawlers.plurals import counted
from crawlers.reports.live_display import LiveDisplay
from crawlers.spiders.base import SiteSpider
from crawlers.store.database import Database
from crawlers.workers.worker_table import process_row

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from scrapy import Spider
    from scrapy.settings import BaseSettings

    from crawlers.workers.worker_table import ProcessRow

logger = logging.getLogger(__name__)

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


# Behind the arguments of the command, so that they take precedence.
OF_WORKERS = ("-s", "WORKERS=1", "-s", "PROGRESS_ENABLED=0", "-s", "LOG_FILE_APPEND=1", "--pidfile=")
ONCE = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # the beginnings of names that mean something else in each process
MAX_DEATHS = 5  # of workers at one place in a row, before any of them read a page
STORE_FAILED = 74  # the exit status of a worker whose store failed for good: EX_IOERR of sysexits.h
SEVERITY = (0, 3, 2, 1)  # exit statuses of workers, the worst last
CLOSING_S = 10.0  # to show the end of the crawl; if the store does not respond, the terminal is given back at the exit


def check_workers(settings: BaseSettings, spider: type[Spider], options: argparse.Namespace) -> None:
    """Raise `ConfigError` if a crawl of *spider* can't have several workers on one machine."""
    number = settings.getint("WORKERS")
    if not issubclass(spider, SiteSpider):
        raise ConfigError(
            f"WORKERS={number}: {spider.name} is a spider of your own, which runs in one process; leave out WORKERS"
        )
    if any(str(uri).startswith("stdout:") for uri in settings.getdict("FEEDS")):
        raise ConfigError(f"WORKERS={number}: workers can't share standard output; write items to a file: -o pages.csv")
    if options.profile:
        raise ConfigError(f"WORKERS={number}: --profile measures one process; leave out WORKERS, or write 1")
    for name, value in options.spargs.items():
        if value.startswith(ONCE):
            raise ConfigError(f"WORKERS={number}: {name}={value} can be read by one process only; write it to a file")


def run_workers(settings: BaseSettings) -> int:
    """Run a crawl with WORKERS processes of this command; return the exit status."""
    for handler in logging.root.handlers:
        if isinstance(handler, logging.FileHandler):  # it is opened again, to append like the workers
            handler.close()
            handler.mode = "a"
    with tempfile.TemporaryDirectory(prefix="crawlers-") as folder:
        summary = Path(folder) / "summary.txt"
        status = asyncio.run(_run(LocalWorkers(settings, summary), settings.getint("WORKERS")))
        if summary.exists():
            show_summary(summary.read_text("utf-8").splitlines(), settings)
    return status


async def _run(workers: LocalWorkers, number: int) -> int:
    supervisor = Supervisor(number, workers)
    for name in (signal.SIGINT, signal.SIGTERM, *((signal.SIGTSTP,) if sys.stderr.isatty() else ())):
        asyncio.get_running_loop().add_signal_handler(name, supervisor.ask, name)
    try:
        return await supervisor.run()
    finally:
        workers.close(0.0 if supervisor.is_forced else CLOSING_S)


class LocalWorkers:
    """The workers of a command: how they are started, what the store knows of them, and what people see of them."""

    def __init__(self, settings: BaseSettings, summary: Path) -> None:
        self._settings = settings
        self._summary = summary
        self._began_at = time.monotonic()
        self._has_ended = Event()
        self._display: Thread | None = None  # that shows the progress of the crawl

    async def start(self, place: int, crawl_id: int | None) -> WorkerProcess:
        """Return a process at a *place*, from 1 on, that joins the crawl *crawl_id*; with None, any crawl."""
        place_of_it = WorkerPlace(place, self._settings.getint("WORKERS"), self._summary)
        variables = environment() | place_of_it.environment() | ({CRAWL: str(crawl_id)} if crawl_id is not None else {})
        command = [sys.executable, *sys.orig_argv[1:], *OF_WORKERS]
        loop, new = asyncio.get_running_loop(), partial(WorkerProcess, self._write)
        _, process = await loop.subprocess_exec(new, *command, env=variables, process_group=0)
        return process

    def find(self, process: int) -> ProcessRow | None:
        """Return what the store knows of a process of this command; None: it has not joined a crawl."""
        with suppress(CrawlersError), closing(Database(self._settings.get("DATABASE_URL"), create=False)) as database:
            return process_row(database, platform.node(), process, time.monotonic() - self._began_at)
        return None  # workers find a broken store themselves, and report that

    def show(self, crawl_id: int) -> None:
        """Show the progress of a crawl from now on, if that is wanted."""
        if shows_progress(self._settings):
            self._display = Thread(target=self._show, args=(crawl_id,), daemon=True)
            self._display.start()

    def fail(self, message: str) -> None:
        """Show why the command ends."""
        print(f"Error: {suggested(message)}", file=sys.stderr)
        if self._settings.get("LOG_FILE"):
            logger.error("%s", message)

    def close(self, limit_s: float) -> None:
        """Give the terminal back; the store is read once more, which may take *limit_s* seconds."""
        self._has_ended.set()
        if self._display is not None:
            self._display.join(limit_s)

    def _write(self, line: str, is_output: bool) -> None:
        is_above = self._display is not None and sys.stdout.isatty()
        print(line, file=sys.stdout if is_output and not is_above else sys.stderr)

    def _show(self, crawl_id: int) -> None:
        try:
            display = LiveDisplay(self._settings.get("DATABASE_URL"), str(crawl_id))
            while not self._has_ended.wait(INTERVAL_S):
                display.refresh()
            display.close()
        except Exception:  # the outcome of the command does not depend on it
            logger.exception("Internal error")


class Supervisor:
    """Starts *number* workers, the first one alone until it has joined, and runs until all have ended."""

    def __init__(self, number: int, workers: LocalWorkers) -> None:
        self._number = number
        self._workers = workers
        self._running: dict[int, WorkerProcess] = {}  # by place, from 1 to *number*
        self._crawl_id: int | None = None  # None: the first worker has not joined yet
        self._statuses = [0]
        self._lost: WorkerProcess | None = None  # the last one that was lost while the crawl was stopping
        self._is_stopping = False
        self._has_signal = False
        self._forced: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_forced(self) -> bool:
        """Whether a second signal ended everything at once."""
        return self._forced.done()

    async def run(self) -> int:
        """Run until all workers have ended; return the worst of their exit statuses."""
        async with asyncio.TaskGroup() as places:
            first = places.create_task(self._keep(1))
            while self._crawl_id is None and not (await asyncio.wait({first}, timeout=INTERVAL_S))[0]:
                if 1 in self._running:
                    await self._find(self._running[1])
            if self._crawl_id is not None and not (first.done() or self._is_stopping):
                self._workers.show(self._crawl_id)
                for place in range(2, self._number + 1):
                    places.create_task(self._keep(place))
        if self._lost is not None and (seen := await self._find(self._lost)) is not None and seen.is_running:
            # The lock of a worker that was killed is free a moment later: until then, no other is the last one.
            logger.info("The last worker was lost before it wrote the outputs; one more is started to write them")
            self._is_stopping = True
            await self._keep(1)
        return max(self._statuses, key=SEVERITY.index)

    async def _keep(self, place: int) -> None:
        """Run workers at *place*, until one ends that is not replaced."""
        deaths = 0
        while True:
            process = self._running[place] = await self._workers.start(place, self._crawl_id)
            if self._is_stopping:
                process.stop()
            if self.is_forced:
                process.send(signal.SIGKILL)
            status = await process.ended
            del self._running[place]
            if self.is_forced:
                break
            if status in (0, 2, 3):
                self._statuses.append(status)
                return
            if status == STORE_FAILED:
                break  # another one would fail, too
            seen = await self._find(process)
            deaths = 0 if seen is not None and seen.pages else deaths + 1
            how = f"was ended by {_name(-status)}" if status < 0 else f"ended with status {status}"
            who = f"Worker {place if seen is None else seen.worker} (process {process.pid}) {how}"
            if self._is_stopping or (seen is not None and not seen.goes_on):
                logger.warning("%s while the crawl was stopping; the same command resumes it", who)
                self._lost = process if seen is not None else self._lost
                break
            if deaths == MAX_DEATHS:
                self._stop()
                self._workers.fail(
                    f"{who}, like {MAX_DEATHS - 1} workers before it that read no page either; correct what the log "
                    "says, then run the same command again"
                )
                break
            logger.warning("%s; another one takes its place", who)
        self._statuses.append(1)

    async def _find(self, process: WorkerProcess) -> ProcessRow | None:
        """Return what the store knows of a worker from now on; None also if everything ends at once."""
        found: Future[ProcessRow | None] = Future()

        def find() -> None:
            try:
                found.set_result(self._workers.find(process.pid))
            except BaseException as error:
                found.set_exception(error)

        Thread(target=find, daemon=True).start()  # it does not keep the program from ending
        look = asyncio.wrap_future(found)
        waiting: set[asyncio.Future[Any]] = {look, self._forced}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        seen = look.result() if look.done() else None
        if seen is not None:
            self._crawl_id = seen.crawl_id
        return seen

    def ask(self, number: int) -> None:
        """Do what a signal to this process asks for: stop gracefully, end at once, or suspend all processes."""
        processes = self._running.values()
        if number == signal.SIGTSTP:  # Ctrl-Z
            for process in processes:
                process.send(signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)  # until this one is continued
            for process in processes:
                process.send(signal.SIGCONT)
        elif not self._has_signal:
            self._has_signal = True
            workers = counted(len(processes), "worker")
            logger.info("Received %s; stopping %s gracefully. Send it again to end at once", _name(number), workers)
            self._stop()
        elif not self.is_forced:
            self._forced.set_result(None)
            logger.info("Received %s twice; ending %s at once", _name(number), counted(len(processes), "worker"))
            for process in processes:
                process.send(signal.SIGKILL)

    def _stop(self) -> None:
        self._is_stopping = True
        for process in self._running.values():
            process.stop()


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 5.0  # between two attempts, and at most twice as long: workers come one by one


def wait_for_store(url: str, limit_s: float, stopped: Event) -> None:
    """Wait until the store *url* can be opened, at most some *limit_s* seconds, or until *stopped* is set.

    Raises `ConfigError` if it can't be opened.
    """
    ends_at, pause_s = time.monotonic() + limit_s, FIRST_WAIT_S
    while True:
        try:
            Database(url, create=False).close()
            return
        except ConfigError:
            if time.monotonic() >= ends_at or stopped.wait(random.uniform(pause_s, 2 * pause_s)):  # noqa: S311
                raise
        pause_s = min(2 * pause_s, LONGEST_WAIT_S)


def begin_again(crawl_id: int | None) -> NoReturn:
    """Replace this process by one of the same command, which joins the crawl *crawl_id*; with None, any crawl."""
    if crawl_id is not None:
        os.environ[CRAWL] = str(crawl_id)
    sys.stdout.flush()
    sys.stderr.flush()
    logging.shutdown()
    command = [sys.executable, *sys.orig_argv[1:]]
    os.execve(sys.executable, command, environment())  # noqa: S606 - the same command, without a shell


def let_signals_end_the_process() -> None:
    """Restore what Ctrl-C and signals do: Scrapy's handlers stop a reactor that no longer runs."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
