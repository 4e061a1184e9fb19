"""Downloads by HTTP/1.1 with libcurl, with the limits of `bounded_http` and the same reasons (HTTP_CLIENT=curl).

libcurl connects, sends and parses in C, which saves Python's work for each response. Everything that decides something
stays outside of it: redirects, cookies, decompression, retries of responses, and which addresses are connected to.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import ssl
import time
from functools import lru_cache, partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urlsplit

import pycurl
from scrapy.core.downloader.handlers._base_http import BaseHttpDownloadHandler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http import Headers, Request, Response
from scrapy.utils._download_handlers import get_dataloss_msg, make_response, normalize_bind_address
from scrapy.utils.datatypes import LocalCache
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.ssl import _get_tls_version_limits
from twisted.internet.ssl import Certificate

from crawlers.downloader.address_filter import MAX_LINE_BYTES, AddressFilter, addresses_of, target_of
from crawlers.downloader.curl_transfer import CurlLoop, Transfer
from crawlers.downloader.download_errors import (
    BadResponseError,
    DownloadRefusedError,
    certificate_problem,
)
from crawlers.downloader.http import Callbacks
from crawlers.items import REQUEST_SENT
from crawlers.reasons import Reason
from crawlers.urls.addresses import is_address

if TYPE_CHECKING:
    from collections.abc import Iterator
    from ipaddress import IPv4Address, IPv6Address

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawlers.downloader.address_filter import Target
    from crawlers.downloader.bounded_http import BoundedHTTPHandler

logger = logging.getLogger(__name__)

CONNECT_S = 10.0  # of a request without `download_timeout`, as in Scrapy
READ_BYTES = 32 * 1024  # that are read at a time; up to 50 times as many before the loop has its turn
MAX_HOSTS = 1_000  # of which something is remembered
RESOLVED_S = 10.0  # for which the addresses of a host are used again; each is checked when it is connected to
SUPPRESS_CONNECT_HEADERS = 265  # CURLOPT_SUPPRESS_CONNECT_HEADERS
TOO_LARGE = 100  # CURLE_TOO_LARGE, of a header of more than 100 kB; pycurl names neither of the two
BAD_HEAD = pycurl.E_FTP_WEIRD_SERVER_REPLY  # CURLE_WEIRD_SERVER_REPLY, the same number
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
        self._most_connections = max(settings.getint("CONCURRENT_REQUESTS"), 1)
        self._certificates: LocalCache[int, Certificate] = LocalCache(self._most_connections)  # by connection
        self._options = [*_options(settings)]
        self._loop: CurlLoop[Transfer] = CurlLoop(self._ended, self._most_connections)
        self._headers = Headers()  # of the last of these downloads: most have the same
        self._lines: list[bytes] = [*_header_lines(Request("http://a"), has_proxy=False)]
        self._idle: list[pycurl.Curl] = []  # handles of downloads without special options, to be used again
        self._lenient: BoundedHTTPHandler | None = None  # until a host needs it
        self._of_lenient: LocalCache[Target, None] = LocalCache(MAX_HOSTS)  # those that were found last
        # Addresses as resolved last, and until when they are used.
        self._addresses: LocalCache[Target, tuple[str, float]] = LocalCache(MAX_HOSTS)

    async def download_request(self, request: Request) -> Response:
        result: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        begun = self.begin(request, Callbacks(partial(_settle, result), self._tell_sent))
        try:
            return await result
        finally:
            if begun is not None:
                self._loop.remove(*begun)
            del begun, result  # to which the traceback of an error would refer

    def begin(self, request: Request, callbacks: Callbacks) -> tuple[pycurl.Curl, Transfer] | None:
        """Begin a download; return None if it has to wait. Raises what `target_of` raises."""
        target = target_of(request, self._filter)
        addresses = self._known(target)
        if addresses is not None and target not in self._of_lenient:
            return self._begin(request, target, addresses, callbacks)
        deferred_from_coro(self._prepare(request, target, callbacks))
        return None

    async def _prepare(self, request: Request, target: Target, callbacks: Callbacks) -> None:
        """Resolve the name of the host first, or leave the download to the handler of lenient ones."""
        outcome: Response | Exception
        try:
            if target not in self._of_lenient:
                async with asyncio.timeout(_timeout_s(request)):
                    addresses = await self._resolved(target)
                self._begin(request, target, addresses, callbacks)
                return
            outcome = await self._lenient_handler().download_request(request)
        except TimeoutError:
            outcome = _timeout(request)
        except Exception as error:
            outcome = error
        callbacks.ended(outcome, 0, len(outcome.body) if isinstance(outcome, Response) else 0)

    def _tell_sent(self, request: Request) -> None:
        self.crawler.signals.send_catch_log(REQUEST_SENT, request=request)

    async def close(self) -> None:
        self._loop.close()
        if self._lenient is not None:
            await self._lenient.close()

    def _lenient_handler(self) -> BoundedHTTPHandler:
        if self._lenient is None:
            from crawlers.downloader.bounded_http import BoundedHTTPHandler  # Twisted's client is large, too

            self._lenient = BoundedHTTPHandler(self.crawler)
        return self._lenient

    def _begin(
        self, request: Request, target: Target, addresses: str, callbacks: Callbacks
    ) -> tuple[pycurl.Curl, Transfer]:
        meta = request.meta
        most_bytes: int = meta.get("download_maxsize", self._default_maxsize)
        warn_bytes: int = meta.get("download_warnsize", self._default_warnsize)
        timeout_ms = int(1000 * _timeout_s(request)) + 1
        bind_address = meta.get("bindaddress") or self._bind_address
        is_plain = request.method == "GET" and not (request.body or meta.get("proxy") or bind_address)
        transfer = Transfer(
            self.crawler, request, target, self._filter, most_bytes, warn_bytes, callbacks, is_plain=is_plain
        )
        if is_plain and self._idle:
            curl = self._idle.pop()
        else:
            curl = pycurl.Curl()
            for option, value in self._options:
                curl.setopt(option, value)
        if addresses:
            curl.setopt(pycurl.RESOLVE, [addresses])
        if is_plain:
            curl.setopt(pycurl.URL, request.url)
            if request.headers != self._headers:
                self._headers = Headers(request.headers)
                self._lines = [*_header_lines(request, has_proxy=False)]
            curl.setopt(pycurl.HTTPHEADER, self._lines)
        else:
            for option, value in _request_options(request, bind_address):
                curl.setopt(option, value)
        curl.setopt(pycurl.TIMEOUT_MS, timeout_ms)
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, timeout_ms)  # else 300 s
        curl.setopt(pycurl.HEADERFUNCTION, transfer.header_received if transfer.hears_heads else transfer.lines.append)
        curl.setopt(pycurl.WRITEFUNCTION, transfer.body_received)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, transfer.open_socket)
        curl.setopt(pycurl.PREREQFUNCTION, transfer.leaves)
        self._loop.add(curl, transfer)
        return curl, transfer

    def _ended(self, curl: pycurl.Curl, transfer: Transfer, code: int, message: str) -> None:
        result: Response | Exception
        try:
            result = self._result(curl, transfer, code, message)
        except Exception as error:  # StopDownload of a component, or a bug
            result = error
        sent_bytes = curl.getinfo(pycurl.REQUEST_SIZE)
        received_bytes = int(curl.getinfo(pycurl.HEADER_SIZE) + curl.getinfo(pycurl.SIZE_DOWNLOAD_T))
        if transfer.is_plain and not code and len(self._idle) < self._most_connections:
            self._idle.append(curl)
        else:
            curl.close()
        transfer.callbacks.ended(result, sent_bytes, received_bytes)

    def _known(self, target: Target) -> str | None:
        """Return the addresses of *target* as libcurl takes them; None if they have to be resolved."""
        if is_address(target.host):
            return ""
        known, until = self._addresses.get(target, ("", 0.0))
        return known if time.monotonic() < until else None

    async def _resolved(self, target: Target) -> str:
        """Return the addresses of *target* as libcurl takes them, so that it resolves nothing itself."""
        if (known := self._known(target)) is not None:
            return known
        addresses = await addresses_of(*target)
        if not addresses:
            refused = self._filter.take_refused(target.host) if self._filter is not None else None
            raise refused or CannotResolveHostError(f"no address of {target.host} was found")
        forms = ",".join(f"[{address}]" if ":" in address else address for address in addresses)
        found = f"+{target.host.removesuffix('.')}:{target.port}:{forms}"
        self._addresses[target] = found, time.monotonic() + RESOLVED_S
        return found

    def _result(self, curl: pycurl.Curl, transfer: Transfer, code: int, message: str) -> Response | Exception:
        """Return the response of a transfer that ended, or why there is none.

        The error is not raised: its traceback would keep the handle in memory.
        """
        if transfer.headers is None and transfer.error is None:
            transfer.read_head()  # without a body
        if transfer.headers is not None and transfer.error is None:
            transfer.pass_on()
        if transfer.stop is not None:
            return self._response(transfer, curl)
        if transfer.error is not None:
            return transfer.take_error()
        if not code or (transfer.ends_with_connection and code != pycurl.E_OPERATION_TIMEDOUT):
            return self._response(transfer, curl, ["partial"] if transfer.ends_with_connection else None)
        request = transfer.request
        if code == pycurl.E_OPERATION_TIMEDOUT:
            return _timeout(request)
        if transfer.headers is None:
            if _may_be_strict(code, message):
                self._of_lenient[transfer.target] = None
            if code == pycurl.E_PEER_FAILED_VERIFICATION:
                return BadResponseError(self._why_refused(curl, request.url))
            return _error_of(code, message, curl)
        if not request.meta.get("download_fail_on_dataloss", self._fail_on_dataloss):
            return self._response(transfer, curl, ["dataloss"])
        if not self._fail_on_dataloss_warned:
            logger.warning(get_dataloss_msg(request.url))
            self._fail_on_dataloss_warned = True
        return ResponseDataLossError(message)

    def _response(self, transfer: Transfer, curl: pycurl.Curl, flags: list[str] | None = None) -> Response:
        assert transfer.headers is not None
        url = transfer.request.url
        found: dict[str, Any] = {
            "url": urldefrag(url)[0] if "#" in url else url,
            "status": transfer.status,
            "body": transfer.body.getvalue(),
            "flags": flags if transfer.stop is None else None,
            "certificate": self._certificate(curl) if url.startswith("https:") else None,
            "ip_address": _ip_address(curl.getinfo(pycurl.PRIMARY_IP)),
            "protocol": transfer.protocol,
        }
        if transfer.callbacks.is_unwanted is None:
            return make_response(headers=transfer.headers, stop_download=transfer.stop, **found)
        response = Response(**found)
        response.headers = transfer.headers  # not as an argument, which would normalise each header again
        if transfer.stop is not None:
            response.flags.append("download_stopped")
        return response

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


@lru_cache(MAX_HOSTS)
def _ip_address(text: str) -> IPv4Address | IPv6Address:
    return ip_address(text)


def _settle(future: asyncio.Future[Response], result: Response | Exception, *_: int) -> None:
    if not future.done():
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)


def _timeout_s(request: Request) -> float:
    return request.meta.get("download_timeout") or CONNECT_S


def _timeout(request: Request) -> DownloadTimeoutError:
    return DownloadTimeoutError(f"Getting {request.url} took longer than {_timeout_s(request)} seconds.")


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


def _may_be_strict(code: int, message: str) -> bool:
    """Return whether another client may get a response, see `CurlHTTPHandler`."""
    return code in _TLS or (code == BAD_HEAD and "colon" in message)


def _error_of(code: int, message: str, curl: pycurl.Curl) -> Exception:
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
