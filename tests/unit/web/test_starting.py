"""Processes that the panel starts."""

import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from crawlers.errors import ConfigError
from crawlers.inputs.crawl_command import CrawlCommand
from crawlers.web import starting
from crawlers.web.starting import RECORD, Job, JobRecord, LocalStarter, crawl_folder
from tests.support.processes import until

COMMAND = CrawlCommand("sitegraph", {"hosts": "logs/panel/spring/hosts.txt"}, {"RULE": "a b; touch x"})
FILES = {"hosts": b"http://a.test\n"}
WAIT = "import pathlib, time\nwhile not pathlib.Path('{}').exists(): time.sleep(0.01)"
BEGIN = """
    import sqlite3, time
    connection = sqlite3.connect("crawl.sqlite", timeout=60)
    connection.execute("INSERT INTO crawl (name, mission, state, started_at, manifest, run_started_at)"
        " VALUES ('spring', 'sitegraph', 'running', 0, '{}', ?)", (time.time() + 1,))
    connection.commit()
"""


@pytest.fixture
def run(sqlite, tmp_path):
    """Return a function that starts a program in place of scrapy."""

    def started(*programs, name="spring", files=FILES, passed_on=()):
        code = "\n".join(textwrap.dedent(program) for program in programs)
        return LocalStarter(sqlite, tmp_path, passed_on, (sys.executable, "-c", code), lambda: 1e9)

    return started


def told(starter):
    return [(one.crawl, one.ended_at, one.status, one.why, one.crawl_id) for one in starter.endings()]


def test_module_in_the_folder_of_the_panel_hides_none_of_python(run, tmp_path):
    for name in ("json", "scrapy", "crawlers"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('Error: ours')", "utf-8")
    say = "import json, scrapy, crawlers, sys; sys.exit(f'Error: {sys.flags.safe_path}')"
    with pytest.raises(ConfigError, match=r"^True$"):
        run(say).start("spring", COMMAND, FILES)


def test_crawl_that_begins_late_is_found(run, monkeypatch, tmp_path):
    monkeypatch.setattr(starting, "PATIENCE_S", 0.0)
    starter = run(WAIT.format("begin"), BEGIN, WAIT.format("end"))
    assert isinstance(starter.start("spring", COMMAND, FILES), str)
    (tmp_path / "begin").touch()
    try:
        until(lambda: not starter.endings() and JobRecord(tmp_path / RECORD).jobs()[0].crawl_id == 1, "its crawl")
    finally:
        (tmp_path / "end").touch()
    until(lambda: bool(starter.endings()), "the end of the process")
    assert [ending.crawl_id for ending in starter.endings()] == [1]


def test_command_that_can_not_begin_says_why(run, tmp_path):
    code = "print('INFO: Error: x')\nimport sys\nprint('Error: RULE=x is wrong\\nhosts=y too')\nsys.exit(2)"
    starter = run(code)
    with pytest.raises(ConfigError, match=r"^RULE=x is wrong\nhosts=y too$"):
        starter.start("spring", COMMAND, FILES)
    ending = ("spring", 1e9, 2, "RULE=x is wrong\nhosts=y too", None)
    assert told(starter) == [ending]
    assert told(run("")) == [ending]  # of a later panel
    assert [path.name for path in (tmp_path / "logs/panel/spring").glob("*.log")] == ["2001-09-09T01-46-40Z.log"]


def test_end_that_no_panel_has_seen_is_read_from_the_log(run, tmp_path):
    record, log = JobRecord(tmp_path / RECORD), tmp_path / "logs/panel/spring/1.log"
    record.add(Job("spring", "logs/panel/spring/1.log"))
    starter = run("")
    assert starter.endings() == []  # its log is gone
    log.parent.mkdir(parents=True)
    log.write_text("2026 INFO: begins\n", "utf-8")
    assert starter.endings() == []  # the store tells what became of its crawl
    log.write_text("2026 INFO: begins\nError: RULE=x is wrong", "utf-8")
    [ending] = starter.endings()
    assert (ending.crawl, ending.status, ending.why) == ("spring", None, "RULE=x is wrong")


def test_second_process_of_a_crawl_is_refused_while_the_first_runs(run, monkeypatch, tmp_path):
    monkeypatch.setattr(starting, "PATIENCE_S", 0.0)
    monkeypatch.setattr(starting, "CLOSING_S", 0.0)
    starter = run(WAIT.format("end"))
    log = "logs/panel/spring/2001-09-09T01-46-40Z.log"
    assert starter.start("spring", COMMAND, FILES) == f"The crawl spring has not begun yet; its log is {log}."
    try:
        with pytest.raises(ConfigError, match="the crawl spring is running; stop it first"):
            starter.start("spring", COMMAND, FILES)
    finally:
        (tmp_path / "end").touch()
    until(lambda: bool(starter.endings()), "the end of the process")
    assert isinstance(starter.start("spring", COMMAND, FILES), str)


def test_process_that_is_about_to_end_is_waited_for(run, monkeypatch, tmp_path):
    monkeypatch.setattr(starting, "PATIENCE_S", 0.0)
    monkeypatch.setattr(starting, "CLOSING_S", 120.0)
    starter = run(WAIT.format("end"))
    starter.start("spring", COMMAND, FILES)
    with ThreadPoolExecutor() as threads:
        second = threads.submit(starter.start, "spring", COMMAND, FILES)
        (tmp_path / "end").touch()
        assert isinstance(second.result(), str)


def test_start_that_is_asked_for_twice_at_once_is_one(run, monkeypatch, tmp_path):
    monkeypatch.setattr(starting, "PATIENCE_S", 120.0)
    starter = run("import os, pathlib\npathlib.Path(f'{os.getpid()}.pid').touch()", WAIT.format("begin"), BEGIN)
    with ThreadPoolExecutor() as threads:
        outcomes = [threads.submit(starter.start, "spring", COMMAND, FILES)]
        until(lambda: list(tmp_path.glob("*.pid")), "the process")
        outcomes += [threads.submit(starter.start, "spring", COMMAND, dict(FILES)) for _ in range(3)]
        with pytest.raises(ConfigError, match="the crawl spring is being started"):
            starter.start("spring", COMMAND, {})
        (tmp_path / "begin").touch()
        assert [one.result() for one in outcomes] == [1] * 4
    assert len(list(tmp_path.glob("*.pid"))) == 1


def test_process_that_can_not_be_recorded_is_not_started(run, tmp_path):
    (tmp_path / RECORD).mkdir(parents=True)
    starter = run("import pathlib\npathlib.Path('begun').touch()", BEGIN)
    with pytest.raises(ConfigError, match=r"jobs\.jsonl can't be used: Is a directory; check its folder"):
        starter.start("spring", COMMAND, FILES)
    assert starter.endings() == []
    assert not (tmp_path / "begun").exists()


def test_name_that_is_no_folder_of_ours_is_refused_and_a_crawl_of_another_name_begins(run, tmp_path):
    starter = run(BEGIN)
    for name in ("", "..", "..", ".", "../x", "a/b", "-x", "a\0b", "a" * 81, "_", "jobs.jsonl"):
        assert crawl_folder(tmp_path, name) is None
        with pytest.raises(ConfigError, match="can't name a folder"):
            starter.start(name, COMMAND, FILES)
    assert not (tmp_path / "logs").exists()
    assert starter.start("spring", COMMAND, FILES) == 1
