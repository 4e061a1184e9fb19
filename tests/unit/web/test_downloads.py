"""Files wait for their turn: however many are wanted, the pages of the panel answer."""

import itertools
import socket
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
import uvicorn

from crawlers.reports.catalogue.report import Row
from crawlers.web.pages import graph_pages, report_pages
from crawlers.web.panel import FILES_AT_ONCE
from crawlers.web.serving import access_on, panel
from tests.support.processes import PATIENCE_S, until
from tests.support.stored_crawl import stored_crawl

MANY = 50  # more than there are threads, and connections to the store


@contextmanager
def served(database, starter, folder):
    """The address of a panel that answers several requests at the same time."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        app = panel(database, access_on("127.0.0.1", port, "", []), starter, folder)
        server = uvicorn.Server(uvicorn.Config(app, http="h11", ws="none", log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join()


def loaded(address):
    with urllib.request.urlopen(address, timeout=PATIENCE_S) as response:
        return response.status, len(response.read())


@pytest.fixture
def slow_files(monkeypatch):
    """Let files read the store until the event that it returns is set; and a list of those that began."""
    may_end, begun = threading.Event(), []

    def slow(read):
        def reading(database, *arguments):
            with database.read():
                begun.append(read)
                assert may_end.wait(PATIENCE_S)
            return read(database, *arguments)

        return reading

    def all_rows(database, *arguments):
        yield from slow(rows)(database, *arguments)

    rows = report_pages.all_rows
    monkeypatch.setattr(report_pages, "all_rows", all_rows)
    monkeypatch.setattr(graph_pages, "crawl_graph", slow(graph_pages.crawl_graph))
    yield may_end, begun
    may_end.set()


def test_pages_answer_while_many_files_are_written(database, starter, tmp_path, slow_files):
    may_end, begun = slow_files
    crawl = f"/crawls/{stored_crawl(database)}"
    with served(database, starter, tmp_path) as address, ThreadPoolExecutor(MANY) as clients:
        files = (f"{crawl}/reports/pages.csv", f"{crawl}/graph/full.gexf?graph=http://a.test")
        wanted = [clients.submit(loaded, address + files[number % 2]) for number in range(MANY)]
        until(lambda: len(begun) >= FILES_AT_ONCE, "the first files")
        for path in ("/", crawl, f"{crawl}/reports/pages", "/static/panel.css"):
            assert loaded(address + path)[0] == 200
        assert len(begun) == FILES_AT_ONCE
        may_end.set()
        sizes = {one.result(PATIENCE_S) for one in wanted}
    assert len(begun) == MANY
    assert len(sizes) == len(files)
    assert all(status == 200 and size > 100 for status, size in sizes)


def test_clients_that_take_their_time_keep_no_turn(sqlite, starter, tmp_path, monkeypatch):
    rows = report_pages.all_rows

    def endless_pages(database, crawl_id, shown, filters):
        if shown.name != "pages":
            return rows(database, crawl_id, shown, filters)
        return (Row(("x" * 1000,) * len(shown.columns), ()) for _ in itertools.count())

    monkeypatch.setattr(report_pages, "all_rows", endless_pages)
    crawl = f"/crawls/{stored_crawl(sqlite)}"
    with served(sqlite, starter, tmp_path) as address, ExitStack() as stack:
        host = address.removeprefix("http://")
        for _ in range(2 * FILES_AT_ONCE):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", int(host.partition(":")[2]))))
            client.sendall(f"GET {crawl}/reports/pages.csv HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert client.recv(12) == b"HTTP/1.1 200"
        assert loaded(f"{address}{crawl}/reports/redirects.csv")[0] == 200


def test_file_that_nobody_waits_for_any_more_is_not_made(sqlite, starter, tmp_path, slow_files):
    may_end, begun = slow_files
    path = f"/crawls/{stored_crawl(sqlite)}/reports/pages.csv"
    with served(sqlite, starter, tmp_path) as address, ThreadPoolExecutor(FILES_AT_ONCE) as clients:
        wanted = [clients.submit(loaded, address + path) for _ in range(FILES_AT_ONCE)]
        until(lambda: len(begun) == FILES_AT_ONCE, "the first files")
        host = address.removeprefix("http://")
        with socket.create_connection(("127.0.0.1", int(host.partition(":")[2]))) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            assert loaded(f"{address}/")[0] == 200  # so the panel has the request
        assert loaded(f"{address}/")[0] == 200  # so it knows that the client is gone
        may_end.set()
        assert {one.result(PATIENCE_S)[0] for one in wanted} == {200}
        assert loaded(address + path)[0] == 200
    assert len(begun) == FILES_AT_ONCE + 1
