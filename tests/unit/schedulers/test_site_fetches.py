"""The requests for the pages of missions: conditional for known pages, and different for retries.

robots.txt is fetched with redirects, retries and limits, and every site gets its rules.
"""

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest
from scrapy import Request
from scrapy import exceptions as scrapy_errors
from scrapy.exceptions import StopDownload
from scrapy.http import Response
from scrapy.signalmanager import SignalManager
from twisted.python.failure import Failure

from crawlers.frontier.politeness import MAX_REST_S
from crawlers.frontier.values import Lease, PreviousVisit
from crawlers.items import REDIRECT, RENDER
from crawlers.pages.retries import RestPolicy, RetryPolicy
from crawlers.pages.robots_groups import UNREACHABLE
from crawlers.schedulers import site_fetches
from crawlers.schedulers.adaptive import page_request
from crawlers.schedulers.site_fetches import MAX_DECOMPRESSED, MAX_TIMEOUT_S, UNKNOWN_HOST_WAIT_S, RobotsFiles
from crawlers.sites.robots_rules import MAX_BYTES, MAX_REDIRECTS
from crawlers.urls.resolution import Redirect, resolve

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


SITE, NOW = "http://a.test", 1000.0
NO_RETRIES, NO_RESTS = RetryPolicy(0, 0, 1.0), RestPolicy(times=0)


class Fetch:
    """A fetch of one site's robots.txt, and the results that it reports."""

    def __init__(self, retries=NO_RETRIES, rests=NO_RESTS, **limits):
        self.now = NOW
        self.known = []
        self.rests = []  # of all results
        self.waits = []
        crawl = SimpleNamespace(
            retries=retries,
            robots_rests=rests,
            clock=lambda: self.now,
            answers=SimpleNamespace(
                record_robots=self._known, robots_waits=lambda *waiting: self.waits.append(waiting)
            ),
            robots=SimpleNamespace(begin=lambda site_id: True),
        )
        self.robots = RobotsFiles(
            crawl, SignalManager(self), **{"last_wait_s": 0.0, "most": 1, "timeout_s": MAX_TIMEOUT_S} | limits
        )
        self.robots.enqueue(7, SITE)

    def _known(self, site_id, status, text, rest_s):
        self.rests.append(rest_s)
        self.known.append((site_id, status, text))

    def next_request(self):
        request = self.robots.next_request(self.now)
        assert request is not None
        return request

    def respond(self, status, body=b"", redirect=None, **headers):
        """Respond to the next request."""
        request = self.next_request()
        request.meta[REDIRECT] = redirect
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        asyncio.run(request.callback(Response(request.url, status, named, body, request=request)))

    def fail(self, error):
        """Let the next request fail."""
        failure = Failure(error)
        failure.request = self.next_request()
        failure.request.errback(failure)

    def result(self):
        """Return the status and text of the only result."""
        ((site_id, status, text),) = self.known
        assert site_id == 7
        assert self.robots.in_flight == 0
        assert self.robots.next_request(float("inf")) is None
        return status, text


@pytest.fixture
def fetch():
    return Fetch


def to(path):
    return Redirect(resolve(SITE, path), "")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"User\0-agent: \xff*", "User-agent: \ufffd*"),  # zeros are removed, and what is not text is replaced
        (b"User-agent: *\r\nDisallow: /" + b"c" * MAX_BYTES, "User-agent: *\r"),  # only whole lines are read
    ],
)
def test_text_is_the_beginning_of_the_body(fetch, body, text):
    one = fetch()
    one.respond(200, body)
    assert one.result() == (200, text)


def test_download_of_a_large_file_stops_after_the_part_that_is_read_but_not_that_of_a_page(fetch):
    fetch().robots.bytes_received(b"#" * (MAX_BYTES + 1), Request(SITE))
    request = fetch().next_request()
    assert request.meta["download_maxsize"] == 0  # no length that a server states is too much
    assert request.headers["Accept-Encoding"] == b"identity"
    fetch().robots.bytes_received(b"#" * MAX_BYTES, request)
    with pytest.raises(StopDownload) as stopped:
        fetch().robots.bytes_received(b"#", request)
    assert not stopped.value.fail
    assert request.meta["download_maxsize"] == MAX_DECOMPRESSED  # of a body that is compressed nevertheless


def test_redirects_are_followed_up_to_a_limit_and_then_the_file_is_missing(fetch):
    one = fetch()
    for number in range(MAX_REDIRECTS + 1):
        assert one.known == []
        one.respond(302, redirect=to(f"/{number}"))
    assert one.result() == (302, None)


def test_server_error_is_retried_after_a_growing_delay_and_then_reported(fetch):
    one = fetch(RetryPolicy(times=2, rest_times=0, backoff_s=3.0))
    for delay_s in (3.0, 6.0):
        one.respond(500)
        assert one.robots.next_request(one.now) is None
        assert one.robots.next_due(one.now) == delay_s
        one.now += delay_s
    one.respond(500)
    assert one.result() == (500, None)


@pytest.mark.parametrize(("asked_s", "waits_s"), [("60", 60.0), ("1", 1.0), ("86400", MAX_REST_S), ("soon", 3.0)])
def test_overloaded_server_is_left_alone_as_long_as_it_demands_up_to_a_limit(fetch, asked_s, waits_s):
    one = fetch(RetryPolicy(times=0, rest_times=1, backoff_s=3.0))
    one.respond(429, Retry_After=asked_s)
    assert one.robots.next_due(one.now) == waits_s
    one.now += waits_s
    one.respond(429)
    assert one.result() == (429, None)


def test_permanent_failure_is_reported_at_once(fetch):
    one = fetch(RetryPolicy(times=9, rest_times=9, backoff_s=3.0))
    one.fail(scrapy_errors.DownloadCancelledError("x"))
    assert one.result() == (UNREACHABLE, "too_large")


def test_unresponsive_hosts_are_given_up_early_and_leave_room_for_others(fetch):
    for timeout_s, used_s in ((60.0, MAX_TIMEOUT_S), (5.0, 5.0)):
        assert fetch(timeout_s=timeout_s).next_request().meta["download_timeout"] == used_s
    one = fetch(most=2)
    for number in range(2):
        one.robots.enqueue(number, f"http://s{number}.test")
    second = [one.next_request(), one.next_request()][1]
    assert (one.robots.next_request(NOW), one.robots.next_due(NOW)) == (None, None)
    asyncio.run(second.callback(Response(second.url, 404, request=second)))
    assert one.known == [(0, 404, None)]
    assert one.robots.next_due(NOW) == 0.0
    assert one.next_request().url == "http://s1.test/robots.txt"


def test_robots_txt_that_can_not_be_used_makes_its_site_unreachable(fetch, monkeypatch):
    monkeypatch.setattr(site_fetches, "robots_text", lambda body: 1 / 0)
    one = fetch()
    one.respond(200, b"User-agent: *")
    assert one.result() == (UNREACHABLE, "spider_failed error ZeroDivisionError division by zero")


# Rests


RESTS = RestPolicy(times=3, first_s=60.0, longest_s=200.0)


def test_site_is_requested_again_after_growing_rests_and_then_given_up(fetch, caplog):
    caplog.set_level("INFO")
    one = fetch(RetryPolicy(times=2, rest_times=0, backoff_s=3.0), rests=RESTS)
    for wait_s in (3.0, 6.0):
        one.fail(scrapy_errors.DownloadTimeoutError("x"))
        one.now += wait_s
    for rest_s in (60.0, 120.0, 200.0):
        one.fail(scrapy_errors.DownloadTimeoutError("x"))  # after a rest, there is one attempt
        assert one.rests[-1] == one.robots.next_due(one.now) == rest_s
        assert one.robots.next_request(one.now + rest_s - 1.0) is None
        one.now += rest_s
    one.fail(scrapy_errors.DownloadTimeoutError("x"))
    assert one.waits == [(7, UNREACHABLE, "timeout", wait_s) for wait_s in (3.0, 6.0)]
    assert one.rests == [60.0, 120.0, 200.0, None]
    assert set(one.known) == {(7, UNREACHABLE, "timeout")}
    assert one.robots.next_due(one.now) is None
    assert caplog.messages == [  # each kind once
        f"{SITE}: its robots.txt could not be read (timeout); next attempt in 3 s",
        f"{SITE} rests: its robots.txt could not be read (timeout); it is requested again in 60 s, or earlier if "
        "nothing else is left to do",
    ]


@pytest.mark.parametrize(("status", "asked_s", "rest_s"), [(500, None, 60.0), (599, None, 60.0), (503, "100", 100.0)])
def test_site_with_server_errors_rests_at_least_as_long_as_it_demands(fetch, status, asked_s, rest_s):
    one = fetch(rests=RESTS)
    one.respond(status, **({"Retry_After": asked_s} if asked_s else {}))
    assert (one.known, one.rests) == ([(7, status, None)], [rest_s])


def test_rests_end_when_nothing_else_is_left_to_do(fetch, caplog):
    caplog.set_level("INFO")
    one = fetch(rests=RESTS, last_wait_s=5.0, most=2)
    assert not one.robots.only_rests, "the first attempt does not rest"
    one.robots.enqueue(8, "http://b.test")
    one.fail(scrapy_errors.DownloadTimeoutError("x"))
    assert not one.robots.only_rests, "the other site does not rest"
    one.now += 56.0
    one.fail(scrapy_errors.DownloadTimeoutError("x"))
    assert one.robots.only_rests
    one.robots.hasten(one.now)
    assert sorted(one.waits) == [(7, UNREACHABLE, "timeout", 4.0), (8, UNREACHABLE, "timeout", 5.0)]
    assert caplog.messages[-1] == (
        "Nothing is left but 2 sites whose robots.txt could not be read; instead of after the rest, it is requested "
        "for the last time within 5 s"
    )
    assert not one.robots.only_rests, "they are hastened once"
    assert one.robots.next_due(one.now) == 4.0  # of the site whose rest was nearly over
    one.now += 5.0
    one.fail(scrapy_errors.DownloadTimeoutError("x"))
    one.respond(200)
    assert one.rests == [60.0, 60.0, None, None]
    assert one.known[2:] == [(7, UNREACHABLE, "timeout"), (8, 200, "")]


@pytest.mark.parametrize(("last_wait_s", "waits_s"), [(60.0, UNKNOWN_HOST_WAIT_S), (2.0, 2.0)])
def test_host_name_that_was_not_found_is_soon_requested_for_the_last_time(fetch, caplog, last_wait_s, waits_s):
    caplog.set_level("INFO")
    one = fetch(rests=RESTS, last_wait_s=last_wait_s)
    one.fail(scrapy_errors.CannotResolveHostError("x"))
    one.robots.hasten(one.now)
    assert one.robots.next_due(one.now) == waits_s
    assert caplog.messages[-1].endswith(f"for the last time within {waits_s:g} s")
    one.now += waits_s
    one.fail(scrapy_errors.CannotResolveHostError("x"))
    assert one.rests == [60.0, None]
