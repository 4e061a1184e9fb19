"""Responses of a mission are passed as bytes; a plain Scrapy spider gets responses with `css`."""

import gzip
from contextlib import nullcontext

import pytest
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, HtmlResponse, Request, Response

from crawlers.downloader.download_errors import DownloadRefusedError
from crawlers.frontier.values import Lease
from crawlers.middlewares.responses import ContentTypeMiddleware

URL = "http://a.example/"
HTML = ("text/html", "application/xhtml+xml")
DAMAGED = DownloadRefusedError("damaged_encoding gzip", is_transient=True)
FEEDS = ("xml", "gzip")


def lease(request=None):
    return Lease(1, 1, 0, URL, 0, 0, 0, request, 0.0)


def processed(response, **meta):
    request = Request(URL, meta=meta)
    response.request = request
    return ContentTypeMiddleware(HTML).process_response(request, response)


def test_response_of_a_mission_becomes_plain_and_keeps_its_attributes():
    original = HtmlResponse(URL, 203, {"X-A": "1"}, b"<p>\xff", ["dataloss"], protocol="HTTP/1.1")
    plain = processed(original, lease=lease())
    assert type(plain) is Response
    for name in ("url", "status", "headers", "body", "flags", "request", "protocol"):
        assert getattr(plain, name) == getattr(original, name), name


@pytest.mark.parametrize("meta", [{"lease": lease()}, {"robots": (1, 1, 0)}])
@pytest.mark.parametrize("kind", [Response, HtmlResponse])
@pytest.mark.parametrize(
    ("body", "read"), [(gzip.compress(b"<p>x", mtime=0), b"<p>x"), (b"<p>plain", b"<p>plain"), (b"", b"")]
)
def test_bodies_of_missions_and_of_robots_txt_are_decompressed_unless_they_are_plain(meta, kind, body, read):
    response = processed(kind(URL, headers={"Content-Encoding": "gzip"}, body=body), **meta)
    assert "Content-Encoding" not in response.headers
    assert response.body == read


@pytest.mark.parametrize(
    ("packed", "error"),
    [
        (gzip.compress(bytes(1001), mtime=0), DownloadRefusedError("too_large_decompressed")),
        (b"\x1f\x8bpacked", DAMAGED),
        (gzip.compress(b"<p>x", mtime=0)[:-9], DAMAGED),
    ],
)
def test_bodies_that_can_t_be_decompressed_are_errors_with_a_reason(packed, error):
    response = Response(URL, headers={"Content-Encoding": "gzip"}, body=packed)
    with pytest.raises(DownloadRefusedError, match=str(error)) as raised:
        ContentTypeMiddleware(HTML, most=1000).process_response(Request(URL, meta={"lease": lease()}), response)
    assert raised.value.is_transient is error.is_transient
    request = Request(URL, meta={"lease": lease(), "download_maxsize": 2000})
    if error is not DAMAGED:
        assert len(ContentTypeMiddleware(HTML, most=1000).process_response(request, response).body) == 1001


def test_body_that_we_cut_ourselves_is_read_as_far_as_it_goes():
    packed = gzip.compress(b"User-agent: *\nDisallow: /" + bytes(range(256)) * 100, mtime=0)
    cut, lost = (
        Response(URL, headers={"Content-Encoding": "gzip"}, body=packed[:-20], flags=flags)
        for flags in (["download_stopped"], [])
    )
    assert processed(cut, robots=True).body.startswith(b"User-agent: *\nDisallow: /")
    with pytest.raises(DownloadRefusedError, match="the content encoding gzip is damaged"):
        processed(lost, robots=True)


@pytest.mark.parametrize("meta", [{}, {"lease": lease("{}")}])
def test_other_responses_are_unchanged(meta):
    original = HtmlResponse(URL, body=b"<p>x")
    assert processed(original, **meta) is original


@pytest.mark.parametrize(
    ("content_type", "length", "parts", "stopped"),
    [
        ("image/png", 1_000_000, (), True),
        ("image/png", "unknown", (), True),
        ("image/png", 100, (), False),  # cheaper than a new connection
        (None, 1_000_000, (), True),
        ("Text/HTML; charset=x", 1_000_000, (), False),
        ("application/rss+xml", 1_000_000, (), True),
        ("application/rss+xml; charset=utf-8", 1_000_000, FEEDS, False),
        ("video/mp4", 1_000_000, FEEDS, True),
    ],
)
def test_large_bodies_of_types_that_are_not_configured_are_not_read(content_type, length, parts, stopped):
    headers = Headers({"Content-Type": content_type} if content_type else {})
    request = Request(URL, meta={"lease": lease()})
    with pytest.raises(StopDownload) if stopped else nullcontext():
        ContentTypeMiddleware(HTML, parts).headers_received(headers, length, request)
