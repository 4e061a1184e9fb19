"""The demo server returns the responses of `respond`, on one port per site, and never outlives its owner."""

import http.client
import os
import re
import signal
import socket
import sys
from collections import Counter
from subprocess import PIPE, Popen, TimeoutExpired
from urllib.parse import urlsplit

import pytest

from examples.server import ROOT, main, serve
from examples.town.plan import SITES as TOWN
from examples.town.responses import respond as respond_in_town
from examples.webs import SITES, babel, respond

END_S = 20


def get(url, **headers):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    try:
        connection.request("GET", parts.path + (f"?{parts.query}" if parts.query else ""), headers=headers)
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def web():
    with serve(scale=1) as served:
        yield served


@pytest.mark.parametrize("site", SITES)
def test_server_returns_the_response_of_the_pure_function(web, site):
    for path, query in [("/", ""), ("/no/such", ""), ("//list", "b=2&a=1&c="), ("/room", "desk=2")]:
        status, headers, body = get(f"{web.origins[site]}{path}{'?' if query else ''}{query}")
        wanted = respond(site, path, query, web.web)
        assert (status, body) == (wanted.status, wanted.body)
        assert headers["Content-Type"] == wanted.header("content-type")


def test_headers_are_sent_unchanged_and_a_missing_type_stays_missing(web):
    for path, (content_type, _) in babel.TYPES.items():
        assert get(web.origins["babel"] + path)[1].get("Content-Type", "") == content_type
    status, headers, body = get(web.urls["grumpy"] + "gzip.html")
    assert (status, headers["Content-Encoding"], body[:2]) == (200, "gzip", b"\x1f\x8b")
    assert get(web.urls["grumpy"] + "redirect/bad")[1]["Location"] == "http://[::1"


def test_flaky_pages_fail_once_each(web):
    url = web.urls["grumpy"] + "flaky/"
    assert [get(f"{url}{n}")[0] for n in (1, 1, 2, 1, 2)] == [503, 200, 503, 200, 200]
    assert get(f"{url}4")[1]["Retry-After"] == "0"
    assert get(f"{url}5")[1]["Retry-After"] == "1"


def test_town_is_served_and_counts_requests():
    with serve(scale=2, town=True) as town:
        assert list(town.origins) == list(TOWN)
        requests = Counter()
        for site, path in [(site, "/") for site in TOWN] + [("news", "/")] * 3 + [("news", "/story-8.html")]:
            wanted = respond_in_town(town.web, site, path, requests)
            requests[site, path] += 1
            status, headers, body = get(town.origins[site] + path)
            assert (status, body) == (wanted.status, wanted.body)
            assert headers.items() >= dict(wanted.headers).items()
        assert status == 200  # which is so after three requests for the front page only


def test_server_ends_with_its_block_and_frees_its_ports():
    with serve() as served:
        ports = [urlsplit(url).port for url in served.urls.values()]
    assert served.process.returncode == 0
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=5)


@pytest.mark.parametrize("how", ["stdin", "sigterm"])
def test_server_ends_on_request(how):
    command = [sys.executable, "-m", "examples.server", "--until-stdin-ends"]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=ROOT) as process:
        lines = [process.stdout.readline() for _ in SITES]
        assert [line.split()[0] for line in lines] == list(SITES)
        assert all(re.fullmatch(r"[a-z]+ http://127\.0\.0\.1:\d+/\n", line) for line in lines)
        process.stdin.close() if how == "stdin" else process.terminate()
        try:
            assert process.wait(END_S) == 0
        finally:
            process.kill()


@pytest.mark.parametrize("redirection", ["</dev/null", "<&-"])
def test_server_runs_without_standard_input_until_it_is_stopped(redirection):
    # The response takes longer than the server needs to see the end of its input, and to stop.
    command = ["sh", "-c", f"exec {sys.executable} -m examples.server --delay-ms=500 {redirection}"]
    with Popen(command, stdout=PIPE, text=True, cwd=ROOT) as process:
        urls = [process.stdout.readline().split()[1] for _ in SITES]
        try:
            assert get(urls[0])[0] == 200
            process.send_signal(signal.SIGINT)
            assert process.wait(END_S) == 0
        finally:
            process.kill()


def test_kill_9_of_the_owner_ends_the_server():
    script = (
        "import sys; from examples.server import serve\n"
        "with serve() as web: print(web.process.pid, flush=True); sys.stdin.read()"
    )
    # The server inherits its owner's stderr: that pipe ends only when both are gone.
    command = [sys.executable, "-c", script]
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True, cwd=ROOT) as owner:
        server = int(owner.stdout.readline())
        os.kill(owner.pid, signal.SIGKILL)
        try:
            assert owner.communicate(timeout=END_S) == ("", "")
        except TimeoutExpired:
            os.kill(server, signal.SIGKILL)
            raise


def test_occupied_port_is_reported_in_one_sentence(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        file = tmp_path / "ports"
        file.write_text(f"faculty http://127.0.0.1:{port}/\n")
        with pytest.raises(SystemExit, match=rf"ports: port {port} of faculty is not available: .*in use"):
            main(["--ports-file", str(file)])
