"""The cost of this project's downloader middlewares per response: redirects and content types.

    python -m bench.speed.middlewares [--responses 20000]

Each middleware handles responses as Scrapy passes them: the signal `headers_received`, then `process_response`. The
CPU time includes neither Scrapy's calls nor the download. The exit status is 1 if a page costs more than 10 µs.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http import HtmlResponse, Response

from crawlers.algorithms.urls.normalization import Normalization
from crawlers.frontier.protocols import Lease
from crawlers.items import LEASE
from crawlers.middlewares.content_types import ContentTypeMiddleware
from crawlers.middlewares.redirects import RedirectMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "http://site.example/section/page.html"
MAX_US = 10.0
REPETITIONS = 5  # of which the median counts


def page(request: Request) -> Response:
    """Return a response with a page of 20 kB."""
    return HtmlResponse(URL, headers={"Content-Type": "text/html; charset=utf-8"}, body=b"x" * 20_000, request=request)


def redirect(request: Request) -> Response:
    """Return a redirect to another page of the site."""
    return Response(URL, 301, headers={"Content-Type": "text/html", "Location": "/section/other.html"}, request=request)


def cost_us(response_to: Callable[[Request], Response], number: int) -> float:
    """Return the CPU microseconds that both middlewares need for a response."""
    types = ContentTypeMiddleware(["text/html", "application/xhtml+xml"])
    redirects = RedirectMiddleware(Normalization())
    lease = Lease(1, 1, 1, URL, 1, 0, 0, None, 0.0)
    times = []
    for _ in range(REPETITIONS):
        requests = [Request(URL, meta={LEASE: lease, "dont_redirect": True}) for _ in range(number)]
        pairs = [(request, response_to(request)) for request in requests]
        start = time.process_time()
        for request, response in pairs:
            types.headers_received(response.headers, len(response.body), request)
            redirects.process_response(request, types.process_response(request, response))
        times.append(time.process_time() - start)
    return 1e6 * sorted(times)[REPETITIONS // 2] / number


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--responses", type=int, default=20_000)
    options = parser.parse_args()
    costs = {made.__name__: cost_us(made, options.responses) for made in (page, redirect)}
    for name, cost in costs.items():
        print(f"{name}: {cost:.1f} µs")
    return int(costs["page"] > MAX_US)


if __name__ == "__main__":
    raise SystemExit(main())
