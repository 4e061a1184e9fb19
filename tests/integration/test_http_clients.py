"""Spiders see the same responses, and servers the same requests, with each HTTP_CLIENT."""

import asyncio
import gzip
import json
from ssl import TLSVersion

import pytest

from crawlers.items import State
from tests.integration.test_connections import certificate, close_after_each
from tests.support.persistent import PersistentSite
from tests.support.running import Project
from tests.support.sites.requests import REQUESTS
from tests.support.sites.server import Web, links

CLIENTS = ("twisted", "curl")
OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n"
RAW = {  # by path
    "/plain": OK
    + b"set-cookie: a=1\r\nSET-COOKIE: b=2; x\r\nX-Odd:\t \xff\xfe \r\nX-Empty:\r\nContent-Length: 2\r\n\r\nok",
    "/chunked": OK
    + b"Transfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n2;x=y\r\nok\r\n3\r\n...\r\n0\r\nX-End: 1\r\n\r\n",
    "/closed": OK + b"\r\nok",
    "/short": OK + b"Content-Length: 9\r\n\r\nok",
    "/short-chunks": OK + b"Transfer-Encoding: chunked\r\n\r\n9\r\nok",
    "/lost": OK + b"Content-Length: 9\r\n\r\nok",
    "/old": b"HTTP/1.0 404 Not Found\r\nContent-Length: 2\r\n\r\nno",
    "/nothing": b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
    "/empty": OK + b"Content-Length: 0\r\n\r\n",
    "/early": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok",
    "/gzip": OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"ok", mtime=0),
    "/headed": OK + b"Content-Length: 1000\r\n\r\n",
    "/stopped": OK + b"Content-Length: 9\r\n\r\nok",
    "/stopped-before": OK + b"Content-Length: 9\r\n\r\nok",
    "/large": OK + b"\r\n" + b"x" * 1000,
    "/announced": OK + b"Content-Length: 1000\r\n\r\n",
}


async def respond(exchange):
    if exchange.path == "/robots.txt":
        await exchange.page(status=404)
    elif exchange.path == "/reset":
        exchange.reset()
    elif exchange.path == "/slow":
        await exchange.until_closed()
    elif exchange.path == "/from":
        await exchange.page(exchange._writer.get_extra_info("peername")[0])
    else:
        await exchange.body(RAW.get(exchange.path, OK + b"Content-Length: 2\r\n\r\nok"))


def responses(folder, client, site, settings=None, **arguments):
    """Return all that the spider `requests` saw, by path."""
    project = Project(
        folder,
        **settings or {},
        HTTP_CLIENT=client,
        SPIDER_MODULES="tests.support.sites.requests",
        SITE_DELAY_SECONDS=0,
        ROBOTSTXT_OBEY=0,
    )
    given = [part for name, value in arguments.items() for part in ("-a", f"{name}={value}")]
    ended = project.run("crawl", "requests", "-a", f"site={site}", *given, "-O", "items.jsonl").done()
    assert "Traceback" not in ended.log
    seen = [json.loads(line) for line in (folder / "items.jsonl").read_text("utf-8").splitlines()]
    return {one.pop("path"): one for one in seen}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """What the spider saw, and the requests that the server received, by client."""
    folder = tmp_path_factory.mktemp("clients")
    found = {}
    for client in CLIENTS:
        with Web(site=respond) as web:
            seen = responses(folder / client, client, web["site"].origin)
            port = web["site"].origin.rpartition(":")[2]
            received = {
                one.path: (one.method, {k: v.replace(port, "PORT") for k, v in one.headers.items()}, one.body)
                for one in web["site"].requests
            }
        found[client] = seen, received
    return found


@pytest.mark.parametrize("path", REQUESTS)
def test_spiders_see_and_servers_receive_the_same(both, path):
    (twisted, twisted_received), (curl, curl_received) = (both[client] for client in CLIENTS)
    seen = curl[path]
    if path == "/stopped-before":
        assert twisted[path].pop("ip") == "None"  # of a response without a body, Scrapy does not know it
        assert seen.pop("ip") == "127.0.0.1"
    assert (seen, curl_received[path]) == (twisted[path], twisted_received[path])


def test_what_is_compared_differs_between_paths(both):
    seen, received = both["curl"]
    assert seen["/plain"]["headers"] == {
        "Content-Length": ["2"],
        "Content-Type": ["text/html"],
        "Set-Cookie": ["a=1", "b=2; x"],
        "X-Empty": [""],
        "X-Odd": ["\xff\xfe"],
    }
    assert {path: one["error"] for path, one in seen.items() if "error" in one} == {
        "/lost": "ResponseDataLossError",
        "/large": "DownloadCancelledError",
        "/announced": "DownloadCancelledError",
        "/reset": "DownloadFailedError",
        "/slow": "DownloadTimeoutError",
    }
    assert {path: one["flags"] for path, one in seen.items() if one.get("flags")} == {
        "/closed": ["partial"],
        "/gzip": ["partial"],
        "/short": ["dataloss"],
        "/short-chunks": ["dataloss"],
        "/stopped": ["download_stopped"],
        "/stopped-before": ["download_stopped"],
    }
    assert seen["/from"]["body"] == "127.0.0.9"
    assert "injected" not in received["/headers"][1]


async def proxy(exchange):
    """Tunnel CONNECT requests; respond to others with what was requested."""
    request = exchange.request
    if request.method != "CONNECT":
        await exchange.page(f"{request.method} {request.path} {request.headers.get('proxy-authorization')}")
        return
    host, _, port = request.path.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    await exchange.body(b"HTTP/1.1 200 Go on\r\nX: y\r\n\r\n")

    async def copy(source, target):
        while data := await source.read(65_536):
            target.write(data)
        target.close()

    await asyncio.gather(copy(reader, exchange._writer), copy(exchange._reader, writer), return_exceptions=True)


def test_proxies_get_requests_and_tunnels(tmp_path, http_client):
    with Web(proxy=proxy) as web, PersistentSite(close_after_each, certificate(tmp_path / "key.pem", -1, 10)) as site:
        origin = web["proxy"].origin
        with_password = origin.replace("//", "//user:pass@")
        plain = responses(tmp_path / "plain", http_client, "http://far.test", proxy=with_password, paths="/a")
        assert plain["/a"]["body"] == "GET http://far.test/a Basic dXNlcjpwYXNz"
        tunnelled = responses(tmp_path / "tunnelled", http_client, site.origin, proxy=origin, paths="/a /b")
        seen = {path: (one["status"], one["certificate"] is not None) for path, one in tunnelled.items()}
        assert seen == dict.fromkeys(["/a", "/b"], (200, True))


def test_certificate_is_known_in_every_response_of_a_connection(tmp_path, http_client):
    async def stay(connection, path):
        await connection.send(OK.replace(b"close", b"keep-alive") + b"Content-Length: 2\r\n\r\nok")

    with PersistentSite(stay, certificate(tmp_path / "key.pem", -1, 10)) as site:
        seen = responses(tmp_path / http_client, http_client, site.origin, paths="/a /b /c /d /e /f")
    (one,) = {one["certificate"] for one in seen.values()}
    assert one is not None


def test_settings_of_connections_are_obeyed(tmp_path, http_client):
    peers = []

    async def answer(connection, path):
        peers.append(connection.writer.get_extra_info("peername")[0])
        await connection.send(OK + b"Content-Length: 2\r\n\r\nok")

    context = certificate(tmp_path / "key.pem", -1, 10)
    context.minimum_version = TLSVersion.TLSv1_3
    found = {}
    with PersistentSite(answer, context) as site:
        for most in ("TLSv1.2", "TLSv1.3"):
            settings = {"DOWNLOAD_BIND_ADDRESS": "127.0.0.9", "DOWNLOAD_TLS_MAX_VERSION": most}
            found[most] = responses(tmp_path / most, http_client, site.origin, settings, paths="/a")["/a"]
    assert "error" in found["TLSv1.2"]
    assert found["TLSv1.3"]["body"] == "ok"
    assert peers == ["127.0.0.9"]


def test_lines_without_a_colon_are_skipped(tmp_path, http_client):
    async def without_colon(exchange):
        if exchange.path == "/robots.txt":
            await exchange.page(status=404)
        else:
            await exchange.body(OK + b"not a header\r\n\r\n" + links("/a", "/b", "/c").encode())

    project = Project(tmp_path, HTTP_CLIENT=http_client, SITEMAPS_ENABLED=0, RETRY_BACKOFF_SECONDS=0)
    with Web(site=without_colon) as web:
        assert project.crawl(web.hosts()).status == 0
        assert project.pages(web["site"].origin) == dict.fromkeys(["/", "/a", "/b", "/c"], (State.DONE, ""))
        assert len(web["site"].requests) == 5 + (http_client == "curl")  # one retry for all


def test_servers_that_libcurl_refuses_to_encrypt_with_get_another_attempt(tmp_path, http_client):
    """A server without secure renegotiation (RFC 5746), which OpenSSL refuses by default."""
    hello = bytes.fromhex("0303") + bytes(32) + bytes.fromhex("00c02f00")
    handshake = b"\x02" + len(hello).to_bytes(3, "big") + hello
    record = b"\x16\x03\x03" + len(handshake).to_bytes(2, "big") + handshake
    alerts = []

    async def old(reader, writer):
        await reader.read(10_000)
        writer.write(record)
        alerts.append(b"")
        alerts[-1] = await reader.read(100)
        writer.close()

    async def crawled():
        server = await asyncio.start_server(old, "127.0.0.1", 0)
        origin = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        once = {"RETRY_TIMES": 1, "RETRY_BACKOFF_SECONDS": 0, "DOWNLOAD_TIMEOUT": 1}
        project = Project(tmp_path, HTTP_CLIENT=http_client, SITEMAPS_ENABLED=0, ROBOTSTXT_OBEY=0, **once)
        run = project.start("crawl", "plain", "-a", f"hosts={origin};;;0")
        ended = await asyncio.to_thread(run.wait)
        server.close()
        return ended.log, project.pages(origin)

    log, pages = asyncio.run(crawled())
    assert "Traceback" not in log
    assert pages == {"/": (State.FAILED, "timeout")}  # the server does not go on
    assert [bool(alert) for alert in alerts] == [http_client == "curl", False]


def test_without_pycurl_the_other_client_crawls(tmp_path):
    (tmp_path / "pycurl.py").write_text("raise ImportError", "utf-8")  # found before the one that is installed
    project = Project(tmp_path)

    def crawl(client):
        command = ("crawl", "plain", "-a", f"hosts={web.hosts()}")
        return project.start(*command, is_fresh=True, HTTP_CLIENT=client).wait()

    with Web(site=respond) as web:
        refused = crawl("curl")
        assert (refused.status, len(refused.errors)) == (2, 1), refused.log
        assert "HTTP_CLIENT=curl needs pycurl 7.49" in refused.errors[0]
        assert refused.errors[0].endswith("or set HTTP_CLIENT=twisted")
        crawl("twisted").done()
        assert project.pages(web["site"].origin) == {"/": (State.DONE, "")}
