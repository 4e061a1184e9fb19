"""Runs commands of the project as a user does, in a folder of their own, and reads what they leave behind.

Python's warnings are errors in those processes, too.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlers.items import State

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 120  # far longer than anything here takes, even on a busy machine


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    output: str
    log: str  # standard error: Scrapy's log, and our sentences

    @property
    def errors(self) -> list[str]:
        return [line for line in self.log.splitlines() if line.startswith("Error: ")]


class Project:
    """A working folder; *settings* hold for all commands."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.folder = folder
        self.settings = settings

    def start(self, command: str, *arguments: str, **settings: object) -> subprocess.Popen[str]:
        line = [sys.executable, "-W", "error", "-m", "scrapy", command, *arguments]
        for name, value in {**self.settings, **settings}.items():
            text = value if isinstance(value, str) else json.dumps(value)
            line += ["-s", f"{name}={text}"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
        return subprocess.Popen(
            line, cwd=self.folder, env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, command: str, *arguments: str, **settings: object) -> Ended:
        """Run a command of scrapy to its end."""
        return ended(self.start(command, *arguments, **settings))

    def crawl(self, hosts: str, *arguments: str, **settings: object) -> Ended:
        """Crawl the sites *hosts* to the end."""
        return self.run("crawl", "sitegraph", "-a", f"hosts={hosts}", *arguments, **settings)

    # What is left behind

    def query(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.folder / 'crawl.sqlite'}?mode=ro", uri=True)) as connection:
            return connection.execute(statement, values).fetchall()

    def pages(self, origin: str = "") -> dict[str, tuple[State, str]]:
        """State and reason of every page, by its path (by its URL if no *origin* is given)."""
        ids = "SELECT id FROM site WHERE site LIKE :site"
        rows = self.query(f"SELECT url, state, reason FROM page WHERE site_id IN ({ids})", site=origin or "%")
        return {url.removeprefix(origin): (State(state), reason or "") for url, state, reason in rows}

    def states(self) -> list[tuple[str, str]]:
        """State and reason of all crawls, the oldest first."""
        return self.query("SELECT state, reason FROM crawl ORDER BY id")

    def site(self, origin: str) -> Mapping[str, Any]:
        """The row of a site in the latest crawl."""
        names = ("robots_status", "robots_text", "availability")
        rows = self.query(
            f"SELECT {', '.join(names)} FROM site WHERE site = :site ORDER BY id DESC LIMIT 1", site=origin
        )
        return dict(zip(names, rows[0], strict=True))


def ended(process: subprocess.Popen[str]) -> Ended:
    """Wait for the end of *process*; kill it when that takes too long."""
    try:
        output, log = process.communicate(timeout=PATIENCE_S)
    except BaseException:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        raise
    return Ended(process.returncode, output, log)
