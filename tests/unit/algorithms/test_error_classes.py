"""Every reason of a failed download has a class, and texts of servers make no further ones."""

from __future__ import annotations

import pytest
from scrapy import exceptions as scrapy_errors

from crawlers.algorithms.error_classes import ErrorClass, error_class
from crawlers.extensions.download_errors import BadResponseError
from crawlers.schedulers.failures import reason_of


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        (429, "status 429", ErrorClass.OVERLOADED),
        (503, "status 503, 3 attempts", ErrorClass.OVERLOADED),
        (500, "status 500", ErrorClass.SERVER_ERROR),
        (999, "status 999", ErrorClass.SERVER_ERROR),
        (404, "status 404", ErrorClass.CLIENT_ERROR),
        (204, "status 204", ErrorClass.OTHER_STATUS),
        (301, "status 301 without a location", ErrorClass.REDIRECT),
        (302, "redirects to another site: http://b.test/timeout", ErrorClass.REDIRECT),
        (302, "more than 20 redirects", ErrorClass.REDIRECT),
        (200, "content type timeout", ErrorClass.CONTENT_TYPE),
        (200, "no content type", ErrorClass.CONTENT_TYPE),
        (200, "too large once decompressed", ErrorClass.TOO_LARGE),
        (0, "headers of more than 256 KiB", ErrorClass.TOO_LARGE),
        (0, "more than 4,096 headers", ErrorClass.TOO_LARGE),
        (0, "not rendered within 30 s", ErrorClass.RENDERING),
        (0, "the spider failed: timeout", ErrorClass.OTHER),
        (0, "", ErrorClass.OTHER),
    ],
)
def test_class_is_that_of_status_and_reason(status: int, reason: str, kind: ErrorClass) -> None:
    assert error_class(status, reason) is kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (scrapy_errors.DownloadTimeoutError(), ErrorClass.TIMEOUT),
        (scrapy_errors.CannotResolveHostError(), ErrorClass.HOST_NOT_FOUND),
        (scrapy_errors.DownloadConnectionRefusedError(), ErrorClass.CONNECTION_REFUSED),
        (scrapy_errors.ResponseDataLossError(), ErrorClass.CONNECTION_FAILED),
        (scrapy_errors.DownloadCancelledError(), ErrorClass.TOO_LARGE),
        (scrapy_errors.DownloadFailedError(), ErrorClass.CONNECTION_FAILED),
        (BadResponseError("the response is not HTTP"), ErrorClass.BAD_RESPONSE),
        (RuntimeError("status 503"), ErrorClass.OTHER),
    ],
)
def test_errors_of_downloads_have_a_class(error: Exception, kind: ErrorClass) -> None:
    assert error_class(0, f"{reason_of(error).text}, 3 attempts") is kind
