"""A store that is lost while a crawl runs ends it with one sentence and exit status 1.

`tests/unit/storage/test_store_check.py` has all kinds of losses.
"""

import os
import signal

import pytest

from crawlers.inputs.worker_place import CRAWL
from tests.support.processes import until
from tests.support.running import add_on
from tests.support.services import ADMIN, running_postgresql

STOPPED_AFTER = 30  # requests of some 200
SETTINGS = {
    "ADDONS": add_on("FrequentStoreChecks"),
    "STORE_BATCH_SECONDS": 0.02,
    "DOWNLOAD_TIMEOUT": 1,
    "RETRY_TIMES": 0,
}


IDLE_S = 1.5  # longer than DOWNLOAD_TIMEOUT: nothing is left to be written when the store is lost
WRITING_S = 0.02


@pytest.fixture
def paced(web):
    """Sets the time that a server needs for a response after the first ones."""
    web.counts.clear()

    def respond_in(pause_s):
        web.pace = lambda url: pause_s if web.requests > STOPPED_AFTER else WRITING_S

    yield respond_in
    web.pace = lambda url: 0.0


def assert_ended_by(ended, sentence):
    assert ended.status == 1
    assert len(ended.errors) == 1, ended.log
    assert sentence in ended.errors[0]
    assert "Traceback" not in ended.log


def test_a_crawl_never_goes_on_writing_to_a_lost_file(web, paced, crawl_in):
    paced(IDLE_S)
    crawl = crawl_in("lost", web.hosts("mirror"), **SETTINGS)
    run = crawl.start()
    until(lambda: web.requests > STOPPED_AFTER and crawl.stored > STOPPED_AFTER / 4, "the pages")
    crawl.database.unlink()
    assert_ended_by(run.wait(), "crawl.sqlite was removed")

    paced(0.0)
    again = crawl.run(ADDONS="{}")
    assert "Traceback" not in again.log
    assert (again.status, again.errors, crawl.states) == (0, [], ["finished"])


def begin_again():
    os.environ[CRAWL] = "1"


def test_a_crawl_notices_that_its_server_stops(web, paced, crawl_in):
    paced(WRITING_S)
    with running_postgresql() as folder:
        url = f"postgresql+psycopg://{ADMIN}@/postgres?host={folder}"
        crawl = crawl_in("lost", web.hosts("mirror"), DATABASE_URL=url, **{**SETTINGS, "WORKER_DEADLINE_SECONDS": 0.1})
        run = crawl.start()
        until(lambda: web.requests > STOPPED_AFTER, "the pages")
        os.kill(int((folder / "data/postmaster.pid").read_text("utf-8").split()[0]), signal.SIGQUIT)
        assert_ended_by(run.wait(), "that the server runs")
        refused = crawl.run()
        awaited = crawl.run(before=begin_again)
    assert awaited.status == 1
    assert "begins again in this process" in awaited.log
    assert refused.status == 2
    assert "begins again" not in refused.log
    assert "check that" in refused.errors[0]
    assert "Traceback" not in refused.log
