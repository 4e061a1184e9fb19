"""Metrics of a running crawl over HTTP."""

import http.client
import re
import socket
import threading
from contextlib import closing

import pytest
from prometheus_client.parser import text_string_to_metric_families

from crawlers import __version__
from crawlers.errors import ConfigError
from crawlers.extensions.metrics_server import MetricsServer
from tests.support.opened_crawl import crawler_of
from tests.support.processes import PATIENCE_S, until
from tests.support.running import Project
from tests.support.sites.server import Web
from tests.unit.extensions.test_progress import stalling

SERVED = re.compile(r"Metrics for Prometheus are served at http://127\.0\.0\.1:(\d+)/metrics")


def free_port():
    """Return a port that is free, and so is the next one."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as one:
            port = one.getsockname()[1]
            try:
                socket.create_server(("127.0.0.1", port + 1)).close()
            except OSError:
                continue
        return port


def get(port):
    """Return the values by name and labels."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
        connection.request("GET", "/metrics")
        response = connection.getresponse()
        text = response.read().decode()
    assert response.status == 200
    families = text_string_to_metric_families(text)
    return {(sample.name, *sample.labels.values()): sample.value for one in families for sample in one.samples}


def test_workers_of_one_machine_take_one_port_each_and_nothing_is_served_before_the_crawl_begins(sqlite_url):
    port = free_port()
    crawler = crawler_of(sqlite_url, METRICS_PORT=port)
    servers = [MetricsServer.from_crawler(crawler) for _ in range(2)]
    try:
        assert [server.url for server in servers] == [f"http://127.0.0.1:{port + n}/metrics" for n in range(2)]
        assert {name[0].partition("_")[0] for name in get(port + 1)} == {"process"}
    finally:
        for server in servers:
            server.close()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"METRICS_PORT": 70_000}, "METRICS_PORT=70000 is out of range; write a port up to 65535"),
        ({"METRICS_PORT": "192.0.2.1:9410"}, "METRICS_PORT=192.0.2.1:9410 can't be opened: "),
        ({"METRICS_PORT": "[::1%none]:9"}, "METRICS_PORT=::1%none:9 can't be opened: "),
    ],
)
def test_wrong_addresses_are_refused_with_a_sentence(sqlite_url, settings, sentence):
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        MetricsServer.from_crawler(crawler_of(sqlite_url, **settings))


def test_sentence_if_no_port_is_free(sqlite_url, monkeypatch):
    monkeypatch.setattr("crawlers.extensions.metrics_server.PORTS", 1)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        crawler = crawler_of(sqlite_url, METRICS_PORT=taken.getsockname()[1])
        with pytest.raises(ConfigError, match=r"no port from \d+ to \d+ of 127\.0\.0\.1 is free; name another one"):
            MetricsServer.from_crawler(crawler)


def test_running_crawl_is_scraped_and_the_port_is_free_after_it(tmp_path):
    release, port = threading.Event(), free_port()
    project = Project(tmp_path, METRICS_PORT=port, CRAWL="night", RETRY_TIMES=0)
    with Web(site=stalling(release)) as web:
        run = project.start("crawl", "plain", "-a", f"hosts={web.hosts()}")
        try:
            until(lambda: SERVED.search(run.log) is not None or not run.is_running, "the line about the port")
            found = SERVED.search(run.log)
            assert found, run.log
            done = ("crawlers_pages_total", "night", "done", "1")
            until(lambda: get(int(found[1])).get(done) == 2, "the second page is counted")
            values = get(int(found[1]))
        finally:
            release.set()
        run.wait().done()
    assert int(found[1]) in range(port, port + 100)
    assert values["crawlers_worker_info", "night", "plain", __version__, "1"] == 1
    assert values["crawlers_reactor_lateness_seconds_count", "night", "1"] > 0
    assert values["process_resident_memory_bytes",] > 2**20
    with socket.create_server(("127.0.0.1", int(found[1]))):
        pass
