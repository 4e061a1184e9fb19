"""Stores every response of a crawl in a WARC file, before it is processed."""

from __future__ import annotations

import http
from pathlib import Path
from typing import TYPE_CHECKING

import scrapy
from scrapy import signals
from scrapy.exceptions import NotConfigured

from crawlers import __version__
from crawlers.errors import CrawlersError
from crawlers.extensions.crawl_owner import owner_of
from crawlers.inputs.crawl_name import crawl_name
from crawlers.storage.files.warc_file import Exchange, WarcFile, check_warc
from crawlers.storage.files.writable import check_file

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.http.headers import Headers

REBUILT = (
    "Records are not the bytes of the connection: bodies are decoded (no Content-Encoding, no Transfer-Encoding, "
    "Content-Length of the decoded body), headers are reconstructed, and request headers lack those that the "
    "connection adds, except Host. A page that was requested again after a kill is recorded twice."
)
TRUNCATED = {"download_stopped": "length", "dataloss": "disconnect", "partial": "disconnect"}  # by Scrapy's flags


class Warc:
    """Writes everything that *crawler* downloads, including robots.txt and errors, to *file*."""

    def __init__(self, crawler: Crawler, file: WarcFile) -> None:
        self._crawler = crawler
        self._file = file

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        path = settings.get("WARC_FILE")
        if not path:
            raise NotConfigured  # not requested, so that no warning is needed
        check_warc("WARC_FILE", path)
        check_file(Path(path), "WARC_FILE")
        about = {
            "software": f"crawlers/{__version__} Scrapy/{scrapy.__version__}",
            "format": "WARC File Format 1.0",
            "isPartOf": crawl_name(settings, crawler.spider),
            "http-header-user-agent": settings.get("USER_AGENT"),
            "robots": "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore",
            "description": REBUILT,
        }
        extension = cls(crawler, WarcFile(Path(path), about))
        crawler.signals.connect(extension._received, signals.response_received)
        crawler.signals.connect(extension._closed, signals.spider_closed)
        return extension

    def _received(self, response: Response, request: Request) -> None:
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
            owner_of(self._crawler).crawl.abort(error)

    def _closed(self) -> None:
        self._file.close()


def _pairs(headers: Headers) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, values in headers.items() for value in values]
