"""The requests for the pages of missions: conditional for known pages, and different for retries."""

from dataclasses import replace

import pytest

from crawlers.frontier.values import Lease, PreviousVisit
from crawlers.items import RENDER
from crawlers.pages.retries import RetryPolicy
from crawlers.schedulers.adaptive import page_request

FIRST = Lease(7, 1, 0, "http://a.test/x", 2, 0, 0, None, 0.0)

PREVIOUS = PreviousVisit({}, 1, 200, None, None, None, None)


RENDERED = 99  # a site


def failed(failure):
    pass


def request_of(lease):
    return page_request(lease, failed, RetryPolicy(times=2), is_rendered=lease.site_id == RENDERED)


def test_request_says_whether_the_page_is_rendered_and_then_is_never_conditional():
    assert RENDER not in request_of(FIRST).meta
    previous = PREVIOUS._replace(etag='"1"')
    request = request_of(replace(FIRST, site_id=RENDERED, previous=previous))
    assert request.meta[RENDER]
    assert not request.headers


@pytest.mark.parametrize(("attempts", "fails_on_loss"), [(1, True), (2, False)])
def test_retry_is_uncompressed_and_the_last_one_accepts_a_broken_body(attempts, fails_on_loss):
    request = request_of(replace(FIRST, attempts=attempts))
    assert request.headers["Accept-Encoding"] == b"identity"
    assert request.meta["download_fail_on_dataloss"] is fails_on_loss


@pytest.mark.parametrize(
    ("etag", "last_modified", "headers"),
    [
        ('"1"', None, {b"If-None-Match": [b'"1"']}),
        (None, "Mon, 01 Jan 2024 00:00:00 GMT", {b"If-Modified-Since": [b"Mon, 01 Jan 2024 00:00:00 GMT"]}),
        ('"é"', "now", {b"If-None-Match": [b'"\xe9"'], b"If-Modified-Since": [b"now"]}),
        ("", None, {}),
    ],
)
def test_revisit_is_conditional_with_the_headers_of_the_previous_response(etag, last_modified, headers):
    previous = PREVIOUS._replace(etag=etag, last_modified=last_modified)
    assert dict(request_of(replace(FIRST, previous=previous)).headers) == headers
