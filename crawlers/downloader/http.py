"""The handler of `http` and `https`: that of HTTP_CLIENT."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from crawlers.downloader.bounded_http import BoundedHTTPHandler
from crawlers.downloader.client_settings import http_client

if TYPE_CHECKING:
    from scrapy.core.downloader.handlers.base import BaseDownloadHandler
    from scrapy.crawler import Crawler


class HTTPHandler:
    """Stands in DOWNLOAD_HANDLERS for the handler that HTTP_CLIENT names."""

    lazy = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BaseDownloadHandler:
        if http_client(crawler.settings) == "twisted":
            return BoundedHTTPHandler.from_crawler(crawler)
        module = import_module("crawlers.downloader.curl_http")  # `twisted` works without pycurl
        handler: BaseDownloadHandler = module.CurlHTTPHandler.from_crawler(crawler)
        return handler
