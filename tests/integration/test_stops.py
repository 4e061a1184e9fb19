"""A crawl that is stopped gracefully resumes where it stopped, and ends as if it had never been stopped."""

import signal
import sqlite3
from contextlib import closing, contextmanager

import pytest

from tests.support.processes import until
from tests.support.running import differences

STOPPED_AFTER = 50  # requests of some 360
LATE_S = 2.0


@pytest.fixture
def crawl(web, crawl_in):
    web.counts.clear()
    return crawl_in("stopped", web.hosts("library", "mirror"))


@contextmanager
def slow(web):
    """The web answers some requests, and further ones so late that the crawl is stopped before it ends."""
    most = web.requests + STOPPED_AFTER
    web.pace = lambda url: LATE_S if web.requests > most else 0.0
    try:
        yield
    finally:
        web.pace = lambda url: 0.0


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


def test_crawl_that_is_stopped_in_every_way_goes_on_to_the_result_of_an_undisturbed_one(web, crawl, undisturbed):
    """Nothing is fetched twice, although it is stopped while it opens, by the time, by a file and by a signal."""
    (crawl.folder / "early.py").write_text(EARLY)

    def assert_stopped(ended, reason):
        assert ended.status == 0
        assert "Traceback" not in ended.log
        assert "To resume" in ended.log
        assert crawl.states == ["interrupted"]
        assert crawl.query("SELECT reason FROM crawl") == [(reason,)]
        assert crawl.waiting > 0

    with slow(web):  # it stops when the engine has begun
        assert_stopped(crawl.run(EXTENSIONS='{"early.Early": 0}'), "shutdown")
    with slow(web):
        assert_stopped(crawl.run(TIMEOUT_SECONDS=1), "timeout")
        assert crawl.stored > 0
    with slow(web):
        stop = crawl.folder / "halt"
        run = crawl.start(STOP_FILE=stop.name)
        requests = web.requests
        until(lambda: web.requests > requests, "the request")
        stop.touch()
        assert_stopped(run.wait(), "stop_file")
    requests = web.requests
    refused = crawl.run(STOP_FILE=stop.name)
    assert refused.status == 2
    assert len(refused.errors) == 1
    assert "STOP_FILE=halt" in refused.errors[0]
    assert web.requests == requests
    assert crawl.states == ["interrupted"]

    with slow(web):
        run = crawl.start()
        until(lambda: web.requests >= requests + STOPPED_AFTER, "the request")
        run.signal(signal.SIGTERM)
        assert_stopped(run.wait(), "shutdown")
    assert crawl.stored > requests
    assert set(crawl.files()) == set(undisturbed.files())  # graphs of what there is

    assert crawl.run().status == 0
    assert crawl.states == ["finished"]
    assert set(web.counts.values()) == {1}
    assert differences(undisturbed.tables(), crawl.tables()) == []
    assert crawl.files() == undisturbed.files()


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
