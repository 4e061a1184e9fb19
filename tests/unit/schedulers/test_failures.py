"""The reasons for missing responses, and the resulting states of URLs."""

import pytest
from scrapy import exceptions as scrapy_errors

from crawlers.items import State
from crawlers.schedulers.failures import failure_of


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
