"""Every reason of a failed download has a class, and texts of servers make no further ones."""

import pytest

from crawlers.pages.retries import error_class
from crawlers.reasons import ErrorClass


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        (429, "status 429", ErrorClass.OVERLOADED),
        (503, "status 503", ErrorClass.OVERLOADED),
        (500, "status 500", ErrorClass.SERVER_ERROR),
        (999, "status 999", ErrorClass.SERVER_ERROR),
        (404, "status 404", ErrorClass.CLIENT_ERROR),
        (204, "status 204", ErrorClass.OTHER_STATUS),
        (301, "redirect_without_location 301", ErrorClass.REDIRECT),
        (302, "redirect_to_other_site http://b.test/timeout", ErrorClass.REDIRECT),
        (302, "many_redirects 20", ErrorClass.REDIRECT),
        (200, "content_type timeout", ErrorClass.CONTENT_TYPE),
        (200, "no_content_type", ErrorClass.CONTENT_TYPE),
        (200, "too_large_decompressed", ErrorClass.TOO_LARGE),
        (0, "too_large", ErrorClass.TOO_LARGE),
        (0, "timeout", ErrorClass.TIMEOUT),
        (0, "host_not_found", ErrorClass.HOST_NOT_FOUND),
        (0, "connection_refused", ErrorClass.CONNECTION_REFUSED),
        (0, "connection_failed", ErrorClass.CONNECTION_FAILED),
        (0, "closed_in_body", ErrorClass.CONNECTION_FAILED),
        (0, "not_http", ErrorClass.BAD_RESPONSE),
        (0, "error RuntimeError status 503", ErrorClass.OTHER),
        (0, "long_headers 256", ErrorClass.TOO_LARGE),
        (0, "many_headers 4096", ErrorClass.TOO_LARGE),
        (0, "rendering_timeout 30", ErrorClass.RENDERING),
        (0, "spider_failed timeout", ErrorClass.OTHER),
        (0, "", ErrorClass.OTHER),
    ],
)
def test_class_is_that_of_status_and_reason(status, reason, kind):
    assert error_class(status, reason) is kind
