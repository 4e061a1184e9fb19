"""The control of a crawl makes it go on, or ends it early."""

from __future__ import annotations

import logging

import pytest

from crawlers.crawl.control import CrawlControl
from crawlers.errors import ClaimsLost, FrontierError, StoreError


class Heard:
    """Records what a control asks for."""

    def __init__(self) -> None:
        self.stopped: list[str] = []  # the reasons
        self.wakes = 0
        self.control = CrawlControl(self.stopped.append, self._wake)

    def _wake(self) -> None:
        self.wakes += 1


@pytest.fixture
def heard() -> Heard:
    return Heard()


def test_first_failure_is_reported_and_later_ones_are_not(heard, caplog):
    first = StoreError("first")
    heard.control.abort(first, "first_reason")
    heard.control.abort(StoreError("second"))
    heard.control.fail(StoreError("third"))
    assert heard.control.failure is first
    assert heard.stopped == ["first_reason"]
    assert caplog.messages == ["first"]


def test_error_that_is_no_failure_of_the_store_is_reported_as_a_bug(heard, caplog):
    heard.control.abort_for("a page can't be stored", ValueError("a bug"))
    assert isinstance(heard.control.failure, FrontierError)
    assert str(heard.control.failure) == "a page can't be stored: ValueError a bug; please report it"
    assert heard.stopped == ["store_failed"]
    assert caplog.messages[0] == "Internal error"


def test_worker_that_may_join_again_only_warns(heard, caplog):
    heard.control.abort(ClaimsLost("declared lost"))
    assert [(record.levelno, record.message) for record in caplog.records] == [(logging.WARNING, "declared lost")]
