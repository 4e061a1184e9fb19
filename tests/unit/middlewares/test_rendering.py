"""Only pages of rendered sites reach the browser, and only those that are pages."""

import asyncio

import pytest
from scrapy import Request
from scrapy.http import Response

from crawlers.items import REDIRECT, RENDER
from crawlers.middlewares.rendering import RenderingMiddleware
from crawlers.urls.resolution import Redirect

URL = "http://a.test/"
HTML = {"Content-Type": "text/html; charset=koi8-r"}


class Browser:
    """Inserts a word, or finds a redirect."""

    def __init__(self, redirect=None):
        self._redirect = redirect

    async def render(self, request, response):
        return "<p>привет \ud800", self._redirect


def processed(response, redirect=None, **meta):
    response.request = Request(URL, meta=meta)
    middleware = RenderingMiddleware(Browser(redirect), ["text/html"])
    return asyncio.run(middleware.process_response(response.request, response))


def test_rendered_page_has_the_document_in_utf_8():
    page = processed(Response(URL, 200, {**HTML, "ETag": "1"}, b"<p>"), **{RENDER: True})
    assert page.body.decode() == "<p>привет ?"
    assert page.headers["Content-Type"] == b"text/html; charset=utf-8"
    assert page.headers["ETag"] == b"1"


@pytest.mark.parametrize(
    ("status", "headers", "body", "meta"),
    [
        (200, HTML, b"<p>", {}),
        (404, HTML, b"<p>", {RENDER: True}),
        (301, HTML, b"<p>", {RENDER: True}),
        (200, HTML, b"", {RENDER: True}),
        (200, {}, b"<p>", {RENDER: True}),
        (200, {"Content-Type": "application/pdf"}, b"<p>", {RENDER: True}),
    ],
)
def test_other_responses_are_unchanged(status, headers, body, meta):
    original = Response(URL, status, headers, body)
    assert processed(original, **meta) is original


def test_redirect_by_a_script_is_passed_on_like_any_other():
    redirect = Redirect(None, "somewhere")
    original = Response(URL, 200, HTML, b"<p>")
    assert processed(original, redirect, **{RENDER: True}) is original
    assert original.request.meta[REDIRECT] is redirect
