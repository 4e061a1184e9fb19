"""Which statements are executed: by a thread, or by a worker from its first request until its writer is closed."""

from __future__ import annotations

import json
import os
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from sqlalchemy import Engine, event

from crawlers.extensions.crawl_owner import owner_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler

    from crawlers.storage.database import Database

FOLDER = "statements"
WRITER, READERS = "store-writer", "store-reader"
REACTOR = threading.main_thread().name


class ExecutedStatements:
    """An extension that writes a file for each process into FOLDER: the statements of each thread."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._executed: set[tuple[str, str]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        made = cls(crawler)
        crawler.signals.connect(made._opened, signals.spider_opened)
        crawler.signals.connect(made._closed, signals.spider_closed)
        return made

    def _opened(self) -> None:
        crawl = owner_of(self._crawler).crawl

        @event.listens_for(Engine, "before_cursor_execute")
        def _record(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
            if not crawl.session.writer.is_closed:
                self._executed.add((threading.current_thread().name, " ".join(statement.split())))

    def _closed(self) -> None:
        folder = Path(FOLDER)
        folder.mkdir(exist_ok=True)
        (folder / f"{os.getpid()}.json").write_text(json.dumps(sorted(self._executed)), "utf-8")


def recorded(folder: Path) -> list[tuple[str, str]]:
    """Return thread and statement of what the process of a crawl in *folder* executed."""
    (path,) = (folder / FOLDER).glob("*.json")
    return [tuple(one) for one in json.loads(path.read_text("utf-8"))]


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """The statements that this thread executes."""
    executed: list[str] = []
    here = threading.get_ident()

    def record(connection: object, cursor: object, statement: str, *_: object) -> None:
        if threading.get_ident() == here:
            executed.append(statement)

    event.listen(database.engine, "before_cursor_execute", record)
    yield executed
    event.remove(database.engine, "before_cursor_execute", record)
