"""Stops downloads before bodies of unwanted content types, and passes other bodies on as bytes, decompressed.

Scrapy's decompression copies a response with its encoding, which it guesses from the compressed body if no header
states it: a fifth of the time of a crawl, for a value that is not used. And it limits only the size of the result, see
`pages.decompression`.

Redirects are recognised, and their targets resolved; nothing is followed here. The frontier follows redirects as links
on the same level. So levels stay exact, a target is requested once however many pages redirect to it, and robots.txt,
scope and politeness apply to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import StopDownload
from scrapy.http import Response, TextResponse

from crawlers.downloader.download_errors import DownloadRefusedError
from crawlers.errors import BadBody, DamagedBody
from crawlers.inputs.setting_readers import normalization
from crawlers.items import LEASE, REDIRECT
from crawlers.spiders.base import SiteSpider
from crawlers.urls.resolution import redirect_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers

    from crawlers.urls.normalization import Normalization

SMALL_BODY = 64_000  # bytes; reading an unwanted body up to this size costs less than a new connection


class ContentTypeMiddleware:
    """Filters responses to the leases of missions; requests of plain Scrapy spiders are left alone.

    *pages* are the content types of pages, *parts* substrings of other wanted types, *most* the bytes of a decompressed
    body. The position of this middleware is nearer to the downloader than that of Scrapy's decompression.
    """

    def __init__(self, pages: Iterable[str], parts: Iterable[str] = (), most: int = 0) -> None:
        self._pages = frozenset(pages)
        self._parts = tuple(parts)
        self._most = most

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings, spider = crawler.settings, crawler.spidercls
        parts = spider.read_types if issubclass(spider, SiteSpider) else ()
        middleware = cls(settings.getlist("HTML_TYPES"), parts, settings.getint("DOWNLOAD_MAXSIZE"))
        crawler.signals.connect(middleware.headers_received, signals.headers_received)
        return middleware

    def headers_received(self, headers: Headers, body_length: object, request: Request) -> None:
        """Stop before a large body of an unwanted type; the response then has no body."""
        length = body_length if isinstance(body_length, int) else None  # an unknown one is a string of Twisted
        if is_of_mission(request) and self.is_unwanted(headers.get("Content-Type"), length):
            raise StopDownload(fail=False)

    def is_unwanted(self, content_type: bytes | None, length: int | None) -> bool:
        """Return whether a body of that type (None: missing) and *length* (None: unknown) is not downloaded."""
        if length is not None and length <= SMALL_BODY:
            return False
        mime = (content_type or b"").decode("latin-1").partition(";")[0].strip().lower()
        return mime not in self._pages and not any(part in mime for part in self._parts)

    def process_response(self, request: Request, response: Response) -> Response:
        """Return the response to a mission with a decompressed body.

        Raises `DownloadRefusedError` beyond a limit, or if the body is damaged.
        """
        body, encodings = response.body, dict.get(response.headers, b"Content-Encoding")
        if not (encodings or isinstance(response, TextResponse)) or not is_read_as_bytes(request):
            return response
        if encodings:
            body = self._decompressed(response, encodings, request)
            dict.pop(response.headers, b"Content-Encoding")
        plain = Response(response.url, response.status, None, body, response.flags, request, protocol=response.protocol)
        plain.headers = response.headers  # not as an argument, which would normalise each header again
        return plain

    def _decompressed(self, response: Response, encodings: Iterable[bytes], request: Request) -> bytes:
        from crawlers.pages.decompression import decompressed  # for servers that compress

        most: int = request.meta.get("download_maxsize", self._most)
        try:
            return decompressed(response.body, (header.decode("latin-1") for header in encodings), most)
        except DamagedBody as error:
            if "download_stopped" in response.flags:  # only the beginning was wanted, of robots.txt
                return error.begun
            # The next attempt asks for a body without compression.
            raise DownloadRefusedError(error.reason, is_transient=True) from error
        except BadBody as error:
            raise DownloadRefusedError(error.reason) from error


class RedirectMiddleware:
    """Puts the `Redirect` that a response is into `request.meta["redirect"]`.

    Only for requests with `dont_redirect`, which all requests of missions have; Scrapy's own middleware handles those
    of plain Scrapy spiders. *options* determine the normal form of URLs.
    """

    def __init__(self, options: Normalization) -> None:
        self._options = options

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(normalization(crawler.settings))

    def process_response(self, request: Request, response: Response) -> Response:
        if response.status >= 300 and request.meta.get("dont_redirect"):
            redirect = redirect_of(response.url, response.status, response.headers.get("Location"), self._options)
            if redirect is not None:
                request.meta[REDIRECT] = redirect
        return response


def is_of_mission(request: Request) -> bool:
    """Return whether *request* is one for a page of a mission; plain Scrapy spiders want their `response.css`."""
    lease = request.meta.get(LEASE)
    return lease is not None and lease.request is None


def is_read_as_bytes(request: Request) -> bool:
    """Return whether the crawl itself reads the response: a page of a mission, a robots.txt or a sitemap."""
    return is_of_mission(request) or "robots" in request.meta or "sitemap" in request.meta
