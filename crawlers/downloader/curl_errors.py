"""What the codes mean with which transfers of libcurl end that got no response."""

from __future__ import annotations

import errno

import pycurl
from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError, DownloadFailedError

from crawlers.downloader.address_filter import MAX_LINE_BYTES
from crawlers.downloader.download_errors import BadResponseError, DownloadRefusedError
from crawlers.reasons import Reason

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


def may_be_strict(code: int, message: str) -> bool:
    """Return whether another client may get a response, see `CurlHTTPHandler`."""
    return code in _TLS or (code == BAD_HEAD and "colon" in message)


def error_of(code: int, message: str, curl: pycurl.Curl) -> Exception:
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
