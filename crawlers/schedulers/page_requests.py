"""The request for a page of a mission."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request

from crawlers.items import LEASE, RENDER

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawlers.frontier.values import Lease
    from crawlers.pages.retries import RetryPolicy

PLAIN = {  # for requests of which the crawl handles every response
    "handle_httpstatus_all": True,
    "dont_redirect": True,
    "dont_retry": True,
}


def page_request(lease: Lease, failed: Callable[..., Any], retries: RetryPolicy, *, is_rendered: bool) -> Request:
    """Return the request for a page; conditional (RFC 9110 section 13.1) if the page was fetched before.

    *failed* is its errback.
    """
    meta = {LEASE: lease, "verbatim_url": True, **PLAIN}  # the URL is in its final form, which Scrapy's differs from
    request = Request(lease.url, errback=failed, dont_filter=True, meta=meta)
    if is_rendered:
        request.meta[RENDER] = True
    if lease.attempts:
        # A retry differs: without compression, and in the last attempt a broken body is better than nothing.
        request.headers["Accept-Encoding"] = "identity"
        request.meta["download_fail_on_dataloss"] = lease.attempts < retries.times
    if (previous := lease.previous) is not None and RENDER not in request.meta:  # else scripts decide what changed
        for name, value in (("If-None-Match", previous.etag), ("If-Modified-Since", previous.last_modified)):
            if value:
                request.headers[name] = value.encode("latin-1", "replace")  # the same bytes as received
    return request
