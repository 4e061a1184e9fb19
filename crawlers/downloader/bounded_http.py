"""Downloads by HTTP/1.1 as Scrapy does, with a limit on the head of a response, and only from allowed addresses.

Scrapy limits the body (DOWNLOAD_MAXSIZE) and the whole time of a download (DOWNLOAD_TIMEOUT). Twisted's parser keeps as
many headers as a server sends: 900 MB in the first ten seconds of an endless response.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from OpenSSL import SSL
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.exceptions import CannotResolveHostError, DownloadFailedError
from twisted.internet._sslverify import ClientTLSOptions
from twisted.internet.error import ConnectError, ConnectionClosed
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS, ParseError
from twisted.web.client import ResponseFailed
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer

from crawlers.downloader.address_filter import (
    MAX_HEAD_BYTES,
    MAX_LINE_BYTES,
    AddressFilter,
    target_of,
)
from crawlers.downloader.download_errors import (
    BadResponseError,
    DownloadRefusedError,
    certificate_problem,
)
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from OpenSSL.crypto import X509
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IAddress
    from twisted.protocols.tls import TLSMemoryBIOProtocol
    from twisted.web._newclient import Request as WebRequest
    from twisted.web.iweb import IResponse


class _BoundedParser(_LenientHTTPClientParser):
    MAX_LENGTH = MAX_LINE_BYTES

    def statusReceived(self, status: bytes) -> None:
        super().statusReceived(status)  # type: ignore[no-untyped-call]
        if not 100 <= self.response.code <= 999:  # three digits (RFC 9112 section 4); databases store no large numbers
            raise ParseError("the status does not have three digits", status)  # type: ignore[no-untyped-call]

    def lineLengthExceeded(self, line: bytes) -> None:
        raise DownloadRefusedError(Reason.LONG_HEADER.of(MAX_LINE_BYTES // 1024))


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    """One connection. The bytes before the body are counted for each request."""

    _head_bytes = 0

    def request(self, request: WebRequest) -> Deferred[IResponse]:
        self._head_bytes = 0
        response = super().request(request)
        if self._parser is not None:
            self._parser.__class__ = _BoundedParser  # as Scrapy does: Twisted names the class of its parser itself
        return response

    def dataReceived(self, data: bytes) -> None:
        parser = self._parser
        if parser is not None and parser.state in (STATUS, HEADER):
            if self._head_bytes > MAX_HEAD_BYTES:
                self._giveUp(Failure(DownloadRefusedError(Reason.LONG_HEADERS.of(MAX_HEAD_BYTES // 1024))))  # type: ignore[no-untyped-call]
                self.transport.abortConnection()  # type: ignore[union-attr] # a polite end of TLS would wait for the server
                return
            self._head_bytes += len(data)
        super().dataReceived(data)  # type: ignore[no-untyped-call]


class _BoundedFactory(_LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: IAddress | None) -> _BoundedProtocol:
        return _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]


class _VerifiedTLS(ClientTLSOptions):
    """Refuses bad certificates as Twisted does, but says what is wrong with them."""

    def clientConnectionForTLS(self, tlsProtocol: TLSMemoryBIOProtocol) -> SSL.Connection:
        connection = super().clientConnectionForTLS(tlsProtocol)

        def is_accepted(_: SSL.Connection, certificate: X509, _error: int, depth: int, is_trusted: int) -> bool:
            problem = certificate_problem(certificate, self._hostnameASCII, time.time()) if depth == 0 else None
            if is_trusted and problem in (None, Reason.CERTIFICATE_SELF_SIGNED):
                return True
            error = Failure(BadResponseError(problem or Reason.CERTIFICATE_UNKNOWN_ISSUER))  # type: ignore[no-untyped-call]
            tlsProtocol.failVerification(error)  # type: ignore[no-untyped-call]
            return False

        connection.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, is_accepted)
        return connection


@implementer(IPolicyForHTTPS)
class _ContextFactory:
    """Scrapy's *factory*, with our words if certificates are verified."""

    def __init__(self, factory: Any) -> None:
        self._factory = factory

    def creatorForNetloc(self, hostname: bytes, port: int) -> ClientTLSOptions:
        options: ClientTLSOptions = self._factory.creatorForNetloc(hostname, port)
        if type(options) is ClientTLSOptions:  # a function of Twisted makes those that verify
            options.__class__ = _VerifiedTLS
        return options


class BoundedHTTPHandler(HTTP11DownloadHandler):
    """Scrapy's handler of `http` and `https`, with these limits.

    Raises `DownloadRefusedError` beyond them, and `BadResponseError` if a response is not HTTP.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool._factory = _BoundedFactory
        self._contextFactory = _ContextFactory(self._contextFactory)  # type: ignore[assignment]
        self._filter = crawler.get_extension(AddressFilter)

    async def download_request(self, request: Request) -> Response:
        host = target_of(request, self._filter).host
        try:
            return await super().download_request(request)
        except CannotResolveHostError as error:
            refused = self._filter.take_refused(host) if self._filter is not None else None
            raise refused or error from error
        except DownloadFailedError as error:
            raise _explained(error) from error
        except ConnectError as error:  # no route, for example, or an address to which nothing can be connected
            raise BadResponseError(Reason.NO_CONNECTION) from error


def _explained(error: DownloadFailedError) -> Exception:
    """Return an error that says more than *error*, if Twisted knows more."""
    if isinstance(error.__cause__, ResponseFailed):
        for reason in error.__cause__.reasons:
            if isinstance(reason.value, (BadResponseError, DownloadRefusedError)):
                return reason.value
            if reason.check(SSL.Error):
                return BadResponseError(Reason.TLS_FAILED)
            if not reason.check(ConnectionClosed):
                return BadResponseError(Reason.NOT_HTTP)
    return error
