"""The handler of `http` and `https`: that of HTTP_CLIENT."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

from crawlers.downloader.curl_transfer import http_client

if TYPE_CHECKING:
    from scrapy.core.downloader.handlers.base import BaseDownloadHandler
    from scrapy.crawler import Crawler


class HTTPHandler:
    """Stands in DOWNLOAD_HANDLERS for the handler that HTTP_CLIENT names, whose library alone is imported."""

    lazy = True  # `Downloader` checks the setting, and needs none of these where it has one of its own

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BaseDownloadHandler:
        handler: type[BaseDownloadHandler] = resolve_name(http_client(crawler.settings))
        return handler.from_crawler(crawler)
