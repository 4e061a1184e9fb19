"""One crawl on two real scrapyd nodes: each gets the same job, and one of them loses its process."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from crawlers.storage.database import Database
from tests.support.processes import until
from tests.support.running import add_on
from tests.support.scrapyd_nodes import CONFIGURATION, ROOT, Node, need_scrapyd

SITES = 4
INSTALLED = f"{CONFIGURATION}\n[settings]\ncrawlers = crawlers.settings\n"


class Chain(ThreadingHTTPServer):
    """A site whose pages link to the next one until the chain is closed; afterwards it is the same for everybody."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Page)
        self.counts: Counter[str] = Counter()
        self.length = 0
        self.is_closed = False
        self.lock = threading.Lock()

    def host(self, delay_ms):
        return f"http://127.0.0.1:{self.server_port};1;;{delay_ms}"

    def next(self, number):
        """Return the number of the page to which a page links."""
        with self.lock:
            if not self.is_closed:
                self.length = max(self.length, number + 1)
            return number + 1 if number < self.length else None


class _Page(BaseHTTPRequestHandler):
    server: Chain

    def do_GET(self):
        self.server.counts[self.path] += 1
        is_page = self.path not in ("/robots.txt", "/sitemap.xml")
        number = int(self.path.strip("/") or 0) if is_page else 0
        further = self.server.next(number) if is_page else None
        link = f"<a href=/{further}>{further}</a>" if further is not None else "the end"
        body = f"<title>{number}</title><p>Page {number} of a chain</p>{link}".encode()
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@contextmanager
def chains():
    sites = [Chain() for _ in range(SITES)]
    for site in sites:
        threading.Thread(target=site.serve_forever, daemon=True).start()
    try:
        yield sites
    finally:
        for site in sites:
            site.is_closed = True
            site.shutdown()
            site.server_close()


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, environment):
    """Two nodes with the project installed."""
    need_scrapyd()
    started = []
    try:
        for name in ("one", "two"):
            installed = {"SCRAPY_SETTINGS_MODULE": "crawlers.settings", "PYTHONPATH": str(ROOT)}
            started.append(Node(tmp_path_factory.mktemp(name), {**environment, **installed}, INSTALLED))
        for node in started:
            node.hear(r"Site starting on")
        yield started
    finally:
        for node in started:
            node.stop()


def job(sites, url, folder, delay_ms=200):
    """Return the arguments of a job, which are the same on each node."""
    places = {
        "RESULT_FOLDER": "result",
        "STOP_FILE": "stop",
        "COMMON_LOG_FILE": "result/all.csv",
        "ERROR_LOG_FILE": "result/bad.csv",
    }
    often = {"ADDONS": add_on("FrequentStoreChecks")}  # so that sites are shared soon
    settings = {
        "DATABASE_URL": url,
        "TRAPS_ENABLED": 0,
        **often,
        **{name: folder / place for name, place in places.items()},
    }
    given = [f"{name}={value}" for name, value in settings.items()]
    return {"hosts": ",".join(site.host(delay_ms) for site in sites), "setting": given}


def rows(url, statement):
    database = Database(url, create=False)
    try:
        with database.read() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(statement)]
    finally:
        database.close()


def pages(url):
    """Return the numbers of pages that each worker has stored, in the order in which they joined."""
    return [number for (number,) in rows(url, "SELECT pages FROM worker ORDER BY id")]


def graphs(folder):
    return {path.name: path.read_bytes() for path in (folder / "result").glob("*.gexf")}


def test_two_nodes_share_a_crawl_and_go_on_after_the_death_of_a_process(nodes, postgresql_url, tmp_path, sqlite_url):
    one, two = nodes
    with chains() as sites:
        given = job(sites, postgresql_url, tmp_path / "both")
        first = one.schedule(**given)
        until(lambda: any(site.counts["/1"] for site in sites), "the first job crawls")
        killed = two.schedule(**given)
        until(lambda: len(found := pages(postgresql_url)) == 2 and found[1] > 0, "the second node stores pages")
        two.call("cancel", project="crawlers", job=killed, signal="KILL")
        two.hear(rf"Process died: .*job='{killed}'")
        again = two.schedule(**given)
        until(lambda: len(found := pages(postgresql_url)) == 3 and found[2] > 0, "the second node is back")
        for site in sites:
            site.is_closed = True
        assert [one.end_of(first), two.end_of(again)] == [0, 0], one.log_of(first) + two.log_of(again)
        assert rows(postgresql_url, "SELECT state, reason FROM crawl") == [("finished", "finished")]
        assert [state for (state,) in rows(postgresql_url, "SELECT state FROM worker ORDER BY id")] == [
            "left",
            "lost",
            "left",
        ]
        twice = Counter(number for site in sites for path, number in site.counts.items() if path != "/robots.txt")
        assert twice[2] <= SITES, "only pages in flight at the kill are fetched again"
        assert set(twice) <= {1, 2}

        alone = job(sites, f"{sqlite_url}.alone", tmp_path / "alone", delay_ms=0)
        assert one.end_of(one.schedule(**alone)) == 0
    assert len(graphs(tmp_path / "alone")) == SITES
    assert graphs(tmp_path / "both") == graphs(tmp_path / "alone")
