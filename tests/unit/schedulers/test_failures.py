"""The reasons for missing responses, and the resulting states of URLs."""

from __future__ import annotations

import pytest
from scrapy import exceptions as scrapy_errors

from crawlers.frontier.values import Lease
from crawlers.items import State
from crawlers.schedulers.failures import failed_page, reason_of

LEASE = Lease(7, 1, 0, "http://a.example/", 2, 0, 0, None, 0.0)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (scrapy_errors.DownloadTimeoutError("x"), ("timeout", State.FAILED, True)),
        (scrapy_errors.CannotResolveHostError("x"), ("host name not found", State.FAILED, True)),
        (scrapy_errors.DownloadConnectionRefusedError("x"), ("connection refused", State.FAILED, True)),
        (scrapy_errors.ResponseDataLossError("x"), ("the connection was closed within the body", State.FAILED, True)),
        (scrapy_errors.DownloadCancelledError("x"), ("too large", State.REFUSED, False)),
        (scrapy_errors.DownloadFailedError("x"), ("the connection failed", State.FAILED, True)),
        (scrapy_errors.IgnoreRequest("x DOWNLOAD_MAXSIZE"), ("too large once decompressed", State.REFUSED, False)),
        (scrapy_errors.IgnoreRequest("no"), ("IgnoreRequest: no", State.FAILED, False)),
        (ValueError("two\n  lines"), ("ValueError: two lines", State.FAILED, False)),
        (ValueError(), ("ValueError", State.FAILED, False)),
    ],
)
def test_every_error_has_a_reason(error, reason):
    assert reason_of(error) == reason


def test_long_texts_of_errors_are_cut():
    assert len(reason_of(ValueError("x" * 5000)).text) < 250


def test_page_of_a_failure_may_be_asked_for_again_unless_we_are_to_blame():
    page = failed_page(LEASE, scrapy_errors.DownloadTimeoutError("x"))
    assert (page.id, page.level, page.state, page.reason, page.is_transient) == (7, 2, State.FAILED, "timeout", True)
    page = failed_page(LEASE, scrapy_errors.DownloadCancelledError("x"), "the spider failed: ")
    assert (page.state, page.reason, page.is_transient) == (State.FAILED, "the spider failed: too large", False)
