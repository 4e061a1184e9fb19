"""Downloads by HTTP/1.1 with libcurl, with the limits of `bounded_http` and the same reasons (HTTP_CLIENT=curl).

libcurl connects, sends and parses in C, which saves Python's work for each response. Everything that decides something
stays outside of it: redirects, cookies, decompression, retries of responses, and which addresses are connected to.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
import time
from io import BytesIO
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urlsplit

import pycurl
from scrapy import signals
from scrapy.core.downloader.handlers._base_http import BaseHttpDownloadHandler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http import Headers
from scrapy.utils._download_handlers import (
    check_stop_download,
    get_dataloss_msg,
    get_maxsize_msg,
    get_warnsize_msg,
    make_response,
    normalize_bind_address,
)
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.ssl import _get_tls_version_limits
from twisted.internet.ssl import Certificate

from crawlers.downloader.address_filter import AddressFilter
from crawlers.downloader.download_errors import (
    BadResponseError,
    DownloadRefusedError,
    certificate_problem,
)
from crawlers.downloader.host_names import addresses_of
from crawlers.downloader.targets import (
    MAX_HEAD_BYTES,
    MAX_LINE_BYTES,
    target_of,
)
from crawlers.items import REQUEST_SENT
from crawlers.reasons import Reason
from crawlers.urls.addresses import is_address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.exceptions import StopDownload
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from crawlers.downloader.bounded_http import BoundedHTTPHandler
    from crawlers.downloader.targets import Target

logger = logging.getLogger(__name__)

CONNECT_S = 10.0  # of a request without `download_timeout`, as in Scrapy
READ_BYTES = 32 * 1024  # that are read at a time; up to 50 times as many before the loop has its turn
LEAST_BYTES = 1_024  # of a body in a signal, except the last one
MAX_HEADERS = 4_096  # of a response; libcurl gives up beyond 5,000
ABORT = 0  # what a callback returns to end a transfer: a number other than that of the bytes
TOO_LARGE = 100  # CURLE_TOO_LARGE, of a header of more than 100 kB; pycurl names neither of the two
BAD_SOCKET = -1  # CURL_SOCKET_BAD
BAD_HEAD = pycurl.E_FTP_WEIRD_SERVER_REPLY  # CURLE_WEIRD_SERVER_REPLY, the same number
MAX_HOSTS = 1_000  # of which something is remembered
RESOLVED_S = 10.0  # for which the addresses of a host are used again; each is checked when it is connected to
SUPPRESS_CONNECT_HEADERS = 265  # CURLOPT_SUPPRESS_CONNECT_HEADERS
NO_BODY = frozenset({204, 304})  # statuses (RFC 9110 section 6.4.1)
# Headers of the connection rather than of the page; Twisted keeps them to itself as well.
CONNECTION_HEADERS = frozenset(
    b"connection content-length keep-alive proxy-connection te trailers transfer-encoding upgrade".split()
)
_NOT_HTTP = frozenset({BAD_HEAD, pycurl.E_UNSUPPORTED_PROTOCOL, pycurl.E_BAD_CONTENT_ENCODING})
_TLS = frozenset(
    {
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_CACERT,
        pycurl.E_SSL_CACERT_BADFILE,
        pycurl.E_SSL_ISSUER_ERROR,
        pycurl.E_SSL_INVALIDCERTSTATUS,
    }
)
TLS_VERSIONS = {  # the least and the greatest one, by their names in Scrapy's settings
    "TLSv1.0": (pycurl.SSLVERSION_TLSv1_0, pycurl.SSLVERSION_MAX_TLSv1_0),
    "TLSv1.1": (pycurl.SSLVERSION_TLSv1_1, pycurl.SSLVERSION_MAX_TLSv1_1),
    "TLSv1.2": (pycurl.SSLVERSION_TLSv1_2, pycurl.SSLVERSION_MAX_TLSv1_2),
    "TLSv1.3": (pycurl.SSLVERSION_TLSv1_3, pycurl.SSLVERSION_MAX_TLSv1_3),
}


class CurlHTTPHandler(BaseHttpDownloadHandler):
    """A handler of `http` and `https` for any Scrapy project; raises what `BoundedHTTPHandler` raises.

    libcurl is stricter in two respects: it refuses heads with lines that are not headers, which browsers skip, and TLS
    without secure renegotiation (RFC 5746), which Scrapy allows. After such a failure a host gets its further requests,
    retries among them, from `BoundedHTTPHandler`.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._filter = crawler.get_extension(AddressFilter)
        self._bind_address = settings.get("DOWNLOAD_BIND_ADDRESS")
        most_connections = max(settings.getint("CONCURRENT_REQUESTS"), 1)
        self._certificates: LocalCache[int, Certificate] = LocalCache(most_connections)  # by number of the connection
        self._options = [*_options(settings)]
        self._multi = pycurl.AsyncCurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, most_connections)
        self._lenient: BoundedHTTPHandler | None = None  # until a host needs it
        self._of_lenient: LocalCache[Target, None] = LocalCache(MAX_HOSTS)  # those that were found last
        # Addresses as resolved last, and until when they are used.
        self._addresses: LocalCache[Target, tuple[str, float]] = LocalCache(MAX_HOSTS)

    async def download_request(self, request: Request) -> Response:
        target = target_of(request, self._filter)
        if target in self._of_lenient:
            return await self._lenient_handler().download_request(request)
        timeout_s: float = request.meta.get("download_timeout") or CONNECT_S
        try:
            async with asyncio.timeout(timeout_s):
                return await self._download(request, target, timeout_s)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"Getting {request.url} took longer than {timeout_s} seconds.") from error

    async def close(self) -> None:
        await self._multi.aclose()
        if self._lenient is not None:
            await self._lenient.close()

    def _lenient_handler(self) -> BoundedHTTPHandler:
        if self._lenient is None:
            from crawlers.downloader.bounded_http import BoundedHTTPHandler  # Twisted's client is large, too

            self._lenient = BoundedHTTPHandler(self.crawler)
        return self._lenient

    async def _download(self, request: Request, target: Target, timeout_s: float) -> Response:
        meta = request.meta
        most_bytes: int = meta.get("download_maxsize", self._default_maxsize)
        warn_bytes: int = meta.get("download_warnsize", self._default_warnsize)
        transfer = _Transfer(self.crawler, request, target, self._filter, most_bytes, warn_bytes)
        curl = pycurl.Curl()
        for option, value in self._options:
            curl.setopt(option, value)
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, int(1000 * timeout_s) + 1)  # else 300 s: `download_request` ends it
        if not is_address(target.host):
            curl.setopt(pycurl.RESOLVE, [await self._resolved(target)])
        for option, value in _request_options(request, meta.get("bindaddress") or self._bind_address):
            curl.setopt(option, value)
        curl.setopt(pycurl.HEADERFUNCTION, transfer.header_received)
        curl.setopt(pycurl.WRITEFUNCTION, transfer.body_received)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, transfer.open_socket)
        curl.setopt(pycurl.PREREQFUNCTION, transfer.leaves)
        try:
            await self._multi.perform(curl)
        except pycurl.error as error:
            code, message = error.args
            return self._interrupted(transfer, curl, code, message)
        transfer.pass_on()
        return self._response(transfer, curl, ["partial"] if transfer.ends_with_connection else None)

    async def _resolved(self, target: Target) -> str:
        """Return the addresses of *target* as libcurl takes them, so that it resolves nothing itself."""
        now = time.monotonic()
        known, until = self._addresses.get(target, ("", 0.0))
        if now < until:
            return known
        addresses = await addresses_of(*target)
        if not addresses:
            refused = self._filter.take_refused(target.host) if self._filter is not None else None
            raise refused or CannotResolveHostError(f"no address of {target.host} was found")
        forms = ",".join(f"[{address}]" if ":" in address else address for address in addresses)
        found = f"+{target.host.removesuffix('.')}:{target.port}:{forms}"
        self._addresses[target] = found, now + RESOLVED_S
        return found

    def _interrupted(self, transfer: _Transfer, curl: pycurl.Curl, code: int, message: str) -> Response:
        """Return the response of a transfer that did not reach its end, or raise why there is none."""
        if transfer.headers is not None and transfer.error is None:
            transfer.pass_on()
        if transfer.stop is not None:
            return self._response(transfer, curl)
        if transfer.error is not None:
            raise transfer.take_error()
        if code == pycurl.E_OPERATION_TIMEDOUT:
            raise DownloadTimeoutError(message)
        if transfer.headers is None:
            if code in _TLS or (code == BAD_HEAD and "colon" in message):
                self._of_lenient[transfer.target] = None
            if code == pycurl.E_PEER_FAILED_VERIFICATION:
                raise BadResponseError(self._why_refused(curl, transfer.request.url))
            raise _error(code, message, curl)
        if transfer.ends_with_connection:
            return self._response(transfer, curl, ["partial"])
        request = transfer.request
        if not request.meta.get("download_fail_on_dataloss", self._fail_on_dataloss):
            return self._response(transfer, curl, ["dataloss"])
        if not self._fail_on_dataloss_warned:
            logger.warning(get_dataloss_msg(request.url))
            self._fail_on_dataloss_warned = True
        raise ResponseDataLossError(message)

    def _response(self, transfer: _Transfer, curl: pycurl.Curl, flags: list[str] | None = None) -> Response:
        assert transfer.headers is not None
        url = transfer.request.url
        return make_response(
            url=urldefrag(url)[0] if "#" in url else url,
            status=transfer.status,
            headers=transfer.headers,
            body=transfer.body.getvalue(),
            flags=flags if transfer.stop is None else None,
            certificate=self._certificate(curl) if url.startswith("https:") else None,
            ip_address=ip_address(curl.getinfo(pycurl.PRIMARY_IP)),
            protocol=transfer.protocol,
            stop_download=transfer.stop,
        )

    def _certificate(self, curl: pycurl.Curl) -> Certificate | None:
        """Return the certificate of the server; libcurl only knows it in the first transfer of a connection."""
        connection = curl.getinfo(pycurl.CONN_ID)
        if curl.getinfo(pycurl.NUM_CONNECTS) and (chain := curl.getinfo(pycurl.INFO_CERTINFO)):
            self._certificates[connection] = Certificate.loadPEM(dict(chain[0])["Cert"])
        return self._certificates.get(connection)

    def _why_refused(self, curl: pycurl.Curl, url: str) -> str:
        """Return what is wrong with the certificate by which the host of *url* answered."""
        certificate, host = self._certificate(curl), urlsplit(url).hostname or ""
        return (
            certificate and certificate_problem(certificate.original, host, time.time())
        ) or Reason.CERTIFICATE_UNKNOWN_ISSUER


class _Socket(socket.socket):
    """A socket of which pycurl uses a duplicate, without closing the original."""

    def __del__(self) -> None:
        self.close()


class _Transfer:
    """One download, as the callbacks of libcurl see it. They must not raise: libcurl could not pass it on."""

    def __init__(
        self,
        crawler: Crawler,
        request: Request,
        target: Target,
        addresses: AddressFilter | None,
        most_bytes: int,
        warn_bytes: int,
    ) -> None:
        self.request = request
        self.target = target
        self.status = 0
        self.protocol = ""
        self.headers: Headers | None = None  # None: the head is not complete
        self.ends_with_connection = False  # no header says where the body ends
        self.body = BytesIO()  # not a list: a hostile server may send it byte by byte
        self.stop: StopDownload | None = None
        self.error: Exception | None = None
        self._crawler = crawler
        self._most_bytes = most_bytes
        self._warn_bytes = warn_bytes
        self._filter = addresses
        self._began_at = time.monotonic()
        self._lines: list[bytes] = []  # of the head so far, without line ends
        self._head_bytes = 0
        self._passed_on = 0  # bytes of the body for which the signal was sent

    def take_error(self) -> Exception:
        """Return the error, and forget it: its traceback will refer to this transfer, and to memory of libcurl."""
        error, self.error = self.error, None
        assert error is not None
        return error

    def open_socket(self, _: int, address: tuple[int, int, int, tuple[Any, ...]]) -> socket.socket | int:
        """Return a socket for a connection to *address*, if that is allowed, whatever libcurl read in the URL."""
        family, kind, protocol, place = address
        if self._filter is not None and not self._filter.admitted(*self.target, [place[0]]):
            self.error = self._filter.take_refused(self.target.host)
            return BAD_SOCKET
        return _Socket(family, kind, protocol)

    def leaves(self, *_: object) -> int:
        """Tell that the connection stands and the request is sent now."""
        self._crawler.signals.send_catch_log(REQUEST_SENT, request=self.request)
        return int(pycurl.PREREQFUNC_OK)

    def header_received(self, line: bytes) -> int | None:
        """Take a line of a head or trailer; the empty line ends it."""
        self._head_bytes += len(line)
        if len(line) > MAX_LINE_BYTES + len(b"\r\n"):
            return self._fail(DownloadRefusedError(Reason.LONG_HEADER.of(MAX_LINE_BYTES // 1024)))
        if self._head_bytes > MAX_HEAD_BYTES:
            return self._fail(DownloadRefusedError(Reason.LONG_HEADERS.of(MAX_HEAD_BYTES // 1024)))
        if len(self._lines) > MAX_HEADERS:
            return self._fail(DownloadRefusedError(Reason.MANY_HEADERS.of(MAX_HEADERS)))
        if self.headers is not None:
            return None  # trailers are not used
        line = line.rstrip(b"\r\n")
        if line:
            self._lines.append(line)
            return None
        return self._head_received()

    def body_received(self, data: bytes) -> int | None:
        """Take a part of the body. A hostile server may send single bytes: the work for most parts must be small."""
        self.body.write(data)
        size = self.body.tell()
        if size - self._passed_on < LEAST_BYTES and not 0 < self._most_bytes < size:
            return None
        self.pass_on()
        return ABORT if self.stop is not None else self._check_size(size, is_expected=False)

    def pass_on(self) -> None:
        """Send the signal for what was received of the body since the last one."""
        self.body.seek(self._passed_on)
        data = self.body.read()
        self._passed_on += len(data)
        if data and self.stop is None:
            self._is_stopped(signals.bytes_received, data=data)

    def _head_received(self) -> int | None:
        protocol, _, rest = self._lines[0].partition(b" ")
        try:
            status = int(rest.split()[0])
            if not 100 <= status <= 999:  # three digits (RFC 9112 section 4)
                raise ValueError
            if status < 200:
                self._lines.clear()
                return None
            headers = [*_headers(self._lines[1:])]
            announced = _announced_length(headers) if status not in NO_BODY else 0
        except (IndexError, ValueError):
            return self._fail(BadResponseError(Reason.NOT_HTTP))
        self.status = status
        self.protocol = protocol.decode("latin-1")
        self.headers = Headers([header for header in headers if header[0].lower() not in CONNECTION_HEADERS])
        if announced is not None:
            self.headers[b"Content-Length"] = b"%d" % announced
        length = announced if self.request.method != "HEAD" else 0
        self.ends_with_connection = length is None and not _has(headers, b"transfer-encoding")
        self.request.meta["download_latency"] = time.monotonic() - self._began_at
        if self._is_stopped(signals.headers_received, headers=self.headers, body_length=length):
            return ABORT
        return self._check_size(length or 0, is_expected=True)

    def _is_stopped(self, signal: object, **received: object) -> bool:
        """Send *signal*, and return whether a component raised `StopDownload`."""
        self.stop = check_stop_download(signal, self._crawler, self.request, **received)
        return self.stop is not None

    def _check_size(self, size: int, *, is_expected: bool) -> int | None:
        if self._most_bytes and size > self._most_bytes:
            self.body.close()
            message = get_maxsize_msg(size, self._most_bytes, self.request, expected=is_expected)
            logger.warning(message)
            return self._fail(DownloadCancelledError(message))
        if self._warn_bytes and size > self._warn_bytes:
            logger.warning(get_warnsize_msg(size, self._warn_bytes, self.request, expected=is_expected))
            self._warn_bytes = 0  # once
        return None

    def _fail(self, error: Exception) -> int:
        self.error = error
        return ABORT


def _headers(lines: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and value of each header, as received; a folded line belongs to the one before it.

    Raises `IndexError` if there is none.
    """
    unfolded: list[bytes] = []
    for line in lines:
        if line[:1] in b" \t":
            unfolded[-1] += line
        else:
            unfolded.append(line)
    for line in unfolded:
        name, _, value = line.partition(b":")
        yield name, value.strip()


def _has(headers: list[tuple[bytes, bytes]], wanted: bytes) -> bool:
    return any(name.lower() == wanted for name, _ in headers)


def _announced_length(headers: list[tuple[bytes, bytes]]) -> int | None:
    """Return the bytes that Content-Length announces, None if nothing does. Raises `ValueError` for contradictions."""
    lengths = {value for name, value in headers if name.lower() == b"content-length"}
    if not lengths or _has(headers, b"transfer-encoding"):
        return None
    (length,) = lengths
    if not length.isdigit():
        raise ValueError(length)
    return int(length)


def _error(code: int, message: str, curl: pycurl.Curl) -> Exception:
    """Return the error for a transfer that ended before the head of a response was complete."""
    if code in _NOT_HTTP:
        return BadResponseError(Reason.NOT_HTTP)
    if code in _TLS:
        return BadResponseError(Reason.TLS_FAILED)
    if code == TOO_LARGE:
        return DownloadRefusedError(Reason.LONG_HEADER.of(MAX_LINE_BYTES // 1024))
    if code == pycurl.E_COULDNT_CONNECT:
        if curl.getinfo(pycurl.OS_ERRNO) == errno.ECONNREFUSED:
            return DownloadConnectionRefusedError(message)
        return BadResponseError(Reason.NO_CONNECTION)
    if code in (pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_COULDNT_RESOLVE_PROXY, pycurl.E_URL_MALFORMAT):
        return CannotResolveHostError(message)
    return DownloadFailedError(message)


def _options(settings: BaseSettings) -> Iterator[tuple[int, Any]]:
    """Yield the options that all transfers have in common."""
    yield pycurl.NOSIGNAL, 1
    yield pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
    yield pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1
    yield pycurl.PATH_AS_IS, 1
    yield pycurl.HTTP_CONTENT_DECODING, 0
    yield pycurl.BUFFERSIZE, READ_BYTES
    yield pycurl.PROXY, ""  # Scrapy's middleware reads those of the environment
    yield pycurl.NOPROXY, ""
    yield SUPPRESS_CONNECT_HEADERS, 1
    yield pycurl.OPT_CERTINFO, 1
    yield pycurl.SSL_SESSIONID_CACHE, 0  # libcurl does not know the certificate of a resumed session
    least, most = _get_tls_version_limits(settings, TLS_VERSIONS.__getitem__)
    yield pycurl.SSLVERSION, (least[0] if least else pycurl.SSLVERSION_DEFAULT) | (most[1] if most else 0)
    if ciphers := settings["DOWNLOADER_CLIENT_TLS_CIPHERS"]:
        yield pycurl.SSL_CIPHER_LIST, ciphers
    is_verified = settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")
    yield pycurl.SSL_VERIFYPEER, int(is_verified)
    yield pycurl.SSL_VERIFYHOST, 2 if is_verified else 0
    paths = ssl.get_default_verify_paths()  # those of the system: pycurl's wheels bring an OpenSSL without any
    if paths.cafile:
        yield pycurl.CAINFO, paths.cafile
    if paths.capath:
        yield pycurl.CAPATH, paths.capath


def _request_options(request: Request, bind_address: str | tuple[str, int] | None) -> Iterator[tuple[int, Any]]:
    """Yield the options of the transfer of *request*: method, URL, headers and body, and proxy."""
    yield pycurl.URL, request.url
    proxy = request.meta.get("proxy")
    lines = [*_header_lines(request, has_proxy=bool(proxy))]
    if request.method == "HEAD":
        yield pycurl.NOBODY, 1
    elif request.body or request.method in ("POST", "PUT"):
        lines += [b"Expect:"] + [b"Content-Type:"] * (b"Content-Type" not in request.headers)
        yield pycurl.POSTFIELDS, request.body
    if request.method != "HEAD":
        yield pycurl.CUSTOMREQUEST, request.method
    yield pycurl.HTTPHEADER, lines
    if proxy:
        yield pycurl.PROXY, proxy
        yield pycurl.HEADEROPT, pycurl.HEADER_SEPARATE
        credentials = request.headers.get("Proxy-Authorization")
        yield pycurl.PROXYHEADER, [b"Proxy-Authorization: " + credentials] if credentials else []
    if bind := normalize_bind_address(bind_address):
        yield pycurl.INTERFACE, f"host!{bind[0]}"
        yield pycurl.LOCALPORT, bind[1]


def _header_lines(request: Request, *, has_proxy: bool) -> Iterator[bytes]:
    """Yield the headers of *request* as libcurl takes them; those that it would add itself are switched off."""
    for name, values in request.headers.items():
        if has_proxy and name == b"Proxy-Authorization":
            continue
        for value in values:
            text = b" ".join(value.splitlines()).strip()  # no header may begin another one
            yield name + b": " + text if text else name + b";"
    for name in (b"Accept", b"User-Agent"):
        if name not in request.headers:
            yield name + b":"
