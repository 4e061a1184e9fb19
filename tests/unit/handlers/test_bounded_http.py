"""The private names of Scrapy and Twisted that the handler replaces: versions that change them are noticed here."""

import pytest
from scrapy.core.downloader.handlers import http11
from twisted.internet.error import ConnectionLost
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web import _newclient
from twisted.web.client import ResponseFailed
from twisted.web.http_headers import Headers

from crawlers.extensions.download_errors import DownloadRefusedError
from crawlers.handlers.bounded_http import (
    MAX_HEAD_BYTES,
    MAX_LINE_BYTES,
    _BoundedFactory,
)

CHANGED = "this version of Scrapy or Twisted changed {}; adapt crawlers/handlers/bounded_http.py"


@pytest.fixture
def connection():
    """An open connection with a request in flight, its transport, and the deferred response."""
    protocol = _BoundedFactory(lambda protocol: None, "").buildProtocol(None)
    transport = StringTransport()
    protocol.makeConnection(transport)
    response = protocol.request(_newclient.Request(b"GET", b"/", Headers({b"host": [b"a.example"]}), None))
    return protocol, transport, response


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (http11, "_LenientHTTP11ClientFactory"),
        (http11, "_LenientHTTP11ClientProtocol"),
        (http11, "_LenientHTTPClientParser"),
        (http11._LenientHTTP11ClientFactory, "buildProtocol"),
        (_newclient.HTTP11ClientProtocol, "_giveUp"),
        (_newclient.HTTP11ClientProtocol, "_parser"),
        (_newclient.HTTPClientParser, "lineLengthExceeded"),
        (_newclient.HTTPClientParser, "statusReceived"),
        (_newclient.HTTPClientParser, "MAX_LENGTH"),
    ],
)
def test_replaced_names_exist(owner, name):
    assert name in dir(owner), CHANGED.format(name)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * (MAX_LINE_BYTES + 1) + b"\r\n", "a header of more than 64 KiB"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * (MAX_HEAD_BYTES // 6 + 1), "headers of more than 256 KiB"),
        (b"HTTP/1.1 103 Early\r\n\r\n" * (MAX_HEAD_BYTES // 22 + 1), "headers of more than 256 KiB"),
        (b"HTTP/1.1 99999999999 OK\r\n", "the status does not have three digits"),
    ],
)
def test_heads_beyond_the_limits_are_given_up(connection, data, error):
    protocol, transport, response = connection
    failures = []
    response.addErrback(failures.append)
    for start in range(0, len(data), 8192):
        protocol.dataReceived(data[start : start + 8192])
        if transport.disconnecting or transport.disconnected:
            break
    protocol.dataReceived(b"X: y\r\n")
    protocol.connectionLost(Failure(ConnectionLost()))
    assert failures, CHANGED.format("how a response is given up")
    reasons = failures[0].value.reasons if failures[0].check(ResponseFailed) else failures
    assert any(error in str(reason.value) for reason in reasons), failures[0]
    assert error[:3] == "the" or any(reason.check(DownloadRefusedError) for reason in reasons)


def test_ordinary_response_passes(connection):
    protocol, _, response = connection
    found = []
    response.addCallback(found.append)
    protocol.dataReceived(b"HTTP/1.1 200 OK\r\nbad line\r\nX: y\r\nContent-Length: 0\r\n\r\n")
    assert [(one.code, one.headers.getRawHeaders(b"x")) for one in found] == [(200, [b"y"])]
