"""What is lost while a crawl runs ends it with one sentence and exit status 1, and costs no page when it goes on.

Lost are space on the disk, folders, and the store, of which tests/unit/store/test_database.py has all losses.
"""

import os
import resource
import shutil
import signal

import pytest

from crawlers.inputs.program import CRAWL
from tests.support.processes import until
from tests.support.running import add_on, differences
from tests.support.services import ADMIN, running_postgresql

STOPPED_AFTER = 80  # requests of some 360
SMALL = {"STORE_BATCH_SECONDS": 0.02}


@pytest.fixture
def crawl(web, crawl_in):
    web.counts.clear()
    return crawl_in("lossy", web.hosts("library", "mirror"))


def assert_ended_by(ended, *parts):
    """It ended with one sentence that has these *parts*."""
    assert ended.status == 1
    assert len(ended.errors) == 1, ended.log
    assert all(part in ended.errors[0] for part in parts), ended.errors[0]
    assert "Traceback" not in ended.log


def assert_resumed(crawl, undisturbed):
    assert crawl.run(ADDONS="{}").status == 0
    assert crawl.states == ["finished"]
    assert differences(undisturbed.tables(), crawl.tables()) == []
    assert crawl.files() == undisturbed.files()


# Space


def limit_files():
    """Simulates a full disk by a limit of the operating system."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))


@pytest.mark.parametrize(
    "limits",
    [
        {"before": limit_files, **SMALL},
        # Numbers of pages are reserved in a transaction of their own, by the engine's thread.
        {"ADDONS": add_on("FullWhenNumbersAreReserved"), "FULL_AT_RESERVATION": 5, **SMALL},
    ],
)
def test_a_full_disk_stops_the_crawl_which_resumes_with_free_space(crawl, undisturbed, limits):
    assert_ended_by(crawl.run(**limits), "free some space")
    assert 0 < crawl.stored < undisturbed.stored
    assert crawl.waiting > 0
    assert_resumed(crawl, undisturbed)


def test_a_crawl_without_space_for_its_graphs_is_not_finished(web, crawl, undisturbed):
    assert_ended_by(crawl.run(ADDONS=add_on("NoRoomForGraphs")), "free some space")
    assert crawl.waiting == 0
    assert crawl.states != ["finished"]
    web.counts.clear()
    assert_resumed(crawl, undisturbed)
    assert web.requests == 0


# Folders


def run_while(web, crawl, lose, then_s=0.005):
    for name in ("result", "logs"):  # of an earlier crawl
        (crawl.folder / name).mkdir()
    web.pace = lambda url: 0.005
    run = crawl.start(**SMALL)
    until(lambda: web.requests > STOPPED_AFTER, "the request")
    lose()
    web.pace = lambda url: then_s
    ended = run.wait()
    web.pace = lambda url: 0.0
    return ended


def replaced_by_file(folder):
    def lose():
        shutil.rmtree(folder)
        folder.touch()

    return lose


def test_folders_that_are_removed_are_made_again(web, crawl, undisturbed):
    def lose():
        for name in ("result", "logs"):
            shutil.rmtree(crawl.folder / name)

    ended = run_while(web, crawl, lose)
    assert ended.status == 0
    assert "Traceback" not in ended.log
    assert crawl.states == ["finished"]
    assert crawl.files() == undisturbed.files()
    assert (crawl.folder / "logs" / "common_log.csv").read_text("utf-8").startswith("time,state,")


def test_a_result_folder_that_becomes_a_file_costs_no_page(web, crawl, undisturbed):
    assert_ended_by(run_while(web, crawl, replaced_by_file(crawl.result)), f"{crawl.result}", "can't be written")
    assert crawl.waiting == 0
    assert crawl.states == ["interrupted"]
    refused = crawl.run()
    assert refused.status == 2
    assert "RESULT_FOLDER=result can't be written" in refused.errors[0]
    crawl.result.unlink()
    web.counts.clear()
    assert_resumed(crawl, undisturbed)
    assert web.requests == 0


def test_logs_that_become_a_file_stop_the_crawl_which_can_be_resumed(web, crawl, undisturbed):
    logs = crawl.folder / "logs"
    # Logs are written once a second, while pages must still be waiting.
    ended = run_while(web, crawl, replaced_by_file(logs), then_s=1.0)
    assert_ended_by(ended, f"the logs can't be written to {logs.name}")
    assert crawl.waiting > 0
    logs.unlink()
    assert_resumed(crawl, undisturbed)


# The store

PAUSED_AFTER = 30  # requests of some 200
QUICK_CHECKS = {
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
        web.pace = lambda url: pause_s if web.requests > PAUSED_AFTER else WRITING_S

    yield respond_in
    web.pace = lambda url: 0.0


def test_a_crawl_never_goes_on_writing_to_a_lost_file(web, paced, crawl_in):
    paced(IDLE_S)
    crawl = crawl_in("lost", web.hosts("mirror"), **QUICK_CHECKS)
    run = crawl.start()
    until(lambda: web.requests > PAUSED_AFTER and crawl.stored > PAUSED_AFTER / 4, "the pages")
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
        crawl = crawl_in(
            "lost", web.hosts("mirror"), DATABASE_URL=url, **{**QUICK_CHECKS, "WORKER_DEADLINE_SECONDS": 0.1}
        )
        run = crawl.start()
        until(lambda: web.requests > PAUSED_AFTER, "the pages")
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
