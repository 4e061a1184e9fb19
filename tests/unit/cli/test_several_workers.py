"""Several workers under one command: which crawls can have them, its lines, its signals, and what workers are told."""

from __future__ import annotations

import logging
import signal
import sys
from argparse import Namespace
from pathlib import Path

import pytest
from scrapy import Spider
from scrapy.settings import Settings

from crawlers.cli import several_workers
from crawlers.cli.child_process import Events, Exit, Line, Signal
from crawlers.cli.several_workers import _signals, check_workers, run_workers
from crawlers.cli.workers_display import WorkersDisplay
from crawlers.errors import ConfigError
from crawlers.inputs.worker_place import crawl_to_join, worker_place
from crawlers.spiders.sitegraph import SiteGraphSpider
from tests.support.processes import PATIENCE_S

OPTIONS = Namespace(profile=None, spargs={"hosts": "hosts.txt"})
RECORD = "2026-01-01 10:00:00 [a.b] INFO: text"


def refused(options=OPTIONS, spider=SiteGraphSpider, **settings):
    """Return the sentence about a crawl that can't have several workers."""
    with pytest.raises(ConfigError) as caught:
        check_workers(Settings({"WORKERS": 2, **settings}), spider, options)
    return str(caught.value)


# Which crawls


def test_spider_of_the_user_runs_in_one_process():
    own = type("OwnSpider", (Spider,), {"name": "own"})
    assert "own is a spider of your own, which runs in one process" in refused(spider=own)


def test_standard_output_can_not_be_shared():
    assert "write items to a file: -o pages.csv" in refused(FEEDS={"stdout:": {"format": "csv"}})
    check_workers(Settings({"WORKERS": 2, "FEEDS": {"pages.csv": {"format": "csv"}}}), SiteGraphSpider, OPTIONS)


@pytest.mark.parametrize("value", ["/dev/stdin", "/dev/fd/63", "/proc/self/fd/0"])
def test_file_that_can_be_read_once_is_not_given_to_several_processes(value):
    options = Namespace(profile=None, spargs={"hosts": value})
    assert refused(options) == f"WORKERS=2: hosts={value} can be read by one process only; write it to a file"


# Workers


class Started:
    """A process that does not run; it notes what it was told, and ends at once."""

    commands: list[list[str]]
    environments: list[dict[str, str]]

    def __init__(self, place, command, environment, events):
        self.pid = 1
        self.commands.append(command)
        self.environments.append(environment)
        worker_place(environment).summary.write_text("all is well", "utf-8")
        events.put(Line(place, "an item", is_output=True))
        events.put(Exit(place, 0))


@pytest.fixture
def started(monkeypatch):
    Started.commands, Started.environments = [], []
    monkeypatch.setattr(several_workers, "ChildProcess", Started)
    monkeypatch.setattr(sys, "orig_argv", ["python", "-W", "error", "-m", "scrapy", "crawl", "sitegraph"])
    return Started


def test_worker_is_the_same_command_in_one_process_at_a_place(started, tmp_path, caplog, capsys):
    caplog.set_level(logging.INFO)
    url = f"sqlite:///{tmp_path / 'crawl.sqlite'}"
    settings = Settings({"WORKERS": 3, "DATABASE_URL": url, "LOG_JSON": False})
    assert run_workers(settings) == 0
    (command,), (environment,) = started.commands, started.environments
    assert command[:6] == [sys.executable, "-W", "error", "-m", "scrapy", "crawl"]
    assert command[7:9] == ["-s", "WORKERS=1"]
    place = worker_place(environment)
    assert (place.number, place.workers, crawl_to_join(environment)) == (1, 3, None)
    assert not place.summary.parent.exists()
    assert "all is well" in caplog.text
    assert capsys.readouterr().out == "an item\n"
    assert list(tmp_path.iterdir()) == []


# Signals


def test_signals_become_events_until_the_end_of_the_block():
    events = Events()
    before = signal.getsignal(signal.SIGTERM)
    with _signals(events):
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert [events.get(PATIENCE_S), events.get(PATIENCE_S)] == [Signal(signal.SIGTERM), Signal(signal.SIGINT)]
    assert signal.getsignal(signal.SIGTERM) is before


# Lines


@pytest.fixture
def log_file(tmp_path, monkeypatch):
    """The path of LOG_FILE, which is open."""
    handler = logging.FileHandler(tmp_path / "crawl.log", encoding="utf-8")
    monkeypatch.setattr(logging.root, "handlers", [handler])
    yield Path(handler.baseFilename)
    handler.close()


def test_log_and_output_of_workers_are_those_of_the_command(capsys, monkeypatch):
    monkeypatch.setattr(logging.root, "handlers", [])  # pytest has one of a file
    terminal = WorkersDisplay(Settings())
    terminal.write(RECORD, is_output=False)
    terminal.write("an item", is_output=True)
    assert capsys.readouterr() == ("an item\n", f"{RECORD}\n")


def test_log_file_has_all_lines_and_people_see_the_errors(log_file, capsys):
    terminal = WorkersDisplay(Settings())
    lines = [RECORD, "[2] Error: hosts.txt:1 is wrong", "[2] hosts.txt:2 is wrong", f"[2] {RECORD}", "[2] more"]
    for line in lines:
        terminal.write(line, is_output=False)
    assert log_file.read_text("utf-8").splitlines() == lines
    assert capsys.readouterr().err.splitlines() == lines[1:3]


@pytest.mark.parametrize(("settings", "logged"), [({}, False), ({"LOG_FILE": "crawl.log"}, True)])
def test_reason_why_the_command_ends_is_an_error(settings, logged, capsys, caplog):
    WorkersDisplay(Settings(settings)).fail("nothing works")
    assert capsys.readouterr().err == "Error: nothing works\n"
    assert ("nothing works" in caplog.text) == logged
