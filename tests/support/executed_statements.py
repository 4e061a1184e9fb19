"""Which statements are executed: by a thread, or by a worker from its first request until its writer is closed."""

from __future__ import annotations

import json
import os
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from scrapy import signals
from sqlalchemy import Engine, event

from crawlers.extensions.crawl_owner import owner_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from scrapy.crawler import Crawler

    from crawlers.storage.database import Database

FOLDER = "statements"
WRITER, READERS = "store-writer", "store-reader"
REACTOR = threading.main_thread().name
_PLUMBING = ("crawlers.storage.database", "crawlers.storage.bulk_writer")
_READS = ("_read", "_read_of", "_lists", "_streamed")  # by which the store of the frontier executes all statements


class Executed(NamedTuple):
    """A statement that a worker executed, once or many times."""

    thread: str
    function: str  # of the program, that executed it
    row: str  # the type of the rows that it writes; "" if the function made it
    statement: str
    values: list[Any]  # its parameters, those of all executions


class ExecutedStatements:
    """An extension that writes a file for each process into FOLDER: statements, and the sites that it held."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._executed: dict[tuple[str, ...], list[Any]] = {}
        self._held: set[int] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        made = cls(crawler)
        crawler.signals.connect(made._opened, signals.spider_opened)
        crawler.signals.connect(made._closed, signals.spider_closed)
        return made

    def _opened(self) -> None:
        crawl = owner_of(self._crawler).crawl

        @event.listens_for(Engine, "before_cursor_execute")
        def _record(connection: Any, cursor: Any, statement: str, values: Any, context: Any, many: bool) -> None:
            if crawl.session.writer.is_closed:
                return
            self._held.update(crawl.frontier.site_ids())
            key = (threading.current_thread().name, *_origin(sys._getframe()), " ".join(statement.split()))
            named = context.compiled_parameters[0] if context is not None and context.compiled is not None else values
            self._executed.setdefault(key, []).append(named)

    def _closed(self) -> None:
        folder = Path(FOLDER)
        folder.mkdir(exist_ok=True)
        text = json.dumps([sorted(self._held), [[*key, values] for key, values in self._executed.items()]], default=str)
        (folder / f"{os.getpid()}.json").write_text(text, "utf-8")


def _origin(frame: FrameType | None) -> tuple[str, str]:
    """Return the function of the program that executes a statement, and the type of the rows that it writes."""
    row = ""
    while frame is not None:
        module, function = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if module == "crawlers.storage.bulk_writer" and "kind" in frame.f_locals:
            row = frame.f_locals["kind"].__name__
        elif module.startswith("crawlers.") and module not in _PLUMBING and function not in _READS:
            return f"{module.rpartition('.')[2]}.{function}", row
        frame = frame.f_back
    return "", row


def recorded(folder: Path) -> Iterator[tuple[set[int], list[Executed]]]:
    """Return, for each worker in *folder*, the sites that it held and what it executed."""
    for path in sorted((folder / FOLDER).glob("*.json")):
        held, executed = json.loads(path.read_text("utf-8"))
        yield set(held), [Executed(*one) for one in executed]


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
