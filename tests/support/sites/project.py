"""Runs commands of the project as users do, each in its own folder, and reads their results."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, text

from crawlers.items import State
from tests.support.processes import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.support.processes import Ended


QUICK = {"ROBOTS_REST_SECONDS": 0}  # no test waits for a site that is never going to respond


class Project:
    """A working folder; *settings* apply to all commands."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.folder = folder
        self.settings = settings

    def start(
        self,
        command: str,
        *arguments: str,
        is_fresh: bool = False,
        before: Callable[[], None] | None = None,
        **settings: object,
    ) -> Run:
        """Start a Scrapy command; see `Run`."""
        line = [command]
        for name, value in {**QUICK, **self.settings, **settings}.items():
            text = value if isinstance(value, str) else json.dumps(value)
            line += ["-s", f"{name}={text}"]
        return Run(self.folder, [*line, *arguments], is_fresh=is_fresh, before=before)

    def run(self, command: str, *arguments: str, **settings: object) -> Ended:
        """Run a Scrapy command to its end."""
        return self.start(command, *arguments, **settings).wait()

    def crawl(self, hosts: str, *arguments: str, **settings: object) -> Ended:
        """Crawl the sites *hosts* to the end."""
        return self.run("crawl", "sitegraph", "-a", f"hosts={hosts}", *arguments, **settings)

    # Results

    @property
    def database_url(self) -> str:
        return str(self.settings.get("DATABASE_URL", f"sqlite:///{self.folder / 'crawl.sqlite'}"))

    def query(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        """Return rows of the store; *values* stand for names such as `:site` in the *statement*."""
        if not self.database_url.startswith("sqlite"):
            engine = create_engine(self.database_url)
            try:
                with engine.connect() as connection:
                    return [tuple(row) for row in connection.execute(text(statement), values)]
            finally:
                engine.dispose()
        with closing(
            sqlite3.connect(f"file:{self.folder / 'crawl.sqlite'}?mode=ro", uri=True, timeout=30)
        ) as connection:
            return connection.execute(statement, values).fetchall()

    def pages(self, origin: str = "") -> dict[str, tuple[State, str]]:
        """Return state and reason of every page, by path, or by URL if no *origin* is given."""
        ids = "SELECT id FROM site WHERE site LIKE :site"
        rows = self.query(f"SELECT url, state, reason FROM page WHERE site_id IN ({ids})", site=origin or "%")
        return {url.removeprefix(origin): (State(state), reason or "") for url, state, reason in rows}

    def states(self) -> list[tuple[str, str]]:
        """Return state and reason of all crawls, oldest first."""
        return self.query("SELECT state, reason FROM crawl ORDER BY id")

    def site(self, origin: str) -> Mapping[str, Any]:
        """Return the row of a site in the latest crawl."""
        names = ("robots_status", "robots_text", "availability")
        rows = self.query(
            f"SELECT {', '.join(names)} FROM site WHERE site = :site ORDER BY id DESC LIMIT 1", site=origin
        )
        return dict(zip(names, rows[0], strict=True))
