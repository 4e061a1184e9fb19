"""Stores every response of a crawl in a WARC file, before it is processed."""

from __future__ import annotations

import http
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import scrapy
from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlers import __version__
from crawlers.errors import CrawlersError
from crawlers.extensions.crawl_owner import CRAWL_OPENED, owner_of
from crawlers.files.atomic import check_setting_file
from crawlers.files.names import of_worker
from crawlers.files.warc_file import Exchange, FileInUse, WarcFile, check_warc
from crawlers.inputs.crawl_name import crawl_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.http.headers import Headers

    from crawlers.crawl.running_crawl import Crawl

REBUILT = (
    "Records are not the bytes of the connection: bodies are decoded (no Content-Encoding, no Transfer-Encoding, "
    "Content-Length of the decoded body), headers are reconstructed, and request headers lack those that the "
    "connection adds, except Host. A page that was requested again after a kill is recorded twice."
)
TRUNCATED = {"download_stopped": "length", "dataloss": "disconnect", "partial": "disconnect"}  # by Scrapy's flags


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
        check_warc("WARC_FILE")
        check_setting_file("WARC_FILE", path)
        about = {
            "software": f"crawlers/{__version__} Scrapy/{scrapy.__version__}",
            "format": "WARC File Format 1.0",
            "isPartOf": crawl_name(settings, crawler.spider),
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
        ip_address = response.ip_address
        try:
            phrase = http.HTTPStatus(response.status).phrase
        except ValueError:
            phrase = ""
        exchange = Exchange(
            response.url,
            request.method,
            [(name, value) for name, value in _pairs(request.headers) if name != "Host"],
            request.body,
            response.protocol or "HTTP/1.1",
            response.status,
            phrase,
            _pairs(response.headers),
            response.body,
            next((TRUNCATED[flag] for flag in response.flags if flag in TRUNCATED), ""),
            str(ip_address) if ip_address is not None else "",
        )
        try:
            self._file.add(exchange)
            self._crawler.stats.inc_value("warc/answers")
        except CrawlersError as error:  # a page that is missing in the file must not be stored either
            owner_of(self._crawler).crawl.control.abort(error)

    def _closed(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _pairs(headers: Headers) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, values in headers.items() for value in values]
