"""The control of a crawl makes it go on, or ends it early."""

import logging

import pytest

from crawlers.crawl.control import CrawlControl
from crawlers.errors import ClaimsLost, StoreError


class Heard:
    """Records what a control asks for."""

    def __init__(self):
        self.stopped = []  # the reasons
        self.wakes = 0
        self.control = CrawlControl(self.stopped.append, self._wake)

    def _wake(self):
        self.wakes += 1


@pytest.fixture
def heard():
    return Heard()


def test_first_failure_is_reported_and_later_ones_are_not(heard, caplog):
    first = StoreError("first")
    heard.control.abort(first, "first_reason")
    heard.control.abort(StoreError("second"))
    heard.control.fail(StoreError("third"))
    assert heard.control.failure is first
    assert heard.stopped == ["first_reason"]
    assert caplog.messages == ["first"]


def test_worker_that_may_join_again_only_warns(heard, caplog):
    heard.control.abort(ClaimsLost("declared lost"))
    assert [(record.levelno, record.message) for record in caplog.records] == [(logging.WARNING, "declared lost")]
