"""Folders that are lost while a crawl runs cost no page, and the next run writes what could not be written."""

import shutil

import pytest

from tests.support.processes import until
from tests.support.running import add_on, differences

STOPPED_AFTER = 80  # requests of some 360


@pytest.fixture
def crawl(web, crawl_in):
    """A crawl that is at work, with the folders of an earlier one."""
    web.counts.clear()
    crawl = crawl_in("lost", web.hosts("library", "mirror"), ADDONS=add_on("FrequentLogChecks"))
    for name in ("result", "logs"):
        (crawl.folder / name).mkdir()
    return crawl


def run_while(web, crawl, lose):
    web.pace = lambda url: 0.005
    run = crawl.start(STORE_BATCH_SECONDS=0.02)
    until(lambda: web.requests > STOPPED_AFTER, "the request")
    lose()
    ended = run.wait()
    web.pace = lambda url: 0.0
    assert "Traceback" not in ended.log
    return ended


def replaced_by_file(folder):
    def lose():
        shutil.rmtree(folder)
        folder.touch()

    return lose


def assert_resumed(crawl, undisturbed):
    assert crawl.run(ADDONS="{}").status == 0
    assert crawl.states == ["finished"]
    assert differences(undisturbed.tables(), crawl.tables()) == []
    assert crawl.files() == undisturbed.files()


def test_folders_that_are_removed_are_made_again(web, crawl, undisturbed):
    def lose():
        for name in ("result", "logs"):
            shutil.rmtree(crawl.folder / name)

    assert run_while(web, crawl, lose).status == 0
    assert crawl.states == ["finished"]
    assert crawl.files() == undisturbed.files()
    assert (crawl.folder / "logs" / "common_log.csv").read_text("utf-8").startswith("time,state,")


def test_a_result_folder_that_becomes_a_file_costs_no_page(web, crawl, undisturbed):
    ended = run_while(web, crawl, replaced_by_file(crawl.result))
    assert ended.status == 1
    assert len(ended.errors) == 1
    assert f"{crawl.result}" in ended.errors[0]
    assert "can't be written" in ended.errors[0]
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
    ended = run_while(web, crawl, replaced_by_file(crawl.folder / "logs"))
    assert ended.status == 1
    assert len(ended.errors) == 1
    assert "the logs can't be written to logs" in ended.errors[0]
    assert crawl.waiting > 0
    (crawl.folder / "logs").unlink()
    assert_resumed(crawl, undisturbed)
