"""Runs crawls as users do, each in its own folder, and reads their results."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy.exc import ProgrammingError

from crawlers.items import State
from tests.support.sites.project import Project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.support.processes import Ended, Run

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
    "bad_link": "SELECT p.url, b.raw, b.reason, b.count, b.anchor FROM bad_link b LEFT JOIN page p ON p.id = b.page_id",
    "external_url": "SELECT * FROM external_url",
    "link_context": "SELECT * FROM link_context",
    "sitemap": """
        SELECT s.site, m.url, m.address, m.number, i.url, m.state, m.status, m.kind, m.reason, m.urls, m.outside, m.cut
        FROM sitemap m JOIN site s ON s.id = m.site_id
        LEFT JOIN sitemap i ON i.site_id = m.site_id AND i.key = m.index_key""",
    "sitemap_url": """
        SELECT s.site, u.key, u.url, m.url, u.modified_at FROM sitemap_url u JOIN site s ON s.id = u.site_id
        LEFT JOIN sitemap m ON m.site_id = u.site_id AND m.key = u.sitemap_key""",
    "site": """
        SELECT s.site, s.parallel, s.max_level, s.delay_s, s.robots_status, s.robots_text, s.availability,
            c.name, c.state FROM site s JOIN crawl c ON c.id = s.crawl_id""",
}


class Crawl:
    """A working folder with hosts.txt, and the crawls that run in it; *settings* apply to all runs."""

    def __init__(self, folder: Path, hosts: Iterable[str], spider: str = "sitegraph", **settings: object) -> None:
        self.folder = folder
        self.spider = spider
        self._project = Project(folder, **settings)
        url = self._project.database_url
        self.server = url if url.startswith("postgresql") else None
        self._runs: list[Run] = []
        folder.mkdir(parents=True, exist_ok=True)
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
        is_fresh: bool = False,
        before: Callable[[], None] | None = None,
        **settings: object,
    ) -> Run:
        """Start the command; see `Run`."""
        own = [part for argument in arguments for part in ("-a", argument)]
        run = self._project.start("crawl", self.spider, *own, is_fresh=is_fresh, before=before, **settings)
        self._runs.append(run)
        return run

    def run(self, **settings: Any) -> Ended:
        """Run the command to its end."""
        return self.start(**settings).wait()

    # Results ----------------------------------------------------------------------------------------

    @property
    def database(self) -> Path:
        return self.folder / "crawl.sqlite"

    @property
    def result(self) -> Path:
        return self.folder / "result"

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Return rows of the database, [] if its file does not exist; never writes, not even a checkpoint."""
        try:
            return self._project.query(statement)
        except (sqlite3.OperationalError, ProgrammingError) as error:
            # The last error: killed while the file was being created, so that a writer must roll it back first.
            nothing = ("unable to open", "no such table", "does not exist", "write a readonly database")
            if any(text in str(error) for text in nothing):
                return []
            raise

    def is_locked(self) -> bool:
        """Return whether a process is within a transaction that writes to the file of SQLite."""
        with closing(sqlite3.connect(self.database, timeout=0.1, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
        return False

    def snapshot(self) -> dict[str, bytes]:
        """Return everything in the folder: files with their bytes, folders without."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else b""
            for path in self.folder.rglob("*")
        }

    @property
    def states(self) -> list[str]:
        """Return the states of all crawls, oldest first."""
        return [state for (state,) in self.query("SELECT state FROM crawl ORDER BY id")]

    @property
    def stored(self) -> int:
        """Return the number of URLs that have ended, as far as committed."""
        rows = self.query(f"SELECT count(*) FROM page WHERE state != {int(State.WAITING)}")
        return rows[0][0] if rows else 0

    @property
    def waiting(self) -> int:
        rows = self.query(f"SELECT count(*) FROM page WHERE state = {int(State.WAITING)}")
        return rows[0][0] if rows else 0

    def tables(self) -> Tables:
        """Return all rows that are results, with URLs in place of numbers, and the count of each."""
        return {name: Counter(self.query(statement)) for name, statement in _TABLES.items()}

    def files(self) -> dict[str, bytes]:
        """Return the files of the result folder by name, including hidden ones."""
        return {path.name: path.read_bytes() for path in self.result.glob("*")}


def add_on(name: str) -> str:
    """Return the value of ADDONS that loads the class *name* of `crashing`."""
    return json.dumps({f"tests.support.crashing.{name}": 0})


def differences(wanted: Tables, found: Tables) -> list[str]:
    """Describe the rows that *found* lacks or has too often."""
    return [
        f"{name}: {sign} {row} ({count} times)"
        for name in wanted
        for sign, rows in (("-", wanted[name] - found[name]), ("+", found[name] - wanted[name]))
        for row, count in rows.items()
    ]
