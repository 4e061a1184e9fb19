"""Runs crawls as processes, the way a user does, and reads what they leave behind.

Nothing here sleeps for a fixed time: `until` polls a condition of another process, with a bound.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from crawlers.items import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0  # far longer than anything here takes, even on a busy machine
LOOK_EVERY_S = 0.001

Tables = dict[str, Counter[tuple[Any, ...]]]

_TABLES = {
    "page": """
        SELECT s.site, p.url, p.key, p.level, p.hops, p.state, p.reason, p.attempts, p.status, m.url,
            p.content_hash, p.content_signature, p.title, p.canonical, p.content_type, p.size_bytes, p.duplicates
        FROM page p JOIN site s ON s.id = p.site_id LEFT JOIN page m ON m.id = p.moved_to""",
    "link": """
        SELECT a.url, b.url, l.count
        FROM link l LEFT JOIN page a ON a.id = l.source_id LEFT JOIN page b ON b.id = l.target_id""",
    "external_link": """
        SELECT p.url, u.site, u.url, c.anchor, c.context, c.position, c.rel, c.tag, e.count
        FROM external_link e LEFT JOIN page p ON p.id = e.page_id
        LEFT JOIN external_url u ON u.id = e.url_id LEFT JOIN link_context c ON c.id = e.context_id""",
    "bad_link": "SELECT p.url, b.raw, b.reason FROM bad_link b LEFT JOIN page p ON p.id = b.page_id",
    "external_url": "SELECT * FROM external_url",
    "link_context": "SELECT * FROM link_context",
    "site": """
        SELECT s.site, s.parallel, s.max_level, s.delay_s, s.robots_status, s.robots_text, s.availability,
            c.name, c.state FROM site s JOIN crawl c ON c.id = s.crawl_id""",
}


def until(condition: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
    """Wait for *condition*; raise TimeoutError that names *what* did not happen."""
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not happen within {patience_s:g} s")
        time.sleep(LOOK_EVERY_S)


class Ended(NamedTuple):
    """How a process ended; a negative status is the signal that ended it."""

    status: int
    stderr: str

    @property
    def errors(self) -> list[str]:
        """What is meant for the user: a sentence, or several lines when several lines of a file are wrong."""
        return self.stderr.split("Error: ")[1:]


class Run:
    """One process of a crawl."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self._log = log

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    @property
    def stderr(self) -> str:
        return self._log.read_text("utf-8")

    @property
    def log_bytes(self) -> int:
        return self._log.stat().st_size

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)

    def wait(self, patience_s: float = PATIENCE_S) -> Ended:
        return Ended(self.process.wait(patience_s), self.stderr)

    def until(self, condition: Callable[[], bool], what: str) -> bool:
        """Wait for *condition* or the end of the process; whether the condition came true first."""
        came = False

        def is_over() -> bool:
            nonlocal came
            came = condition()
            return came or not self.is_running

        until(is_over, what)
        return came


class Crawl:
    """A working folder with hosts.txt, and the crawls that are run in it. *settings* hold for all runs."""

    def __init__(self, folder: Path, hosts: Iterable[str], spider: str = "sitegraph", **settings: object) -> None:
        self.folder = folder
        self.spider = spider
        self.settings = settings
        self._runs: list[Run] = []
        self._logs = folder.with_name(f"{folder.name}.stderr")  # not in the folder: the crawl's own files are there
        folder.mkdir(parents=True, exist_ok=True)
        self._logs.mkdir()
        (folder / "hosts.txt").write_text("".join(f"{line}\n" for line in hosts), "utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for run in self._runs:
            if run.is_running:
                run.kill()
                run.wait()

    # Running ----------------------------------------------------------------------------------------

    def start(
        self,
        *,
        arguments: Iterable[str] = ("hosts=hosts.txt",),
        before: Callable[[], None] | None = None,
        **settings: object,
    ) -> Run:
        """Start the command; *before* is called in the new process before it becomes the crawl."""
        command = [sys.executable, "-m", "scrapy", "crawl", self.spider]
        for argument in arguments:
            command += ["-a", argument]
        for name, value in {**self.settings, **settings}.items():
            command += ["-s", f"{name}={value}"]
        log = self._logs / f"{len(self._runs) + 1}.log"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                preexec_fn=before,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
        run = Run(process, log)
        self._runs.append(run)
        return run

    def run(self, **settings: Any) -> Ended:
        """Run the command to its end."""
        return self.start(**settings).wait()

    # What is left behind ----------------------------------------------------------------------------

    @property
    def database(self) -> Path:
        return self.folder / "crawl.sqlite"

    @property
    def result(self) -> Path:
        return self.folder / "result"

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Rows of the database, [] while it does not exist; never writes, not even a checkpoint."""
        try:
            with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=30)) as connection:
                return connection.execute(statement).fetchall()
        except sqlite3.OperationalError as error:
            # The last: killed while the file was being made, so that a writer must roll it back first.
            if any(t in str(error) for t in ("unable to open", "no such table", "write a readonly database")):
                return []
            raise

    def snapshot(self) -> dict[str, bytes]:
        """Everything in the folder: files with their bytes, folders with none."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else b""
            for path in self.folder.rglob("*")
        }

    @property
    def states(self) -> list[str]:
        """The states of all crawls, the oldest first."""
        return [state for (state,) in self.query("SELECT state FROM crawl ORDER BY id")]

    @property
    def stored(self) -> int:
        """How many URLs have come to an end, as far as it is committed."""
        rows = self.query(f"SELECT count(*) FROM page WHERE state != {int(State.WAITING)}")
        return rows[0][0] if rows else 0

    @property
    def waiting(self) -> int:
        rows = self.query(f"SELECT count(*) FROM page WHERE state = {int(State.WAITING)}")
        return rows[0][0] if rows else 0

    def tables(self) -> Tables:
        """All rows that are results, with URLs in the place of numbers, and how often each is there."""
        return {name: Counter(self.query(statement)) for name, statement in _TABLES.items()}

    def files(self) -> dict[str, bytes]:
        """The files of the result folder by name, hidden ones too."""
        return {path.name: path.read_bytes() for path in self.result.glob("*")}


def add_on(name: str) -> str:
    """The value of ADDONS that loads the class *name* of `crashing`."""
    return json.dumps({f"tests.support.crashing.{name}": 0})


def differences(wanted: Tables, found: Tables) -> list[str]:
    """What *found* lacks or has too often, in words."""
    return [
        f"{name}: {sign} {row} ({count} times)"
        for name in wanted
        for sign, rows in (("-", wanted[name] - found[name]), ("+", found[name] - wanted[name]))
        for row, count in rows.items()
    ]
