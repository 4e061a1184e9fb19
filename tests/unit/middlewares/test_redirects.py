"""Redirects of this project's requests are recognised; those of others are Scrapy's business."""

import pytest
from scrapy.http import Request, Response

from crawlers.middlewares.responses import RedirectMiddleware
from crawlers.urls.normalization import Normalization

URL = "http://a.example/x"


@pytest.fixture
def middleware():
    return RedirectMiddleware(Normalization())


def seen(middleware, status, headers, **meta):
    request = Request(URL, meta=meta)
    response = Response(URL, status, headers)
    assert middleware.process_response(request, response) is response
    return request.meta.get("redirect")


def test_redirect_without_location_says_so(middleware):
    assert seen(middleware, 302, {}, dont_redirect=True) == (None, "redirect_without_location 302")


@pytest.mark.parametrize(("status", "ours"), [(301, False), (200, True), (304, True)])
def test_others_are_left_alone(middleware, status, ours):
    assert seen(middleware, status, {"Location": "/y"}, dont_redirect=ours) is None
