"""Files wait for their turn: however many are wanted, the pages of the panel answer.

The graph as one file: whole, without a network, and deaf to the texts of strangers.
"""

import base64
import hashlib
import itertools
import json
import re
import shutil
import socket
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
import uvicorn

from crawlers.graphs.crawl_map import GraphMap, MapNode, Meaning
from crawlers.reports.catalogue.report import Row
from crawlers.web.downloads import SCRIPTS, STATIC, standalone_graph
from crawlers.web.pages import graph_pages, report_pages
from crawlers.web.panel import FILES_AT_ONCE
from crawlers.web.serving import access_on, panel
from tests.support.processes import PATIENCE_S, until
from tests.support.services import unavailable
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


HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u2028&amp;"
NODES = [
    MapNode("http://a.test/", "Home", 0, 2, 1, 0.0, 0.0, 8.0, "#4e79a7"),
    MapNode(f"http://a.test/{HOSTILE}", HOSTILE, 1, 1, None, 50.0, 10.0, 5.0, "#f28e2b"),
    MapNode("http://a.test/\ud800\0", "", None, 0, 0, -50.0, 30.0, 4.0, "#f28e2b"),
]
GRAPH = GraphMap(
    f"a.test {HOSTILE}", NODES, [(0, 1), (1, 0), (2, 0)], 3, 3, [Meaning("around %(name)s", HOSTILE, "#4e79a7")]
)


def test_equal_graphs_give_equal_files_that_name_nothing_to_load():
    text = standalone_graph(GRAPH)
    assert text == standalone_graph(GRAPH)
    assert not re.search(r"<(script|link|img|iframe)[^>]*\b(src|href)\s*=", text)
    text.encode()


def test_texts_of_strangers_are_data():
    text = standalone_graph(GRAPH)
    assert len(re.findall(r"<script\b", text)) == 1 + len(SCRIPTS)
    assert len(re.findall(r"</script", text)) == 1 + len(SCRIPTS)
    assert "<img" not in text.replace("&lt;img", "")
    data = json.loads(re.search(r'<script type="application/json" id="graph">(.*?)</script>', text, re.DOTALL)[1])
    assert data["nodes"][1][:2] == [f"http://a.test/{HOSTILE}", HOSTILE]
    assert data["edges"] == [[0, 1], [1, 0], [2, 0]]


def test_policy_allows_the_scripts_and_styles_of_the_file_alone():
    text = standalone_graph(GRAPH)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for _, inline in re.findall(r"<(script|style)>(.*?)</\1>", text, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_libraries_are_the_listed_ones_with_their_licences():
    vendor = STATIC / "vendor"
    listed = [line.split() for line in (vendor / "VERSIONS").read_text("utf-8").splitlines() if line[0] != "#"]
    for _, _, _, name, digest in listed:
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest
        assert (vendor / f"{name.partition('.')[0]}.LICENSE.txt").read_text("utf-8")
    assert {name for _, _, _, name, _ in listed} == {
        one.name for one in vendor.iterdir() if one.suffix in (".js", ".css")
    }


@pytest.fixture(scope="module")
def browser():
    """Chromium, in which WebGL is computed without a graphics card."""
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium")
    if program is None:
        unavailable("no Chromium installed")
    arguments = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=arguments)
        yield chromium
        chromium.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nodes_are_found_and_shown_in_a_browser_without_a_network(browser, scheme, tmp_path):
    path = tmp_path / "graph.html"
    path.write_text(standalone_graph(GRAPH), "utf-8")
    context = browser.new_context(color_scheme=scheme, offline=True)
    page = context.new_page()
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector("#map[data-ready]")
    page.fill("#search", "OWNED")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    details = page.text_content("#details")
    assert HOSTILE in details
    assert "Linking nodes1" in details
    page.keyboard.press("Escape")
    assert page.text_content("#details") == ""
    page.fill("#search", "no such page")
    assert page.text_content("#found") == "Nothing found"
    assert page.title() == f"a.test {HOSTILE}".strip()
    assert problems == []
    context.close()
