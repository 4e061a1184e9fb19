"""The store is read in a thread of its own, and whatever becomes of the store, each look has a result."""

import os
import threading

import pytest

from crawlers.cli import store_watch
from crawlers.cli.child_process import Events, StoreView
from crawlers.cli.store_watch import StoreWatch
from crawlers.store.worker_rows import STOP
from crawlers.workers.worker_table import Course, set_control
from tests.support.processes import PATIENCE_S
from tests.support.stored_rows import begin

ME = os.getpid()


class Display:
    """Notes what it shows, and in which thread; *act* is called by each refresh."""

    def __init__(self):
        self.shown = []
        self.threads = set()
        self.is_closed = threading.Event()
        self.act = lambda: None

    def refresh(self, crawl_id):
        self.shown.append(crawl_id)
        self.threads.add(threading.current_thread().name)
        self.act()

    def close(self):
        self.is_closed.set()


@pytest.fixture
def display():
    return Display()


@pytest.fixture
def events():
    return Events()


@pytest.fixture
def watch(sqlite_url, display, events):
    watch = StoreWatch(sqlite_url, display, events)
    yield watch
    watch.close(PATIENCE_S)


def looked(watch, events, crawl_id=None):
    watch.look([ME], crawl_id)
    event = events.get(PATIENCE_S)
    assert isinstance(event, StoreView)
    return event


def test_crawl_that_is_being_stopped_does_not_go_on(watch, events, sqlite):
    crawl = begin(sqlite, "http://a.test")
    assert looked(watch, events, crawl.id).course.goes_on
    set_control(sqlite, crawl.id, STOP)
    assert not looked(watch, events, crawl.id).course.goes_on
    assert not looked(watch, events).course.goes_on  # the crawl that the process has joined


def test_error_of_the_display_does_not_end_the_looks(watch, events, display, caplog):
    def fail():
        raise ZeroDivisionError

    display.act = fail
    for _ in range(2):
        assert looked(watch, events, 7) == StoreView({}, Course(goes_on=False, is_running=False))
    watch.close(PATIENCE_S)
    assert caplog.text.count("Internal error") == 2


def test_error_of_the_display_when_it_is_closed_is_logged_and_the_store_is_closed(events, sqlite_url, caplog):
    class FailingDisplay(Display):
        def close(self):
            raise ZeroDivisionError

    watch = StoreWatch(sqlite_url, FailingDisplay(), events)
    looked(watch, events)
    assert watch._database is not None
    watch.close(PATIENCE_S)
    assert watch._database is None
    assert caplog.text.count("Internal error") == 1


def test_command_does_not_wait_for_a_store_that_does_not_respond(watch, events, display):
    responds = threading.Event()
    display.act = lambda: responds.wait(PATIENCE_S)
    looked(watch, events, 7)
    watch.look([ME], 7)
    watch.close(0.0)
    assert not display.is_closed.is_set()
    responds.set()
    assert display.is_closed.wait(PATIENCE_S)


def test_store_that_has_failed_is_not_awaited(events, display, tmp_path, monkeypatch):
    monkeypatch.setattr(store_watch, "CLOSING_FAILED_S", 0.0)
    watch = StoreWatch(f"sqlite:///{tmp_path / 'no.sqlite'}", display, events)
    responds = threading.Event()
    display.act = lambda: responds.wait(PATIENCE_S)
    assert looked(watch, events, 7).has_failed
    watch.close(PATIENCE_S)
    assert not display.is_closed.is_set()
    responds.set()
    assert display.is_closed.wait(PATIENCE_S)
