"""One download, as the callbacks of libcurl see it, with the limits for hostile servers; and the loop of all transfers.

They run in the loop of asyncio, without a future or a task for each.
"""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import time
from io import BytesIO
from itertools import repeat
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pycurl
from scrapy import signals
from scrapy.exceptions import DownloadCancelledError, StopDownload
from scrapy.http import Headers
from scrapy.utils._download_handlers import check_stop_download, get_maxsize_msg, get_warnsize_msg

from crawlers.downloader.address_filter import MAX_HEAD_BYTES, MAX_LINE_BYTES
from crawlers.downloader.download_errors import BadResponseError, DownloadRefusedError
from crawlers.downloader.http import heard_signals
from crawlers.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from crawlers.downloader.address_filter import AddressFilter, Target
    from crawlers.downloader.http import Callbacks

logger = logging.getLogger(__name__)

T = TypeVar("T")


class CurlLoop(Generic[T]):
    """Calls *ended* once for each transfer that reached an end, with what `add` was given, a code (0: no error) and a
    message. At most *most* idle connections stay open.
    """

    def __init__(self, ended: Callable[[pycurl.Curl, T, int, str], None], most: int) -> None:
        self._ended = ended
        self._loop: asyncio.AbstractEventLoop | None = None  # None: there was no transfer yet
        self._transfers: dict[pycurl.Curl, T] = {}
        self._watched: dict[int, int] = {}  # for what, by descriptor
        self._timer: asyncio.TimerHandle | None = None
        self._due_at = math.inf  # when libcurl wants to be called; not before the timer
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, most)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)

    def add(self, curl: pycurl.Curl, transfer: T) -> None:
        """Begin the transfer of *curl*."""
        self._loop = self._loop or asyncio.get_running_loop()
        self._transfers[curl] = transfer
        self._multi.add_handle(curl)

    def remove(self, curl: pycurl.Curl, transfer: T) -> None:
        """Give up a transfer that has not ended; its handle may be in use for another one by now."""
        if self._transfers.get(curl) is transfer:
            del self._transfers[curl]
            self._multi.remove_handle(curl)

    def close(self) -> None:
        """Give up all transfers, and close all connections."""
        for curl, transfer in [*self._transfers.items()]:
            self.remove(curl, transfer)
        self._due_at = math.inf
        self._start_timer()
        self._multi.close()

    def _watch(self, what: int, descriptor: int, _multi: object, _data: object) -> None:
        assert self._loop is not None
        wanted = what & pycurl.POLL_INOUT
        before = self._watched.pop(descriptor, 0)
        for bit, select, add, remove in (
            (pycurl.POLL_IN, pycurl.CSELECT_IN, self._loop.add_reader, self._loop.remove_reader),
            (pycurl.POLL_OUT, pycurl.CSELECT_OUT, self._loop.add_writer, self._loop.remove_writer),
        ):
            if wanted & bit and not before & bit:
                add(descriptor, self._drive, descriptor, select)
            elif before & bit and not wanted & bit:
                remove(descriptor)
        if wanted:
            self._watched[descriptor] = wanted

    def _set_timer(self, after_ms: int) -> None:
        assert self._loop is not None
        # Also without delay: libcurl may not be called from its callbacks.
        self._due_at = self._loop.time() + after_ms / 1000 if after_ms >= 0 else math.inf
        if self._timer is None or self._due_at < self._timer.when():  # else with each transfer there would be a new one
            self._start_timer()

    def _start_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._loop is not None and self._due_at < math.inf:
            self._timer = self._loop.call_at(self._due_at, self._ring, self._loop)

    def _ring(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            if loop.time() >= self._due_at:
                self._due_at = math.inf
                self._drive(pycurl.SOCKET_TIMEOUT, 0)
        finally:
            self._start_timer()

    def _drive(self, descriptor: int, mask: int) -> None:
        if self._multi.closed:
            return
        self._multi.socket_action(descriptor, mask)
        _, ended, failed = self._multi.info_read()
        for curl, code, message in [*zip(ended, repeat(0), repeat("")), *failed]:
            transfer = self._transfers.pop(curl, None)
            if transfer is None:  # given up when another one ended
                continue
            self._multi.remove_handle(curl)
            try:
                self._ended(curl, transfer, code, message)
            except Exception:
                logger.exception("A download could not be ended")


LEAST_BYTES = 1_024  # of a body in a signal, except the last one
MAX_HEADERS = 4_096  # of a response; libcurl gives up beyond 5,000, 100 kB in a line or 300 kB in all
ABORT = 0  # what a callback returns to end a transfer: a number other than that of the bytes
BAD_SOCKET = -1  # CURL_SOCKET_BAD
NO_BODY = frozenset({204, 304})  # statuses (RFC 9110 section 6.4.1)
LINE_ENDS = (b"\r\n", b"\n")
# Headers of the connection rather than of the page; Twisted keeps them to itself as well.
CONNECTION_HEADERS = frozenset(
    b"connection content-length keep-alive proxy-connection te trailers transfer-encoding upgrade".split()
)


class _Socket(socket.socket):
    """A socket of which pycurl uses a duplicate, without closing the original."""

    def __del__(self) -> None:
        self.close()


class Transfer:
    """A download. Its methods for libcurl must not raise: libcurl could not pass it on.

    The handle of one that *is_plain* can be used again.
    """

    def __init__(
        self,
        crawler: Crawler,
        request: Request,
        target: Target,
        addresses: AddressFilter | None,
        most_bytes: int,
        warn_bytes: int,
        callbacks: Callbacks,
        *,
        is_plain: bool,
    ) -> None:
        self.request = request
        self.target = target
        self.callbacks = callbacks
        self.is_plain = is_plain
        self.status = 0
        self.protocol = ""
        self.headers: Headers | None = None  # None: the head is not complete
        self.ends_with_connection = False  # no header says where the body ends
        self.body = BytesIO()  # not a list: a hostile server may send it byte by byte
        self.stop: StopDownload | None = None
        self.error: Exception | None = None
        self.lines: list[bytes] = []  # of heads and trailers
        self._crawler = crawler
        self._most_bytes = most_bytes
        self._warn_bytes = warn_bytes
        self._filter = addresses
        self._began_at = time.monotonic()
        self._is_new = False  # the connection
        self._head_at = 0  # the line of `lines` where the next head begins
        self._head_bytes = 0  # of heads that were read
        self._passed_on = 0  # bytes of the body for which the signal was sent
        heard = heard_signals(crawler)
        self.hears_heads = signals.headers_received in heard
        self._hears_bodies = signals.bytes_received in heard

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
        self._is_new = True
        return _Socket(family, kind, protocol)

    def leaves(self, *_: object) -> int:
        """Tell that a new connection stands and the request is sent now."""
        if self._is_new:
            self.callbacks.sent(self.request)
        return int(pycurl.PREREQFUNC_OK)

    def header_received(self, line: bytes) -> int | None:
        """Take a line of a head or trailer; the empty line ends it. Without listeners, lines are only collected."""
        self.lines.append(line)
        return self.read_head() if line in LINE_ENDS and self.headers is None else None

    def body_received(self, data: bytes) -> int | None:
        """Take a part of the body. A hostile server may send single bytes: the work for most parts must be small."""
        if self.headers is None and (end := self.read_head()) is not None:
            return end
        self.body.write(data)
        size = self.body.tell()
        is_large = 0 < self._most_bytes < size
        if self._hears_bodies and (is_large or size - self._passed_on >= LEAST_BYTES):
            self.pass_on()
        if self.stop is not None:
            return ABORT
        return self._check_size(size, is_expected=False) if is_large or 0 < self._warn_bytes < size else None

    def pass_on(self) -> None:
        """Send the signal for what was received of the body since the last one."""
        if not self._hears_bodies:
            return
        self.body.seek(self._passed_on)
        data = self.body.read()
        self._passed_on += len(data)
        if data and self.stop is None:
            self._is_stopped(signals.bytes_received, data=data)

    def read_head(self) -> int | None:
        """Read the head that is complete; informational ones (1xx) before it are skipped, and not read again."""
        try:
            status, protocol, lines = 0, b"", self.lines
            while status < 200:
                end = self._head_at
                while end < len(self.lines) and self.lines[end] not in LINE_ENDS:
                    end += 1
                if (refused := self._refused(self.lines[self._head_at : end])) is not None:
                    return self._fail(refused)
                if end == len(self.lines):
                    return None
                protocol, _, rest = self.lines[self._head_at].partition(b" ")
                status = int(rest.split()[0])
                if not 100 <= status <= 999:  # three digits (RFC 9112 section 4)
                    raise ValueError(status)
                lines, self._head_at = self.lines[self._head_at + 1 : end], end + 1
            self.headers, lengths, is_framed = _read_headers(lines)
            length = None
            if status in NO_BODY:
                length = 0
            elif lengths and not is_framed:
                (announced,) = lengths  # no contradictions
                if not announced.isdigit():
                    raise ValueError(announced)
                length = int(announced)
        except (IndexError, ValueError):
            return self._fail(BadResponseError(Reason.NOT_HTTP))
        if length is not None:
            self.headers[b"Content-Length"] = b"%d" % length
        if self.request.method == "HEAD":
            length = 0
        self.status = status
        self.protocol = protocol.decode("latin-1")
        self.ends_with_connection = length is None and not is_framed
        self.request.meta["download_latency"] = time.monotonic() - self._began_at
        if self.hears_heads and self._is_stopped(signals.headers_received, headers=self.headers, body_length=length):
            return ABORT
        is_unwanted = self.callbacks.is_unwanted
        if is_unwanted is not None and is_unwanted(self.headers.get(b"Content-Type"), length):
            self.stop = StopDownload(fail=False)
            return ABORT
        return self._check_size(length or 0, is_expected=True)

    def _refused(self, lines: list[bytes]) -> DownloadRefusedError | None:
        """Return what is too large in the next *lines* of a head; None if nothing is."""
        self._head_bytes += sum(map(len, lines))
        if max(map(len, lines), default=0) > MAX_LINE_BYTES + len(b"\r\n"):
            return DownloadRefusedError(Reason.LONG_HEADER.of(MAX_LINE_BYTES // 1024))
        if self._head_bytes > MAX_HEAD_BYTES:
            return DownloadRefusedError(Reason.LONG_HEADERS.of(MAX_HEAD_BYTES // 1024))
        if len(lines) > MAX_HEADERS:
            return DownloadRefusedError(Reason.MANY_HEADERS.of(MAX_HEADERS))
        return None

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


def _read_headers(lines: list[bytes]) -> tuple[Headers, set[bytes], bool]:
    """Return the headers of the page, the values of Content-Length, and whether Transfer-Encoding frames the body.

    A folded line belongs to the one before it. Raises `IndexError` if there is none.
    """
    unfolded: list[bytes] = []
    for line in lines:
        if line[:1] in b" \t":
            unfolded[-1] = unfolded[-1].rstrip(b"\r\n") + line
        else:
            unfolded.append(line)
    headers, lengths, is_framed = Headers(), set(), False
    for line in unfolded:
        name, _, value = line.partition(b":")
        key = name.lower()
        if key not in CONNECTION_HEADERS:
            # As `Headers.appendlist`, which normalises each name and value three times.
            dict.setdefault(headers, name.title(), []).append(value.strip())
        elif key == b"content-length":
            lengths.add(value.strip())
        elif key == b"transfer-encoding":
            is_framed = True
    return headers, lengths, is_framed
