"""A panel of a store with a crawl, and browsers without windows."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from shutil import copy
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert, update
from starlette.testclient import TestClient

from crawlers.mission import parts_of_all
from crawlers.store.database import Database
from crawlers.store.schema.tables import crawl, worker
from crawlers.store.worker_rows import WorkerLock
from crawlers.web.cached_results import THREADS, CachedResults
from crawlers.web.pages import deletion_pages, explain_pages, report_pages
from crawlers.web.serving import access_on, panel
from tests.support.processes import PATIENCE_S
from tests.support.stored_crawl import CRAWL, stored_crawl
from tests.support.stored_rows import execute

if TYPE_CHECKING:
    from crawlers.inputs.program import CrawlCommand
    from crawlers.web.starting import Job

PORT = 8060
HOST = f"127.0.0.1:{PORT}"
FORM = re.compile(r'name="csrf" value="([^"]+)"')


@dataclass
class Browser:
    """A client that keeps cookies, and sends the headers that browsers send."""

    client: TestClient

    def get(self, path, **headers):
        return self.client.get(path, headers=headers)

    def post(self, path, form_of="/", **form):
        """Send a form of the page *form_of*."""
        return self.upload(path, {}, form_of, **form)

    def upload(self, path, files, form_of="/", **form):
        """Send a form with files, by field: their names and their content."""
        token = FORM.search(self.get(form_of).text)[1]
        headers = {"origin": f"http://{HOST}"}
        return self.client.post(path, data={"csrf": token, **form}, files=files or None, headers=headers)


@pytest.fixture(autouse=True)
def patient_pages(monkeypatch):
    """Pages that search and count as long as it takes, on busy machines as well."""
    for pages in (deletion_pages, explain_pages, report_pages, *parts_of_all("panel")):
        monkeypatch.setattr(pages, "SEARCH_S", PATIENCE_S)
    for pages in (deletion_pages, report_pages):
        monkeypatch.setattr(pages, "COUNT_S", PATIENCE_S)


@pytest.fixture(scope="session")
def crawl_store(empty_store, tmp_path_factory):
    """The file of a store with a crawl, to be copied."""
    path = copy(empty_store, tmp_path_factory.mktemp("crawl") / "crawl.sqlite")
    with closing(Database(f"sqlite:///{path}")) as database:
        stored_crawl(database)
    return path


@pytest.fixture
def sqlite_url(request, empty_store, crawl_store, tmp_path):
    """The URL of a store, the test's own: with a crawl if it asks for its number, otherwise empty."""
    store = crawl_store if "crawl_id" in request.fixturenames else empty_store
    return f"sqlite:///{copy(store, tmp_path / 'crawl.sqlite')}"


@pytest.fixture
def crawl_id():
    """The number of a crawl in the store."""
    return CRAWL


def change_crawl(database, *, of=CRAWL, **values):
    """Change the row of a crawl; what is not text becomes JSON."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    execute(database, update(crawl).where(crawl.c.id == of).values(**texts))


@pytest.fixture
def running_id(sqlite, crawl_id):
    """The number of a crawl that a worker runs."""
    row = {"id": 3, "crawl_id": crawl_id, "machine": "m", "process": 1, "version": "1", "state": "active", "pages": 7}
    execute(sqlite, insert(worker).values(**row, joined_at=1e9, beat_at=1e9))
    change_crawl(sqlite, state="running")
    lock = WorkerLock(sqlite, 3)
    yield crawl_id
    lock.release()


@dataclass
class Started:
    """A starter that remembers what it was asked for; each test says what comes of it."""

    outcome: int | str | Exception = "It has not begun yet."
    ended: list[Job] = field(default_factory=list)
    commands: list[tuple[str, CrawlCommand, dict[str, bytes]]] = field(default_factory=list)

    def start(self, name, command, files):
        self.commands.append((name, command, files))
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def endings(self):
        return self.ended


@pytest.fixture
def starter():
    return Started()


def panel_of(database, starter, folder, password="", wait_s=PATIENCE_S, port=PORT, threads=THREADS):
    """Return a browser in which the panel of a store is open.

    With a *password* it needs that. Its pages wait up to *wait_s* seconds for results that take long; without
    *threads*, these are never computed.
    """
    access = access_on("127.0.0.1", port, password, [])
    app = panel(database, access, starter, folder, CachedResults(wait_s, threads=threads))
    address = f"http://127.0.0.1:{port}"
    return Browser(TestClient(app, base_url=address, follow_redirects=False, raise_server_exceptions=False))


@pytest.fixture
def open_panel(sqlite, starter, tmp_path):
    """Return a function that opens the panel of the test's store as `panel_of` does."""
    return partial(panel_of, sqlite, starter, tmp_path)


@pytest.fixture
def browser(open_panel):
    """A browser in which the panel is open."""
    return open_panel()
