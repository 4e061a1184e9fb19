"""Stores every response of a crawl in a WARC file, before it is processed.

Requests and responses are appended, one gzip member per record, without losing earlier records. The records of a
response are one write: a kill leaves all of them, or an incomplete end that the next run removes.
"""

from __future__ import annotations

import fcntl
import http
import importlib
import importlib.util
import io
import logging
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import scrapy
from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlers import __version__
from crawlers.errors import ConfigError, CrawlersError, StoreError
from crawlers.extensions.crawl_owner import CRAWL_OPENED, owner_of
from crawlers.files.atomic import check_setting_file, of_worker
from crawlers.inputs.setting_readers import crawl_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.http.headers import Headers

    from crawlers.crawl.running_crawl import Crawl

logger = logging.getLogger(__name__)

MEMBER = b"\x1f\x8b\x08"  # the first bytes of a gzip member
RECORD = b"WARC/"  # the first bytes of its decompressed content
LOOK_BYTES = 1 << 20  # of the end of the file that are read first; more are read if needed
LOST = ("content-encoding", "transfer-encoding", "content-length")  # headers that do not hold for a decoded body
# Why a body is incomplete, in the standard's terms, by Scrapy's flags; the first one counts.
TRUNCATED = {"download_stopped": "length", "dataloss": "disconnect", "partial": "disconnect"}
_STATUSES = frozenset(http.HTTPStatus)


class FileInUse(ConfigError):
    """Another process writes the file."""


class WarcFile:
    """A WARC file, open until `close`. Raises `ConfigError` if it can't be written, and `FileInUse`."""

    def __init__(self, path: Path, about: Mapping[str, str]) -> None:
        self._path = path
        self._warc = importlib.import_module("warcio.warcwriter")  # an extra
        self._headers = importlib.import_module("warcio.statusandheaders").StatusAndHeaders
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise ConfigError(f"WARC_FILE={path} can't be written ({error.strerror}); name another file") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise FileInUse(f"WARC_FILE={path} is in use by another crawl; name another file") from error
        self._size = self._remove_incomplete_end()
        self._about: Mapping[str, str] | None = about

    def add(self, request: Request, response: Response) -> None:
        """Append the records of a request and its response, whose body is decoded. Raises `StoreError`."""
        buffer, url = io.BytesIO(), response.url
        writer = self._warc.WARCWriter(buffer, gzip=True)
        if self._about is not None:
            writer.write_record(writer.create_warcinfo_record(self._path.name, self._about))
        protocol = response.protocol or "HTTP/1.1"
        phrase = http.HTTPStatus(response.status).phrase if response.status in _STATUSES else ""
        answered = [(name, value) for name, value in _pairs(response.headers) if name.lower() not in LOST]
        answered.append(("Content-Length", str(len(response.body))))
        more = {"WARC-IP-Address": str(response.ip_address)} if response.ip_address is not None else {}
        for flag in response.flags:
            if flag in TRUNCATED:
                more.setdefault("WARC-Truncated", TRUNCATED[flag])
        received = writer.create_warc_record(
            url,
            "response",
            payload=io.BytesIO(response.body),
            length=len(response.body),  # without it, warcio uses a temporary file
            http_headers=self._headers(f"{response.status} {phrase}", answered, protocol),
            warc_headers_dict=more,
        )
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        asked = [("Host", parts.netloc), *((name, value) for name, value in _pairs(request.headers) if name != "Host")]
        sent = writer.create_warc_record(
            url,
            "request",
            payload=io.BytesIO(request.body),
            length=len(request.body),
            http_headers=self._headers(f"{request.method} {path} {protocol}", asked, is_http_request=True),
        )
        writer.write_request_response_pair(sent, received)
        self._append(memoryview(buffer.getvalue()))
        self._about = None

    def close(self) -> None:
        """Close the file; remove it if it has no records."""
        if not self._size:
            self._path.unlink(missing_ok=True)
        os.close(self._file)

    def _append(self, records: memoryview) -> None:
        done = 0
        try:
            while done < len(records):
                done += os.pwrite(self._file, records[done:], self._size + done)
        except OSError as error:
            os.ftruncate(self._file, self._size)  # a partial record would hide all later ones
            raise StoreError(
                f"WARC_FILE={self._path} can't be written: {error.strerror}; free some space and resume the crawl"
            ) from error
        self._size += done

    def _remove_incomplete_end(self) -> int:
        """Remove an incomplete record, left by a kill, from the end; return the file's size. Raises `ConfigError`."""
        size = os.fstat(self._file).st_size
        look = LOOK_BYTES
        while size:
            tail = os.pread(self._file, look, max(0, size - look))
            end = _end_of_last_record(tail)
            if end is not None and end == len(tail):
                return size
            if end:
                logger.warning("WARC_FILE=%s: removed %d bytes of an incomplete record", self._path, len(tail) - end)
                size -= len(tail) - end
                os.ftruncate(self._file, size)
            elif look < size:
                look *= 8
            elif end is None:
                raise ConfigError(f"WARC_FILE={self._path} exists and is not a compressed WARC file; name another file")
            else:
                size = 0
                os.ftruncate(self._file, 0)
        return size


def check_warc(setting: str) -> None:
    """Raise `ConfigError` that names *setting* if warcio is missing."""
    if importlib.util.find_spec("warcio") is None:
        raise ConfigError(f"{setting} needs warcio, which is not installed; run pip install warcio")


def _end_of_last_record(tail: bytes) -> int | None:
    """Return where the last complete record in *tail* ends; 0 if all are incomplete, None if there is no record."""
    place, found = len(tail), None
    while (place := tail.rfind(MEMBER, 0, place)) >= 0:
        unpacked = zlib.decompressobj(wbits=31)
        try:
            began = unpacked.decompress(tail[place:])
        except zlib.error:
            continue  # the three bytes occur within a record by chance
        if unpacked.eof and began.startswith(RECORD):
            return len(tail) - len(unpacked.unused_data)
        if RECORD.startswith(began[: len(RECORD)]):
            found = 0
    return found


REBUILT = (
    "Records are not the bytes of the connection: bodies are decoded (no Content-Encoding, no Transfer-Encoding, "
    "Content-Length of the decoded body), headers are reconstructed, and request headers lack those that the "
    "connection adds, except Host. A page that was requested again after a kill is recorded twice."
)


class Warc:
    """Writes everything that *crawler* downloads, including robots.txt and errors, to a file.

    A worker that joins others has a file of its own beside *path*.
    """

    def __init__(self, crawler: Crawler, path: Path, about: Mapping[str, str]) -> None:
        self._crawler = crawler
        self._path = path
        self._about = about
        self._file: WarcFile | None = None  # None: not open yet
        with suppress(FileInUse):  # by the worker that this one joins, or by another crawl
            self._file = WarcFile(path, about)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        path = settings.get("WARC_FILE")
        if not path:
            raise NotConfigured  # a plain spider with add-ons of its own has not the one that leaves this out
        assert crawler.spider is not None
        check_warc("WARC_FILE")
        check_setting_file("WARC_FILE", path)
        about = {
            "software": f"crawlers/{__version__} Scrapy/{scrapy.__version__}",
            "format": "WARC File Format 1.0",
            "isPartOf": crawl_name(settings, crawler.spider.name),
            "http-header-user-agent": settings.get("USER_AGENT"),
            "robots": "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore",
            "description": REBUILT,
        }
        extension = cls(crawler, Path(path), about)
        crawler.signals.connect(extension._opened, CRAWL_OPENED)
        crawler.signals.connect(extension._received, signals.response_received)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _opened(self, crawl: Crawl) -> None:
        path, number = self._path, owner_of(self._crawler).joined_as
        if number is not None:
            path = Path(of_worker(str(path), number))
            self._closed()
        try:
            self._file = self._file or WarcFile(path, self._about)
        except CrawlersError as error:
            crawl.control.abort(error)

    def _received(self, response: Response, request: Request) -> None:
        if self._file is None:
            return
        try:
            self._file.add(request, response)
            self._crawler.stats.inc_value("warc/answers")
        except CrawlersError as error:  # a page that is missing in the file must not be stored either
            owner_of(self._crawler).crawl.control.abort(error)

    def _closed(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _pairs(headers: Headers) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, values in headers.items() for value in values]
