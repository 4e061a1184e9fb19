"""A mission's answers stay bytes; an ordinary spider gets responses that it can ask with `css`."""

from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse, Request, Response

from crawlers.frontier.protocols import Lease
from crawlers.middlewares.content_types import PlainResponses

URL = "http://a.example/"


def lease(request=None):
    return Lease(1, 1, 0, URL, 0, 0, 0, request, 0.0)


def processed(response, **meta):
    request = Request(URL, meta=meta)
    response.request = request
    return PlainResponses().process_response(request, response)


def test_answer_of_a_mission_becomes_plain_and_keeps_all_it_had():
    original = HtmlResponse(URL, 203, {"X-A": "1"}, b"<p>\xff", ["dataloss"], protocol="HTTP/1.1")
    plain = processed(original, lease=lease())
    assert type(plain) is Response
    for name in ("url", "status", "headers", "body", "flags", "request", "protocol"):
        assert getattr(plain, name) == getattr(original, name), name


@pytest.mark.parametrize(("body", "encodings"), [(b"<p>plain", []), (b"\x1f\x8bpacked", [b"gzip"]), (b"", [])])
def test_plain_body_that_is_called_gzip_is_read_as_it_is(body, encodings):
    for kind in (Response, HtmlResponse):
        answer = processed(kind(URL, headers={"Content-Encoding": "gzip"}, body=body), lease=lease())
        assert answer.headers.getlist("Content-Encoding") == encodings
        assert answer.body == body


@pytest.mark.parametrize("meta", [{}, {"lease": lease("{}")}, {"robots": (1, 1, 0)}])
def test_answers_of_others_stay_as_they_are(meta):
    original = HtmlResponse(URL, body=b"<p>x")
    assert processed(original, **meta) is original
