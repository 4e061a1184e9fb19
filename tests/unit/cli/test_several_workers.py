"""Several workers under one command: which crawls can have them, its lines, its signals, and what workers are told."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from argparse import Namespace
from pathlib import Path
from threading import Event

import pytest
from scrapy import Spider
from scrapy.settings import Settings

from crawlers.cli import several_workers
from crawlers.cli.several_workers import (
    MAX_DEATHS,
    MAX_LINE_BYTES,
    STORE_FAILED,
    LocalWorkers,
    Supervisor,
    WorkerProcess,
    begin_again,
    check_workers,
    run_workers,
    wait_for_store,
)
from crawlers.errors import ConfigError
from crawlers.inputs.program import CRAWL
from crawlers.workers.worker_table import ProcessRow
from tests.support.plain_mission import PlainSpider
from tests.support.processes import PATIENCE_S

CRAWL_ID = 7
OPTIONS = Namespace(profile=None, spargs={"hosts": "hosts.txt"})


def refused(options=OPTIONS, spider=PlainSpider, **settings):
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
    check_workers(Settings({"WORKERS": 2, "FEEDS": {"pages.csv": {"format": "csv"}}}), PlainSpider, OPTIONS)


@pytest.mark.parametrize("value", ["/dev/stdin", "/dev/fd/63", "/proc/self/fd/0"])
def test_file_that_can_be_read_once_is_not_given_to_several_processes(value):
    options = Namespace(profile=None, spargs={"hosts": value})
    assert refused(options) == f"WORKERS=2: hosts={value} can be read by one process only; write it to a file"


# Workers


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Return what lets another program run in place of the command, and returns its exit status."""

    def run(program, **settings):
        monkeypatch.setattr(sys, "orig_argv", ["python", "-W", "error", "-c", program, "crawl", "sitegraph"])
        url = f"sqlite:///{tmp_path / 'crawl.sqlite'}"
        return run_workers(Settings({"WORKERS": 3, "DATABASE_URL": url, "LOG_JSON": False, **settings}))

    return run


def test_worker_is_the_same_command_in_one_process_at_a_place(command, tmp_path, caplog, capsys):
    caplog.set_level(logging.INFO)
    program = (
        "import sys; from crawlers.inputs.program import *\n"
        "place = worker_place(); place.summary.write_text(f'all is well in {place.summary.parent}')\n"
        "print(sys.argv[1:5], sys.warnoptions, *place[:2], crawl_to_join()); print('a line', file=sys.stderr)"
    )
    assert command(program) == 0
    (summary,) = (record.getMessage() for record in caplog.records)
    assert summary.startswith("all is well in ")
    assert not Path(summary.removeprefix("all is well in ")).exists()
    words = "['crawl', 'sitegraph', '-s', 'WORKERS=1'] ['error'] 1 3 None"
    assert capsys.readouterr() == (f"{words}\n", "a line\n")
    assert list(tmp_path.iterdir()) == []


def test_signal_to_the_command_stops_its_workers(command):
    """Which leaves Ctrl-C to others afterwards."""
    program = f"import os, sys; os.kill(os.getppid(), {signal.SIGTERM}); sys.stdin.read(); sys.exit(3)"
    assert command(program) == 3
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_log_file_is_appended_to_by_all_processes(command, tmp_path, monkeypatch):
    """Also if it is begun anew: LOG_FILE_APPEND=0."""
    path = tmp_path / "crawl.log"
    handler = logging.FileHandler(path, "w", encoding="utf-8")
    monkeypatch.setattr(logging.root, "handlers", [handler])
    logging.getLogger("a").warning("begins")
    program = f"open({str(path)!r}, 'a').write('reads\\n'); import os; os.kill(os.getpid(), {signal.SIGKILL})"
    assert command(program, LOG_FILE=str(path)) == 1
    handler.close()
    lines = path.read_text("utf-8").splitlines()
    assert lines[:2] == ["begins", "reads"]
    assert lines.count("reads") == 5
    assert "like 4 workers before it" in lines[-1]


@pytest.mark.parametrize(("settings", "logged"), [({}, False), ({"LOG_FILE": "crawl.log"}, True)])
def test_reason_why_the_command_ends_is_an_error(settings, logged, tmp_path, capsys, caplog):
    LocalWorkers(Settings(settings), tmp_path).fail("nothing works")
    assert capsys.readouterr().err == "Error: nothing works\n"
    assert ("nothing works" in caplog.text) == logged


# Whom the command starts and replaces, and how it ends


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(several_workers, "INTERVAL_S", 0.0)


class Process:
    """One that does not run; it ends when a test says so."""

    def __init__(self, pid, on_stop):
        self.pid, self._on_stop = pid, on_stop
        self.is_stopped = self.is_killed = False
        self.ended = asyncio.get_running_loop().create_future()

    def end(self, status=0):
        if not self.ended.done():
            self.ended.set_result(status)

    def stop(self):
        self.is_stopped = True
        self._on_stop(self)

    def send(self, number):
        assert number == signal.SIGKILL
        self.is_killed = True
        self.end(-number)


class Group:
    """Workers that do what a test says: *on_start* is called with each, *on_all* when *number* of them have begun."""

    def __init__(self, number, on_start=None, on_all=None, on_stop=Process.end):
        self.number = number
        self.started = []  # all processes, in order
        self.places, self.crawls = [], []  # of them, and that they were told to join
        self.shown, self.errors = [], []
        self.joined = {}
        self.on_stop = on_stop
        self._on_start, self._on_all = on_start or Group.join, on_all

    def run(self):
        async def run():
            self.supervisor = Supervisor(self.number, self)
            return await self.supervisor.run()

        return asyncio.run(run())

    async def start(self, place, crawl_id):
        process = Process(100 + len(self.started), lambda process: self.on_stop(process))
        self.started.append(process)
        self.places.append(place)
        self.crawls.append(crawl_id)
        self._on_start(self, process)
        if len(self.started) == self.number and self._on_all is not None:
            asyncio.get_running_loop().call_soon(self._on_all, self)
        return process

    def join(self, process, pages=1, **course):
        self.joined[process.pid] = ProcessRow(
            process.pid - 90, CRAWL_ID, pages, **{"is_running": True, "goes_on": True, **course}
        )

    def find(self, process):
        return self.joined.get(process)

    def show(self, crawl_id):
        self.shown.append(crawl_id)

    def fail(self, message):
        self.errors.append(message)


def end_all(group):
    for process in group.started:
        process.end()


def warnings(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_crawl_that_ends_at_once_needs_no_others():
    group = Group(4, lambda group, process: process.end())
    assert (group.run(), group.places) == (0, [1])


def test_others_join_the_crawl_of_the_first_one_which_is_shown():
    group = Group(3, on_all=end_all)
    assert (group.run(), group.places, group.crawls) == (0, [1, 2, 3], [None, CRAWL_ID, CRAWL_ID])
    assert group.shown == [CRAWL_ID]


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [((0, 0, 0), 0), ((0, 3, 0), 3), ((0, 3, 2), 2), ((2, 0, 3), 2), ((3, 3, 3), 3), ((STORE_FAILED, 2, 0), 1)],
)
def test_exit_status_is_the_worst_of_the_workers(statuses, worst):
    """Nobody is started in the place of one that ended by itself, or whose store failed: others would fail, too."""

    def end(group):
        for process, status in zip(group.started, statuses, strict=True):
            process.end(status)

    group = Group(3, on_all=end)
    assert (group.run(), len(group.places)) == (worst, 3)


@pytest.mark.parametrize(
    ("status", "how"),
    [(-9, "was ended by SIGKILL"), (1, "ended with status 1"), (-70, "was ended by signal 70"), (120, "status 120")],
)
def test_worker_that_dies_is_replaced_with_one_warning(status, how, caplog):
    def start(group, process):
        group.join(process)
        if len(group.started) == 3:
            end_all(group)

    group = Group(2, start, lambda group: group.started[1].end(status))
    assert (group.run(), group.places, group.crawls[-1]) == (0, [1, 2, 2], CRAWL_ID)
    (warning,) = warnings(caplog)
    assert warning.startswith("Worker 11 (process 101) ")
    assert warning.endswith("; another one takes its place")
    assert how in warning


@pytest.mark.parametrize("has_joined", [True, False])
def test_worker_that_dies_again_and_again_without_a_page_ends_the_command(has_joined):
    def die(group, process):
        if process is group.started[0] or has_joined:
            group.join(process, pages=0)
        if process is not group.started[0]:
            process.end(-signal.SIGSEGV)

    group = Group(2, die)
    assert group.run() == 1
    assert group.places == [1] + [2] * MAX_DEATHS
    assert group.started[0].is_stopped
    (error,) = group.errors
    assert "was ended by SIGSEGV, like 4 workers before it that read no page either" in error


def test_worker_that_read_pages_is_replaced_as_often_as_it_dies():
    deaths = 2 * MAX_DEATHS

    def die(group, process):
        group.join(process)
        process.end(-signal.SIGKILL if len(group.started) <= deaths else 0)

    group = Group(1, die)
    assert (group.run(), len(group.started), group.errors) == (0, deaths + 1, [])


def ask(number):
    """Return what sends a signal to the command."""
    return lambda group: group.supervisor.ask(number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_stops_all_workers_and_the_command_waits_for_them(number, caplog):
    caplog.set_level(logging.INFO)
    group = Group(3, on_all=ask(number))
    assert group.run() == 0
    assert all(process.is_stopped and not process.is_killed for process in group.started)
    assert f"Received {number.name}; stopping 3 workers gracefully" in caplog.text


def test_nobody_is_started_after_a_signal():
    def start(group, process):
        group.join(process)
        asyncio.get_running_loop().call_soon(group.supervisor.ask, signal.SIGINT)

    group = Group(4, start)
    assert (group.run(), group.places) == (0, [1])


def test_second_signal_ends_everything_at_once_although_the_store_does_not_respond():
    """One process has died; before it is replaced, the supervisor looks at the store."""
    has_ended = threading.Event()

    def find(process):
        if len(group.started) < 3:
            return group.joined[process]
        for _ in range(3):
            loop.call_soon_threadsafe(group.supervisor.ask, signal.SIGINT)
        assert has_ended.wait(PATIENCE_S)

    def die(group):
        nonlocal loop
        loop = asyncio.get_running_loop()
        group.started[1].end(-signal.SIGKILL)

    loop = None
    group = Group(3, on_all=die, on_stop=lambda process: None)
    group.find = find
    assert group.run() == 1
    has_ended.set()
    assert [process.is_killed for process in group.started] == [True, False, True]
    assert group.supervisor.is_forced


@pytest.mark.parametrize(("is_running", "end_of_last"), [(True, 0), (True, -signal.SIGKILL), (False, None)])
def test_one_more_worker_ends_a_crawl_whose_last_one_was_lost_while_it_was_stopping(is_running, end_of_last, caplog):
    """The other one left before the server noticed that this one had died."""
    caplog.set_level(logging.INFO)

    def stop(process):
        if process is group.started[1]:
            group.join(process, is_running=is_running)
        process.end({100: 0, 101: -signal.SIGKILL}.get(process.pid, end_of_last))

    group = Group(2, on_all=ask(signal.SIGTERM), on_stop=stop)
    assert (group.run(), group.places) == (1, [1, 2, 1] if is_running else [1, 2])
    assert group.crawls[-1] == CRAWL_ID
    assert all(process.is_stopped for process in group.started)
    assert ("one more is started to write them" in caplog.text) == is_running


def test_worker_that_dies_when_others_have_asked_the_crawl_to_stop_is_not_replaced(caplog):
    def die(group):
        group.join(group.started[1], goes_on=False, is_running=False)
        group.started[1].end(-signal.SIGKILL)
        group.started[0].end()

    group = Group(2, on_all=die)
    assert (group.run(), group.places) == (1, [1, 2])
    assert "was ended by SIGKILL while the crawl was stopping; the same command resumes it" in warnings(caplog)[0]


def test_bug_of_a_look_at_the_store_ends_the_command():
    group = Group(2)
    group.find = lambda process: 1 // 0
    with pytest.raises(ExceptionGroup) as caught:
        group.run()
    assert caught.group_contains(ZeroDivisionError)


WAITS = "import sys; print('up', flush=True); sys.stdin.read(); print('down')"


def ended(program, act=lambda process, line: None):
    """Return the lines of a program, those of standard output with True, and its status."""
    lines = []

    async def run():
        def write(line, is_output):
            lines.append((line, is_output))
            act(process, line)

        process = WorkerProcess(write)  # its first lines may come before subprocess_exec returns
        command = [sys.executable, "-c", program]
        await asyncio.get_running_loop().subprocess_exec(lambda: process, *command, process_group=0)
        async with asyncio.timeout(PATIENCE_S):
            status = await process.ended
        process.stop()  # harmless, as is
        process.send(signal.SIGKILL)
        return status

    return lines, asyncio.run(run())


def test_lines_are_those_of_the_program_whatever_it_writes():
    program = (
        "import sys\n"
        "sys.stdout.buffer.write(b'one\\r\\n\\xff\\nend'); sys.stdout.flush()\n"
        f"sys.stderr.write('x' * {3 * MAX_LINE_BYTES}); sys.exit(3)"
    )
    lines, status = ended(program)
    assert status == 3
    assert [line for line, is_output in lines if is_output] == ["one", "\\xff", "end"]
    divided = [line for line, is_output in lines if not is_output]
    assert len(divided) > 1
    assert "".join(divided) == "x" * 3 * MAX_LINE_BYTES


def test_signal_that_ended_it_is_a_negative_status():
    assert ended("import os, signal; os.kill(os.getpid(), signal.SIGKILL)") == ([], -signal.SIGKILL)


def test_stop_ends_its_input():
    assert ended(WAITS, lambda process, line: process.stop()) == ([("up", True), ("down", True)], 0)


def test_kill_ends_it_with_the_programs_that_it_started(monkeypatch):
    monkeypatch.setattr(several_workers, "LAST_LINES_S", PATIENCE_S)  # else a surviving program would go unnoticed
    lasts = "import signal; print('up', flush=True); signal.pause()"
    starts = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {lasts!r}])"
    assert ended(starts, lambda process, line: process.send(signal.SIGKILL)) == ([("up", True)], -signal.SIGKILL)


def test_program_that_survives_it_and_goes_on_writing_does_not_delay_its_end_for_ever(monkeypatch):
    monkeypatch.setattr(several_workers, "LAST_BYTES", 10)
    monkeypatch.setattr(several_workers, "LAST_LINES_S", 0.1)
    writes = "import os\nprint(os.getpid(), flush=True)\nwhile True: print('line', flush=True)"
    program = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {writes!r}])"
    lines, status = ended(program)
    assert status == 0
    assert {line for line, _ in lines[1:]} == {"line"}  # until its pipe is closed, which ends it


def test_store_that_does_not_come_back_in_time_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="does not exist"):
        wait_for_store(f"sqlite:///{tmp_path / 'crawl.sqlite'}", 0.0, Event())


def test_the_same_command_begins_again_and_knows_its_crawl(monkeypatch):
    begun = []
    monkeypatch.setattr(os, "execve", lambda *command: begun.append(command))
    monkeypatch.setattr(sys, "orig_argv", ["python", "-W", "error", "-m", "scrapy", "crawl", "sitegraph"])
    monkeypatch.setattr("logging.shutdown", lambda: None)
    monkeypatch.setenv(CRAWL, "")
    begin_again(7)
    path, command, variables = begun[0]
    assert path == sys.executable
    assert command == [sys.executable, "-W", "error", "-m", "scrapy", "crawl", "sitegraph"]
    assert variables[CRAWL] == "7"
