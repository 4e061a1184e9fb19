"""Starts crawls: as processes of this machine, or by scrapyd. The panel never runs one itself.

The command checks everything before it begins, so nothing is checked twice here: a process that ends before its crawl
is in the store has said why, in the terms of the command line.
"""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from crawlers.errors import ConfigError
from crawlers.storage.worker_queries import begun_since, time_of_server

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crawlers.inputs.crawl_command import CrawlCommand
    from crawlers.storage.database import Database

logger = logging.getLogger(__name__)

FOLDER = Path("logs/panel")  # below it each crawl has a folder of its own, for its input and its logs
PROGRAM = (sys.executable, "-m", "scrapy")
NAME = re.compile(r"[^\W_][\w .+-]{0,79}")  # of a crawl that is started here: it names a folder
PATIENCE_S = 30.0  # until a crawl begins or says why it can't; then it is left to itself
LOOK_EVERY_S = 0.1
CLOSING_S = 10.0  # for a process to end
MAX_SAID_BYTES = 20_000
_ERROR = re.compile(r"^Error: ", re.MULTILINE)


class Begun(NamedTuple):
    """The crawl is in the store."""

    crawl_id: int


class Refused(NamedTuple):
    """The crawl can't begin, and why: one sentence a line."""

    message: str


class Pending(NamedTuple):
    """Nothing is known yet, but where to look."""

    message: str


Outcome = Begun | Refused | Pending


class Starter(Protocol):
    """Runs commands somewhere."""

    def start(self, name: str, command: CrawlCommand, files: Mapping[str, bytes]) -> Outcome:
        """Start the crawl *name*, and wait a little for its beginning.

        *files* are the arguments of *command* that are files, with their content. Raises `ConfigError` if it can't be
        started at all.
        """

    def endings(self) -> list[Ending]:
        """Return how the crawls ended that this panel started, the latest first."""


class Ending(NamedTuple):
    """The end of a process."""

    name: str  # of its crawl
    at: float  # seconds since 1970
    status: int  # of its exit; negative: the signal that ended it


@dataclass
class _Job:
    name: str
    process: subprocess.Popen[bytes]
    log: Path
    ended_at: float | None = None
    is_told: threading.Event = field(default_factory=threading.Event)


def crawl_folder(folder: Path, name: str) -> Path | None:
    """Return where the files of the crawl *name* are that were started here, below *folder*; None: there are none."""
    return folder / FOLDER / name if NAME.fullmatch(name) else None


class LocalStarter:
    """Starts processes of this machine in *folder*; they live on when the panel ends.

    *passed_on* are the options of the panel itself that its crawls need as well, such as that of the store.
    """

    def __init__(
        self,
        database: Database,
        folder: Path,
        passed_on: Sequence[str] = (),
        program: Sequence[str] = PROGRAM,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._folder = folder
        self._passed_on = passed_on
        self._program = program
        self._clock = clock
        self._lock = threading.Lock()
        self._jobs: list[_Job] = []

    def start(self, name: str, command: CrawlCommand, files: Mapping[str, bytes]) -> Outcome:
        """Start a process, whose output goes to a log of its own; see `Starter`."""
        own = crawl_folder(self._folder, name)
        if own is None:
            raise ConfigError(f"CRAWL={name} can't name a folder; begin with a letter or a digit, then . + - _ as well")
        since = time_of_server(self._database)
        for job in self._running(name):  # a crawl has ended in the store a little before its process has
            job.is_told.wait(CLOSING_S)
        with self._lock:
            if self._running(name):
                raise ConfigError(f"the crawl {name} is running; stop it first, or choose another name")
            job = self._run(name, own, command, files)
            self._jobs.append(job)
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            has_ended = job.is_told.wait(LOOK_EVERY_S)
            if (crawl_id := begun_since(self._database, name, since)) is not None:
                return Begun(crawl_id)
            if has_ended:
                return Refused(_said(job.log))
        return Pending(f"The crawl {name} has not begun yet; its log is {job.log.relative_to(self._folder)}.")

    def endings(self) -> list[Ending]:
        """Return the ends of all processes that were started here."""
        with self._lock:
            return [
                Ending(job.name, job.ended_at, job.process.returncode)
                for job in reversed(self._jobs)
                if job.ended_at is not None
            ]

    def _running(self, name: str) -> list[_Job]:
        return [job for job in self._jobs if job.name == name and not job.is_told.is_set()]

    def _run(self, name: str, own: Path, command: CrawlCommand, files: Mapping[str, bytes]) -> _Job:
        try:
            own.mkdir(parents=True, exist_ok=True)
            for argument, content in files.items():
                (self._folder / command.arguments[argument]).write_bytes(content)
            log = own / time.strftime("%Y-%m-%dT%H-%M-%SZ.log", time.gmtime(self._clock()))
            with log.open("ab") as output:
                process = subprocess.Popen(  # noqa: S603 - a list of words, without a shell
                    [*self._program, *command.words(), "-s", f"CRAWL={name}", *self._passed_on],
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # Ctrl-C ends the panel only
                )
        except OSError as error:
            raise ConfigError(f"{error.filename or own} can't be used: {error.strerror}; check its folder") from error
        job = _Job(name, process, log)
        threading.Thread(target=self._watch, args=(job,), daemon=True).start()
        return job

    def _watch(self, job: _Job) -> None:
        status = job.process.wait()
        with self._lock:
            job.ended_at = self._clock()
        job.is_told.set()
        logger.info("The process of the crawl %s has ended with status %d; its log is %s", job.name, status, job.log)


def _said(log: Path) -> str:
    """Return the message of a command that could not begin."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - MAX_SAID_BYTES))
        text = file.read().decode("utf-8", "replace")
    return _ERROR.split(text)[-1].strip() or "The command has ended without a word."
