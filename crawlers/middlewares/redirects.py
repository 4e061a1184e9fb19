"""Recognises redirects and resolves their targets; nothing is followed here.

The frontier follows redirects as links on the same level. So levels stay exact, a target is requested once however many
pages redirect to it, and robots.txt, scope and politeness apply to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.inputs.setting_readers import normalization
from crawlers.items import REDIRECT
from crawlers.urls.resolution import redirect_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from crawlers.urls.normalization import Normalization


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
