"""What libcurl is given is released again, and its connections are bounded."""

import asyncio
import gc
import weakref
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from types import SimpleNamespace

import pycurl
import pytest
from scrapy import Request, signals
from scrapy.exceptions import DownloadCancelledError, DownloadConnectionRefusedError, DownloadTimeoutError, StopDownload
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager

from crawlers.downloader import curl_http
from crawlers.downloader.address_filter import Target
from crawlers.downloader.curl_http import MAX_HOSTS, RESOLVED_S, CurlHTTPHandler
from crawlers.downloader.curl_transfer import CurlLoop, Transfer
from crawlers.downloader.download_errors import BadResponseError
from crawlers.downloader.http import Callbacks
from crawlers.items import REQUEST_SENT
from tests.support.connections import Connections
from tests.support.persistent import response

PAGE = response("ok")


def crawler_with(**settings):
    crawler = SimpleNamespace(settings=Settings(settings), spider=None, get_extension=lambda _: None)
    crawler.signals = SignalManager(crawler)
    return crawler


class Server:
    """A server on loopback; *answer* is sent to each request, and connections stay open."""

    def __init__(self, answer=PAGE):
        self._answer = answer
        self._connections = Connections()
        self.connections = 0  # open ones
        self.asked = asyncio.Event()
        self.closed = asyncio.Event()  # a connection was closed by the client

    async def _serve(self, reader, writer):
        self.connections += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                self.asked.set()
                writer.write(self._answer)
        self.connections -= 1
        self.closed.set()

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._connections.served_by(self._serve), "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/"

    async def __aexit__(self, *_):
        await self._connections.close(self._server)


@asynccontextmanager
async def handling(**settings):
    handler = CurlHTTPHandler(crawler_with(**settings))
    try:
        yield handler
    finally:
        handler._loop.close()


@pytest.fixture
def handles(monkeypatch):
    """The handles of libcurl that are in memory; the garbage collector does not help."""
    made = weakref.WeakSet()

    class Curl(pycurl.Curl):
        def __init__(self):
            super().__init__()
            made.add(self)

    monkeypatch.setattr(pycurl, "Curl", Curl)
    gc.disable()
    yield made
    gc.enable()


def stop(**_):
    raise StopDownload(fail=False)


ENDS = {  # of downloads: what the server sends, settings of the request, error
    "page": (PAGE, {}, None),
    "too_large": (PAGE, {"download_maxsize": 1}, DownloadCancelledError),
    "not HTTP": (b"220 ESMTP\r\n\r\n", {}, BadResponseError),
    "timeout": (b"", {"download_timeout": 0.05}, DownloadTimeoutError),
}


@pytest.mark.parametrize("end", ENDS)
def test_handle_of_a_page_is_used_again_and_no_other_stays(handles, end):
    answer, meta, error = ENDS[end]

    async def run():
        async with Server(answer) as url, handling() as handler:
            for _ in range(3):
                with nullcontext() if error is None else pytest.raises(error):
                    assert (await handler.download_request(Request(url, meta=meta))).body == b"ok"
            await asyncio.sleep(0)  # the last handle is released in the next turn of the loop
            return len(handles)

    assert asyncio.run(run()) == (error is None)


def test_special_options_of_a_download_are_not_those_of_the_next():
    async def run():
        received = []

        async def serve(reader, writer):
            while head := await reader.readuntil(b"\r\n\r\n"):
                received.append(head)
                if b"Content-Length: 3" in head:
                    await reader.readexactly(3)
                writer.write(PAGE)

        connections = Connections()
        server = await asyncio.start_server(connections.served_by(serve), "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with handling() as handler:
            for options in ({}, {"method": "POST", "body": b"a=b"}, {"headers": {"X-A": "1"}}, {}):
                await handler.download_request(Request(url, **options))
        await connections.close(server)
        return received

    first, posted, with_header, last = asyncio.run(run())
    assert first == last
    assert first.startswith(b"GET / ")
    assert posted.startswith(b"POST / ")
    assert b"X-A: 1" in with_header


def test_stopped_download_leaves_no_handle(handles):
    async def run():
        async with Server() as url, handling() as handler:
            handler.crawler.signals.connect(stop, signals.headers_received)
            assert (await handler.download_request(Request(url))).flags == ["download_stopped"]
            await asyncio.sleep(0)
            gc.collect()  # Scrapy keeps the traceback of StopDownload in a cycle
            return len(handles)

    assert asyncio.run(run()) == 0


def test_signal_tells_when_each_request_is_sent_over_its_connection():
    async def run():
        server, sent = Server(), []
        async with server as url, handling() as handler:

            def keep(request):
                sent.append((request.url, server.asked.is_set()))

            handler.crawler.signals.connect(keep, REQUEST_SENT)
            await handler.download_request(Request(url))
            with pytest.raises(DownloadConnectionRefusedError):
                await handler.download_request(Request("http://127.0.0.1:1/"))
            assert sent == [(url, False)]

    asyncio.run(run())


def test_cancelled_download_closes_its_connection():
    async def run():
        server = Server(b"")
        async with server as url, handling() as handler:
            task = asyncio.ensure_future(handler.download_request(Request(url)))
            await server.asked.wait()
            task.cancel()
            await server.closed.wait()
            assert task.cancelled()

    asyncio.run(run())


def test_idle_connections_are_used_again_and_bounded():
    async def run():
        servers = [Server() for _ in range(6)]
        async with AsyncExitStack() as stack:
            urls = [await stack.enter_async_context(server) for server in servers]
            handler = await stack.enter_async_context(handling(CONCURRENT_REQUESTS=2))
            for url, server in zip(urls, servers, strict=True):
                for _ in range(3):
                    await handler.download_request(Request(url))
                assert server.connections == 1
            for server in servers[:4]:  # the connections that were not used for longest
                await server.closed.wait()
            return [server.connections for server in servers]

    assert asyncio.run(run()) == [0, 0, 0, 0, 1, 1]


def test_names_are_resolved_again_after_some_seconds(monkeypatch):
    now, resolved = [100.0], []

    async def addresses_of(host, port):
        resolved.append(now[0])
        return ["192.0.2.1", "2001:db8::1"]

    monkeypatch.setattr(curl_http, "addresses_of", addresses_of)
    monkeypatch.setattr(curl_http, "time", SimpleNamespace(monotonic=lambda: now[0]))

    async def run():
        async with handling() as handler:
            for moment in (100.0, 101.0, 100.0 + RESOLVED_S, 101.0 + RESOLVED_S):
                now[0] = moment
                found = await handler._resolved(Target("a.example.", 80))
                assert found == "+a.example:80:192.0.2.1,[2001:db8::1]"
            for number in range(MAX_HOSTS + 5):
                await handler._resolved(Target(f"{number}.example", 80))
            assert len(handler._addresses) == MAX_HOSTS

    asyncio.run(run())
    assert resolved[:2] == [100.0, 100.0 + RESOLVED_S]
    assert len(resolved) == 2 + MAX_HOSTS + 5


# Heads, as libcurl passes them on


def transfer(method="GET", crawler=None, most_bytes=100):
    request = Request("http://a.example/", method=method)
    callbacks = Callbacks(lambda result: None, lambda request: None)
    target = Target("a.example", 80)
    return Transfer(crawler or crawler_with(), request, target, None, most_bytes, 0, callbacks, is_plain=True)


def taken(one, *lines):
    return [one.header_received(line + b"\r\n") for line in lines]


@pytest.mark.parametrize(
    ("method", "lines", "length", "is_partial"),
    [
        ("GET", [b"HTTP/1.1 200 OK", b"Content-Length: 7"], [b"7"], False),
        ("GET", [b"HTTP/1.1 200 OK", b"Content-Length: 7", b"Content-Length: 7"], [b"7"], False),
        ("GET", [b"HTTP/1.1 200 OK", b"Content-Length: 7", b"Transfer-Encoding: chunked"], [], False),
        ("GET", [b"HTTP/1.1 200 OK"], [], True),
        ("GET", [b"HTTP/1.1 204 No", b"Content-Length: 7"], [b"0"], False),
        ("HEAD", [b"HTTP/1.1 200 OK", b"Content-Length: 7000"], [b"7000"], False),
        ("HEAD", [b"HTTP/1.1 200 OK"], [], False),
        ("GET", [b"HTTP/1.1 103 X", b"Link: y", b"", b"HTTP/1.0 200", b"Content-Length: 0"], [b"0"], False),
    ],
)
def test_length_of_a_body(method, lines, length, is_partial):
    one = transfer(method)
    assert set(taken(one, *lines, b"")) == {None}
    assert one.headers.getlist("Content-Length") == length
    assert "Link" not in one.headers
    assert one.ends_with_connection is is_partial


def test_headers_of_the_connection_are_left_out_and_folded_ones_joined():
    one = transfer()
    taken(one, b"HTTP/1.1 200 OK", b"Connection: close", b"x-a: 1 ", b"X-A:\t2", b" 3", b"odd:\xff", b"")
    assert one.headers == {b"X-A": [b"1", b"2 3"], b"Odd": [b"\xff"]}


# Bodies


def test_signals_of_single_bytes_are_sent_together():
    crawler = crawler_with()
    received = []

    def keep(data):
        received.append(data)

    crawler.signals.connect(keep, signals.bytes_received)
    one = transfer(crawler=crawler, most_bytes=0)
    taken(one, b"HTTP/1.1 200 OK", b"")
    for number in range(1500):
        assert one.body_received(b"%d" % (number % 10)) is None
    one.body_received(b"x" * 5000)
    one.body_received(b"y")
    one.pass_on()
    one.pass_on()
    assert [len(data) for data in received] == [1024, 476 + 5000, 1]
    assert b"".join(received) == one.body.getvalue()


def test_limit_of_a_body_holds_for_single_bytes():
    one = transfer()
    taken(one, b"HTTP/1.1 200 OK", b"")
    assert [one.body_received(b"x") for _ in range(101)] == [None] * 100 + [0]
    assert isinstance(one.error, DownloadCancelledError)


def test_transfers_go_on_when_the_end_of_one_meets_a_fault():
    ended, last = [], asyncio.Event()

    def take(_, name, *__):
        ended.append(name)
        if name == "answered":
            last.set()
        raise RuntimeError

    async def run():
        async with Server(b"") as silent, Server() as answers:
            loop = CurlLoop(take, 2)
            for name, url, timeout_ms in (("1", silent, 1), ("2", silent, 1), ("answered", answers, 60_000)):
                curl = pycurl.Curl()
                curl.setopt(pycurl.URL, url)
                curl.setopt(pycurl.TIMEOUT_MS, timeout_ms)
                curl.setopt(pycurl.WRITEFUNCTION, len)
                if name == "answered":
                    while len(ended) < 2:
                        await asyncio.sleep(0)
                loop.add(curl, name)
            async with asyncio.timeout(30):
                await last.wait()
            loop.close()

    asyncio.run(run())
    assert sorted(ended) == ["1", "2", "answered"]
