"""Which statements are executed: by this thread, or by any while a crawl runs."""

from __future__ import annotations

import json
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

WRITER, READERS = "store-writer", "store-reader"
REACTOR = threading.main_thread().name
WRITES = ("BEGIN IMMEDIATE", "INSERT", "UPDATE", "DELETE")


class StatementThreads:
    """Writes STATEMENTS_FILE: the pairs of threads and statements from spider_opened until the writer is closed."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._executed: dict[tuple[str, str], None] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        made = cls(crawler)
        crawler.signals.connect(made._opened, signals.spider_opened)
        crawler.signals.connect(made._closed, signals.spider_closed)
        return made

    def _opened(self) -> None:
        writer = owner_of(self._crawler).crawl.session.writer

        @event.listens_for(Engine, "before_cursor_execute")
        def _record(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
            if not writer.is_closed:
                self._executed[threading.current_thread().name, " ".join(statement.split())] = None

    def _closed(self) -> None:
        Path(self._crawler.settings["STATEMENTS_FILE"]).write_text(json.dumps(list(self._executed)), "utf-8")


def read_statements(path: Path) -> list[tuple[str, str]]:
    """Threads and statements, each pair once."""
    return [(thread, statement) for thread, statement in json.loads(path.read_text("utf-8"))]


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
