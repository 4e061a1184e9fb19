"""The handler of `http` and `https`, that of HTTP_CLIENT, and which signals of Scrapy are sent for each download."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple

from pydispatch import dispatcher  # type: ignore[import-untyped]

from crawlers.errors import ConfigError
from crawlers.inputs.setting_readers import registry_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from scrapy import Request
    from scrapy.core.downloader.handlers.base import BaseDownloadHandler
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlers.inputs.setting_readers import SettingValues

CLIENTS = {  # the handlers; only that of a crawl is imported
    "curl": "crawlers.downloader.curl_http:CurlHTTPHandler",
    "twisted": "crawlers.downloader.bounded_http:BoundedHTTPHandler",
}
REQUIRED = {  # values of Scrapy's settings without which libcurl can't be used: the defaults
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",  # which runs the loop of asyncio
    "DOWNLOADER_CLIENTCONTEXTFACTORY": "SENTINEL",
    "DOWNLOADER_CLIENT_TLS_METHOD": "TLS",
}


def http_client(settings: SettingValues) -> str:
    """Return the handler that HTTP_CLIENT names; raises `ConfigError` if there is none, or it can't be used."""
    handler = registry_entry(CLIENTS, "HTTP_CLIENT", settings.get("HTTP_CLIENT"))
    if handler == CLIENTS["curl"]:
        if missing := _missing():
            raise ConfigError(
                f"HTTP_CLIENT=curl needs {missing}; run pip install --upgrade pycurl, or set HTTP_CLIENT=twisted"
            )
        for setting, value in REQUIRED.items():
            if settings.get(setting) != value:
                raise ConfigError(
                    f"HTTP_CLIENT=curl needs the default of {setting}; leave it out, or set HTTP_CLIENT=twisted"
                )
    return handler


def _missing() -> str:
    """Return what HTTP_CLIENT=curl lacks on this machine; empty if nothing."""
    try:
        from pycurl import CONN_ID, AsyncCurlMulti, version_info  # noqa: F401 # an older one has no such names
    except ImportError as error:
        return f"pycurl 7.49 with libcurl 8.2, or newer ones ({error})"
    return "" if "https" in version_info()[8] else "a libcurl with TLS"


class Callbacks(NamedTuple):
    """What is called during a transfer."""

    ended: Callable[[Response | Exception, int, int], None]  # bytes that were sent, and received
    sent: Callable[[Request], None]  # a new connection stands, and the request is sent
    # Whether a body of a type and a length (None: unknown) is not read; the response then is one of bytes.
    is_unwanted: Callable[[bytes | None, int | None], bool] | None = None


class HTTPHandler:
    """Stands in DOWNLOAD_HANDLERS for the handler that HTTP_CLIENT names, whose library alone is imported."""

    lazy = True  # `Downloader` checks the setting, and needs none of these where it has one of its own

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BaseDownloadHandler:
        handler: type[BaseDownloadHandler] = resolve_name(http_client(crawler.settings))
        return handler.from_crawler(crawler)


class _All:
    def __contains__(self, signal: object) -> bool:
        return True


ALL = _All()


def heard_signals(crawler: Crawler) -> Container[Any]:
    """Return the signals of *crawler* that somebody listens to now.

    To send a signal that nobody hears costs as much as to download a small page by libcurl.
    """
    if id(dispatcher.Any) in dispatcher.connections:
        return ALL
    heard = dispatcher.connections.get(id(crawler.signals.sender), {})
    return ALL if dispatcher.Any in heard else heard
