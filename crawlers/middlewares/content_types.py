"""Takes answers as the bytes that they are: no charset is guessed, and what is not compressed is not decompressed.

Scrapy's decompression copies a response with its encoding; where no header names one, that is guessed
from the compressed body: a fifth of a crawl's time, for a value that is thrown away. And a server that says
gzip but sends plain text would cost the page: browsers show it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import Response, TextResponse

from crawlers.items import LEASE

if TYPE_CHECKING:
    from scrapy import Request


MAGIC = b"\x1f\x8b"  # RFC 1952 section 2.3.1
GZIP = frozenset({b"gzip", b"x-gzip"})


class PlainResponses:
    """Turns answers to our own requests into plain ones; nearer to the downloader than decompression."""

    def process_response(self, request: Request, response: Response) -> Response:
        lease = request.meta.get(LEASE)
        is_own = lease is not None and lease.request is None  # an ordinary spider wants its `response.css`
        if not is_own:
            return response
        encoding = response.headers.get("Content-Encoding")
        if encoding is not None and encoding.strip().lower() in GZIP and response.body[:2] != MAGIC:
            del response.headers["Content-Encoding"]
        if not isinstance(response, TextResponse):
            return response
        return Response(
            response.url,
            response.status,
            response.headers,
            response.body,
            response.flags,
            request,
            protocol=response.protocol,
        )
