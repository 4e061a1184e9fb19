"""Lets the browser render the pages of sites whose links exist only after their scripts ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.downloader.browser import Browser
from crawlers.extensions.crawl_owner import required_extension
from crawlers.items import REDIRECT, RENDER
from crawlers.spiders.base import header

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class RenderingMiddleware:
    """Replaces the body of a downloaded page by what *browser* makes of it.

    The page itself is downloaded like any other. So its status, redirects, content type and errors are recorded as
    without a browser, and only pages with status 200 and one of the content types *html_types* are rendered.
    """

    def __init__(self, browser: Browser, html_types: list[str]) -> None:
        self._browser = browser
        self._types = frozenset(html_types)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(required_extension(crawler, Browser), crawler.settings.getlist("HTML_TYPES"))

    async def process_response(self, request: Request, response: Response) -> Response:
        if RENDER not in request.meta or response.status != 200 or not response.body:
            return response
        content_type = header(response, "Content-Type") or ""
        if content_type.partition(";")[0].strip().lower() not in self._types:
            return response
        text, redirect = await self._browser.render(request, response)
        if redirect is not None:
            request.meta[REDIRECT] = redirect
            return response
        html = response.replace(body=text.encode("utf-8", "replace"))
        html.headers["Content-Type"] = b"text/html; charset=utf-8"
        return html
