"""A crawl that is stopped gracefully resumes where it stopped, and ends as if it had never been stopped."""

import signal
import sqlite3
from contextlib import closing, contextmanager

import pytest

from tests.support.processes import until
from tests.support.running import differences

STOPPED_AFTER = 80  # requests of some 360


@pytest.fixture
def crawl(web, crawl_in):
    web.counts.clear()
    return crawl_in("stopped", web.hosts("library", "mirror"))


@contextmanager
def paced(web, pause_s):
    """Delays each response of the web."""
    web.pace = lambda url: pause_s
    try:
        yield
    finally:
        web.pace = lambda url: 0.0


def assert_goes_on(web, crawl, undisturbed):
    """The same command fetches the rest, and nothing twice."""
    assert crawl.run().status == 0
    assert crawl.states == ["finished"]
    assert set(web.counts.values()) == {1}
    assert differences(undisturbed.tables(), crawl.tables()) == []
    assert crawl.files() == undisturbed.files()


def test_a_signal_stops_the_crawl_gracefully(web, crawl, undisturbed):
    run = crawl.start()
    until(lambda: web.requests >= STOPPED_AFTER, "the request")
    run.signal(signal.SIGTERM)
    ended = run.wait()
    assert ended.status == 0
    assert "Traceback" not in ended.log
    assert crawl.states == ["interrupted"]
    assert crawl.query("SELECT reason FROM crawl") == [("shutdown",)]
    assert crawl.stored > STOPPED_AFTER / 2
    assert crawl.waiting > 0
    assert set(crawl.files()) == set(undisturbed.files())  # graphs of what there is
    assert_goes_on(web, crawl, undisturbed)


EARLY = """
import asyncio, os, signal
from scrapy import signals

class Early:
    @classmethod
    def from_crawler(cls, crawler):
        self = cls()
        crawler.signals.connect(self.opened, signals.spider_opened)
        return self

    async def opened(self):
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(100):  # turns of the event loop: the signal has been handled before the engine starts
            await asyncio.sleep(0)
"""


def test_a_signal_that_comes_while_the_crawl_opens_stops_it_gracefully(web, crawl, undisturbed):
    (crawl.folder / "early.py").write_text(EARLY)
    ended = crawl.run(EXTENSIONS='{"early.Early": 0}')
    assert ended.status == 0
    assert crawl.states == ["interrupted"]
    assert "To resume" in ended.log
    crawl.run()
    assert crawl.states == ["finished"]
    assert crawl.files() == undisturbed.files()


def test_the_stop_file_stops_the_crawl_and_must_be_removed_to_resume_it(web, crawl, undisturbed):
    stop = crawl.folder / "halt"
    with paced(web, 0.1):  # the crawl looks for the file each second, and must not be over by then
        run = crawl.start(STOP_FILE=stop.name)
        until(lambda: web.requests >= STOPPED_AFTER, "the request")
        stop.touch()
        assert run.wait().status == 0
    assert crawl.states == ["interrupted"]
    assert crawl.query("SELECT reason FROM crawl") == [("stop_file",)]
    assert crawl.waiting > 0
    before = web.counts.copy()

    web.counts.clear()
    refused = crawl.run(STOP_FILE=stop.name)
    assert refused.status == 2
    assert len(refused.errors) == 1
    assert "STOP_FILE=halt" in refused.errors[0]
    assert web.requests == 0
    assert crawl.states == ["interrupted"]
    web.counts.update(before)
    stop.unlink()
    assert_goes_on(web, crawl, undisturbed)


def test_the_timeout_stops_the_crawl(web, crawl, undisturbed):
    with paced(web, 0.1):
        assert crawl.run(TIMEOUT_SECONDS=1).status == 0
    assert crawl.states == ["interrupted"]
    assert crawl.query("SELECT reason FROM crawl") == [("timeout",)]
    assert crawl.stored > 0
    assert crawl.waiting > 0
    assert_goes_on(web, crawl, undisturbed)


def test_a_finished_crawl_is_followed_by_a_new_one(web, crawl, undisturbed):
    assert crawl.run().status == 0
    first = crawl.query("SELECT * FROM page WHERE site_id <= 2 ORDER BY id")
    assert crawl.run().status == 0
    assert crawl.states == ["finished", "finished"]
    assert set(web.counts.values()) == {2}
    assert crawl.query("SELECT * FROM page WHERE site_id <= 2 ORDER BY id") == first
    assert crawl.files() == undisturbed.files()
    assert crawl.query("SELECT count(*) FROM seed") == [(2,)]


def test_another_process_reads_the_database_while_the_crawl_runs(web, crawl, undisturbed):
    run = crawl.start(STORE_BATCH_SECONDS=0.01)
    seen = set()

    def has_grown():
        seen.add(crawl.stored)
        return len(seen) > 5

    assert run.until(has_grown, "five sights of a growing store")
    with closing(sqlite3.connect(crawl.database)) as reader:
        reader.execute("BEGIN")
        (before,) = reader.execute("SELECT count(*) FROM page WHERE state = 1").fetchone()
        # A reader's transaction neither stops the crawl nor sees what is written meanwhile.
        assert run.wait().status == 0
        assert reader.execute("SELECT count(*) FROM page WHERE state = 1").fetchone() == (before,)
    assert 0 < before < undisturbed.stored
    assert crawl.states == ["finished"]
    assert crawl.files() == undisturbed.files()
