"""Which statements are executed: by a thread, or by a worker from its first request until its writer is closed."""

import json
import os
import threading
from contextlib import contextmanager
from pathlib import Path

from scrapy import signals
from sqlalchemy import Engine, event

from crawlers.extensions.crawl_owner import owner_of

FOLDER = "statements"
WRITER, READERS = "store-writer", "store-reader"
REACTOR = threading.main_thread().name


class ExecutedStatements:
    """An extension that writes a file for each process into FOLDER: the statements of each thread."""

    def __init__(self, crawler):
        self._crawler = crawler
        self._executed = set()

    @classmethod
    def from_crawler(cls, crawler):
        made = cls(crawler)
        crawler.signals.connect(made._opened, signals.spider_opened)
        crawler.signals.connect(made._closed, signals.spider_closed)
        return made

    def _opened(self):
        crawl = owner_of(self._crawler).crawl

        @event.listens_for(Engine, "before_cursor_execute")
        def _record(connection, cursor, statement, *_):
            if not crawl.session.writer.is_closed:
                self._executed.add((threading.current_thread().name, " ".join(statement.split())))

    def _closed(self):
        folder = Path(FOLDER)
        folder.mkdir(exist_ok=True)
        (folder / f"{os.getpid()}.json").write_text(json.dumps(sorted(self._executed)), "utf-8")


def recorded(folder):
    """Return thread and statement of what the process of a crawl in *folder* executed."""
    (path,) = (folder / FOLDER).glob("*.json")
    return [tuple(one) for one in json.loads(path.read_text("utf-8"))]


@contextmanager
def statements(database):
    """The statements that this thread executes."""
    executed = []
    here = threading.get_ident()

    def record(connection, cursor, statement, *_):
        if threading.get_ident() == here:
            executed.append(statement)

    event.listen(database.engine, "before_cursor_execute", record)
    yield executed
    event.remove(database.engine, "before_cursor_execute", record)
