"""`scrapy workers` reads the store, and asks the workers of a crawl for something; none of them need to run here."""

import os
import platform

import pytest
from sqlalchemy import update

from crawlers.commands.workers import Command
from crawlers.reports.live_display import crawl_overview
from crawlers.store.reading import crawls, run_command
from crawlers.store.schema.tables import crawl, worker
from crawlers.store.sites.site_opening import SiteList, SiteRow
from crawlers.store.worker_rows import PAUSE, STOP, WorkerLock
from tests.support.command_here import run_here
from tests.support.stored_rows import execute


@pytest.fixture
def locks():
    """The locks of workers, which a test may release."""
    found = []
    yield found
    for lock in found:
        lock.release()


@pytest.fixture
def begun(database, locks):
    """A crawl that this process works on."""
    rows = [SiteRow(0, "http://a.test", 1, None, 1.0), SiteRow(0, "http://b.test", 1, None, 1.0)]

    def hold(worker_id):
        locks.append(WorkerLock(database, worker_id))

    return crawls.begin(database, run_command.Command("mine", "plain", {}, SiteList(rows)), 0.0, hold=hold)


def lines_of(capsys):
    read = capsys.readouterr()
    return [*read.err.splitlines(), *read.out.splitlines()]


def test_workers_are_shown(database_url, begun, capsys):
    assert run_here(Command(), database_url) == 0
    reading, heading, _, names, row, *_ = lines_of(capsys)
    assert reading == "Reading the crawl mine (number 1, running)"
    assert heading == "Crawl mine (number 1): 1 worker"
    assert names.split()[:4] == ["worker", "machine", "process", "state"]
    assert row.split()[:4] == [str(begun.worker_id), platform.node(), str(os.getpid()), "active"]


def test_crawl_is_paused_resumed_and_stopped(database, database_url, begun, capsys):
    said = []
    asked = [("pause", PAUSE), ("pause", PAUSE), ("resume", None), ("resume", None), ("stop", STOP), ("resume", STOP)]
    for action, control in asked:
        assert run_here(Command(), database_url, action) == 0
        assert crawl_overview(database, begun.id).control == control
        said.append(lines_of(capsys)[-1])
    assert said == [
        "Crawl mine is paused: 1 worker will request nothing until scrapy workers resume",
        "Crawl mine is paused already: 1 worker will request nothing until scrapy workers resume",
        "Crawl mine goes on: 1 worker",
        "Crawl mine is not paused: 1 worker",
        "Crawl mine is stopping: 1 worker will finish the running downloads and leave; the command that began it "
        "resumes it",
        "Crawl mine is stopping already; the command that began it resumes it",
    ]


@pytest.mark.both_stores
def test_worker_that_was_killed_is_dead(database, database_url, begun, locks, capsys):
    locks[0].release()
    assert run_here(Command(), database_url) == 0
    shown = lines_of(capsys)
    assert "  dead  " in shown[4]
    assert shown[-1].endswith("it has ended, or was cut off; its sites are free for other workers")
    assert run_here(Command(), database_url, "pause") == 2
    assert lines_of(capsys)[0] == "Reading the crawl mine (number 1, running)"
    assert crawl_overview(database, begun.id).control is None


def test_crawl_without_workers_is_one_sentence(database, database_url, begun, capsys):
    execute(database, update(worker).values(state="left", ended_at=5.0))
    execute(database, update(crawl).values(state="finished"))
    sentence = "Crawl mine (number 1) is finished; nobody works on it"
    for action in ((), ("stop",), ("resume",)):
        assert run_here(Command(), database_url, *action) == 0
        assert lines_of(capsys)[1:] == [sentence]
    assert run_here(Command(), database_url, "pause") == 2
    assert lines_of(capsys)[1:] == [f"Error: there is nothing to pause. {sentence}"]
    assert run_here(Command(), database_url, "--all") == 0
    shown = lines_of(capsys)
    assert shown[1] == sentence
    assert "  left  " in shown[4]
