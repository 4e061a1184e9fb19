"""Processes that the panel starts, what is recorded of them, and their logs."""

from __future__ import annotations

import json
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from crawlers.errors import ConfigError
from crawlers.inputs.program import CrawlCommand
from crawlers.web import starting
from crawlers.web.starting import (
    MAX_BYTES,
    MAX_LINES,
    RECORD,
    Job,
    JobRecord,
    LocalStarter,
    ScrapydStarter,
    crawl_folder,
    end_of_log,
)
from tests.support.processes import until
from tests.support.sites.server import Web

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

    def started(*programs):
        code = "\n".join(textwrap.dedent(program) for program in programs)
        return LocalStarter(sqlite, tmp_path, (), (sys.executable, "-c", code), lambda: 1e9)

    return started


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
    for panel in (starter, run("")):  # and a later one
        [ending] = panel.endings()
        assert (ending.crawl, ending.ended_at, ending.status, ending.crawl_id) == ("spring", 1e9, 2, None)
        assert ending.why == "RULE=x is wrong\nhosts=y too"
    assert [path.name for path in (tmp_path / "logs/panel/spring").glob("*.log")] == ["2001-09-09T01-46-40Z.log"]


def test_end_that_no_panel_has_seen_is_read_from_the_log(run, own, record):
    record(crawl_id=None)
    starter = run("")
    assert starter.endings() == []  # its log is gone
    (own / "1.log").write_text("2026 INFO: begins\n", "utf-8")
    assert starter.endings() == []  # the store tells what became of its crawl
    (own / "1.log").write_text("2026 INFO: begins\nError: RULE=x is wrong", "utf-8")
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


# What the panel has started is known to the next one


def test_what_becomes_of_a_job_is_added_to_what_is_known(tmp_path):
    record = JobRecord(tmp_path / "jobs.jsonl")
    for log in ("1.log", "2.log"):
        record.add(Job("spring", log, since=3.0))
    record.change("1.log", crawl_id=7)
    record.change("1.log", ended_at=5.0, status=2, why="why")
    record.change("3.log", why="nobody has begun it")
    assert record.jobs() == [Job("spring", "1.log", 5.0, 2, "why", 3.0, 7), Job("spring", "2.log", since=3.0)]


def test_lines_that_are_damaged_or_cut_are_left_out(tmp_path):
    path = tmp_path / "jobs.jsonl"
    path.write_bytes(b"x" * MAX_BYTES + b'\n\xff\n{"crawl": 1\n{"other": 1}\n[]\n')
    record = JobRecord(path)
    for crawl in "abc":
        record.add(Job(crawl, f"{crawl}.log"))
        path.write_bytes(path.read_bytes() + b'{"crawl": "cut')
    assert record.jobs() == [Job(crawl, f"{crawl}.log") for crawl in "cba"]


# Logs in the browser: bounded, and only those of the crawl


@pytest.fixture
def own(tmp_path):
    """The folder of a crawl."""
    folder = tmp_path / "logs/panel/spring"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def record(tmp_path):
    """Return a function that records a log of a crawl."""

    def recorded(log="logs/panel/spring/1.log", crawl_id=1, name="spring"):
        JobRecord(tmp_path / RECORD).add(Job(name, log, crawl_id=crawl_id))

    return recorded


def test_latest_log_of_the_crawl_is_read_and_not_that_of_another_one_of_its_name(tmp_path, own, record):
    for number, (crawl_id, text) in enumerate([(1, "old\n"), (1, "new\nlast\n"), (9, "other\n"), (None, "refused\n")]):
        log = f"logs/panel/spring/{number}.log"
        (tmp_path / log).write_text(text)
        record(log, crawl_id)
    assert end_of_log(tmp_path, 1) == ("logs/panel/spring/1.log", ["new", "last"], False)
    assert end_of_log(tmp_path, 9).lines == ["other"]
    assert end_of_log(tmp_path, 2) is None


def test_long_log_is_cut(tmp_path, own, record):
    record()
    (own / "1.log").write_text("".join(f"line {number}\n" for number in range(100_000)))
    end = end_of_log(tmp_path, 1)
    assert end.is_cut
    assert (len(end.lines), end.lines[-1]) == (MAX_LINES, "line 99999")


@pytest.mark.parametrize(
    ("name", "log"),
    [
        ("summer", "logs/panel/summer/1.log"),
        ("summer", "logs/panel/spring/1.log"),
        ("..", "logs/panel/../1.log"),
        ("../panel/spring", "logs/panel/spring/1.log"),
        ("spring", "/etc/passwd"),
        ("spring", "logs/panel/spring/../../x.log"),
        ("spring", "logs/panel/spring/hosts.txt"),
        ("spring", "sitegraph/6487ec79947edab326d6db28a2d86511e8247444"),
        ("", "1.log"),
    ],
)
def test_other_files_are_no_logs(tmp_path, own, record, name, log):
    (own / "1.log").write_text("x")
    (own / "hosts.txt").write_text("x")
    (tmp_path / "logs/x.log").write_text("x")
    record(log, name=name)
    assert end_of_log(tmp_path, 1) is None


def test_links_to_other_files_are_not_read(tmp_path, own, record):
    record()
    (tmp_path / "secret").write_text("secret")
    (own / "1.log").symlink_to(tmp_path / "secret")
    assert end_of_log(tmp_path, 1) is None


def test_folder_that_leads_elsewhere_is_not_read(tmp_path):
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "panel"
    elsewhere.mkdir()
    (elsewhere / "1.log").write_text("secret")
    (folder / "logs/panel").mkdir(parents=True)
    (folder / "logs/panel/spring").symlink_to(elsewhere)
    JobRecord(folder / RECORD).add(Job("spring", "logs/panel/spring/1.log", crawl_id=1))
    assert end_of_log(folder, 1) is None


SCRAPYD_COMMAND = CrawlCommand("extlinks", {}, {})


@pytest.fixture
def starter(sqlite, tmp_path):
    """A starter whose scrapyd answers everything with the bytes in `answer`."""

    async def respond(exchange):
        await exchange.page(starter.answer)

    with Web(scrapyd=respond) as web:
        starter = ScrapydStarter(sqlite, web["scrapyd"].origin, tmp_path, timeout_s=0.0)
        yield starter


GARBAGE = [b"", b"<html>", b"\xff", b"[" * 100_000, b"null", b"[]"]
GARBAGE += [b'{"status": "ok"}', b'{"status": "ok", "jobid": 7}']


@pytest.mark.parametrize("answer", GARBAGE, ids=lambda answer: answer[:20].decode("latin-1"))
def test_garbage_is_one_sentence(starter, answer):
    starter.answer = answer
    with pytest.raises(ConfigError, match=r"scrapyd at .* (refuses the job: its response is not JSON|names no job)"):
        starter.start("spring", SCRAPYD_COMMAND, {})


OTHERS = [[None, 7, {}], [{"id": 7, "end_time": None}], [{"id": "other", "end_time": "2026-11-23 05:00:00"}]]


@pytest.mark.parametrize("finished", [None, 7, {}, *OTHERS], ids=str)
def test_list_without_the_job_tells_no_end(starter, tmp_path, finished):
    JobRecord(tmp_path / RECORD).add(Job("spring", "extlinks/a"))
    starter.answer = json.dumps({"status": "ok", "finished": finished}).encode()
    assert starter.endings() == []


def test_job_that_was_closed_and_complains_of_nothing_has_succeeded(starter, tmp_path):
    record = JobRecord(tmp_path / RECORD)
    record.add(Job("spring", "extlinks/a"))
    said = "2026-11-23 05:00:01 [scrapy.core.engine] INFO: Spider closed (finished)"
    listed = {"status": "ok", "finished": [{"id": "a", "end_time": "2026-11-23 05:00:00"}], "message": said}
    starter.answer = json.dumps(listed).encode()
    [ending] = starter.endings()
    assert (ending.status, ending.why) == (0, "")
    starter.answer = b""
    assert starter.endings() == [ending]
    assert record.jobs()[0].status == 0
