"""Missing responses have reasons and states; a lease ends if its download, callback or pipeline fails."""

import pytest
from scrapy import Request, Spider, signals
from scrapy import exceptions as scrapy_errors
from scrapy.http import Response
from scrapy.signalmanager import SignalManager
from twisted.python.failure import Failure

from crawlers.downloader.download_errors import failure_of
from crawlers.extensions.pending_callbacks import PendingCallbacks
from crawlers.items import LEASE, Page, State
from crawlers.schedulers.failures import ErrorHandlers
from tests.support.opened_crawl import OpenedCrawl

SPIDER = Spider("test")
BUG = ValueError("a bug")


class Handled:
    """An opened crawl with the handlers of its errors, and the lease of its first page."""

    def __init__(self, url):
        self.opened = OpenedCrawl(url, RETRY_TIMES=1)
        self.manager = SignalManager()
        self.callbacks = PendingCallbacks(self.opened.crawl.recording.record)
        self.handlers = ErrorHandlers(self.opened.crawl, self.callbacks, self.manager)
        self.lease = self.opened.lease()

    def request(self, lease=None):
        return Request(self.lease.url, meta={LEASE: lease or self.lease})

    def send(self, signal, **values):
        """Send a signal as Scrapy does, which logs the exceptions of handlers."""
        for _, result in self.manager.send_catch_log(signal, spider=SPIDER, **values):
            assert not isinstance(result, Failure), result

    def download_failed(self, request, error):
        failure = Failure(error)
        failure.request = request
        self.handlers.download_failed(failure)

    def spider_error(self, request):
        self.send(signals.spider_error, failure=Failure(BUG), response=Response(request.url, request=request))

    def page(self):
        return self.opened.pages()["/"]


@pytest.fixture
def handled(sqlite_url):
    handled = Handled(sqlite_url)
    yield handled
    handled.opened.crawl.session.close_all()


def test_failed_download_is_retried_if_that_may_help(handled):
    handled.download_failed(handled.request(), scrapy_errors.DownloadTimeoutError("x"))
    assert handled.page() == (State.WAITING, "timeout")


def test_failed_download_without_an_open_lease_is_ignored(handled):
    handled.download_failed(Request(handled.lease.url), BUG)
    handled.opened.end(handled.lease)
    handled.download_failed(handled.request(), BUG)
    assert handled.page() == (State.DONE, "")


def test_error_of_an_earlier_attempt_does_not_end_the_lease_of_the_next_one(handled):
    handled.opened.fail(handled.lease)
    handled.opened.now += 60.0
    assert handled.opened.lease().id == handled.lease.id
    handled.spider_error(handled.request())
    assert handled.page() == (State.WAITING, "timeout")


def test_page_whose_callback_fails_has_failed_and_is_not_retried(handled):
    handled.spider_error(handled.request())
    assert handled.page() == (State.FAILED, "spider_failed error ValueError a bug")


def test_failing_callback_at_work_ends_its_lease_after_everything_that_it_yielded(handled):
    response = Response(handled.lease.url, request=handled.request())
    yielded = Request(handled.lease.url)
    handled.callbacks.begin(response, Page(handled.lease.id, handled.lease.url, 0, State.DONE))
    handled.callbacks.record_output(response, yielded)
    handled.send(signals.spider_error, failure=Failure(BUG), response=response)
    assert handled.page() == (State.WAITING, "")
    handled.callbacks.record_request(yielded)
    assert handled.page() == (State.FAILED, "spider_failed error ValueError a bug")


@pytest.mark.parametrize(
    ("signal", "sent", "reason"),
    [
        (signals.item_error, {"failure": Failure(BUG)}, "pipeline_failed error ValueError a bug"),
        (signals.item_dropped, {"exception": scrapy_errors.DropItem("no")}, "pipeline_dropped error DropItem no"),
    ],
)
def test_page_that_a_pipeline_loses_or_drops_has_failed_with_the_reason(handled, signal, sent, reason):
    page = Page(handled.lease.id, handled.lease.url, 0, State.DONE, 200)
    handled.send(signal, item=page, response=None, **sent)
    assert handled.page() == (State.FAILED, reason)


def test_other_items_and_pages_whose_leases_have_ended_are_ignored(handled):
    handled.send(signals.item_error, item={"id": handled.lease.id}, response=None, failure=Failure(BUG))
    assert handled.page() == (State.WAITING, "")
    page = handled.opened.end(handled.lease)
    handled.send(signals.item_error, item=page, response=None, failure=Failure(BUG))
    assert handled.page() == (State.DONE, "")


# Reasons


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (scrapy_errors.DownloadTimeoutError("x"), ("timeout", State.FAILED, True)),
        (scrapy_errors.CannotResolveHostError("x"), ("host_not_found", State.FAILED, True)),
        (scrapy_errors.DownloadConnectionRefusedError("x"), ("connection_refused", State.FAILED, True)),
        (scrapy_errors.ResponseDataLossError("x"), ("closed_in_body", State.FAILED, True)),
        (scrapy_errors.DownloadCancelledError("x"), ("too_large", State.REFUSED, False)),
        (scrapy_errors.DownloadFailedError("x"), ("connection_failed", State.FAILED, True)),
        (scrapy_errors.IgnoreRequest("x DOWNLOAD_MAXSIZE"), ("too_large_decompressed", State.REFUSED, False)),
        (scrapy_errors.IgnoreRequest("no"), ("error IgnoreRequest no", State.FAILED, False)),
        (ValueError("two\n  lines"), ("error ValueError two lines", State.FAILED, False)),
        (ValueError(), ("error ValueError no message", State.FAILED, False)),
    ],
)
def test_every_error_has_a_reason(error, reason):
    assert failure_of(error) == reason


def test_long_texts_of_errors_are_cut():
    assert len(failure_of(ValueError("x" * 5000)).reason) < 250
