"""Processes that the panel starts."""

from __future__ import annotations

import json
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from crawlers.errors import ConfigError
from crawlers.inputs.crawl_command import CrawlCommand
from crawlers.web import starting
from crawlers.web.starting import Begun, LocalStarter, Pending, Refused, crawl_folder
from tests.support.processes import until

COMMAND = CrawlCommand("sitegraph", {"hosts": "logs/panel/spring/hosts.txt"}, {"RULE": "a b; touch x"})
FILES = {"hosts": b"http://a.test\n"}
SAY = """
    import json, sys, pathlib
    pathlib.Path("said.json").write_text(json.dumps(sys.argv[1:]))
"""
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


def test_crawl_that_has_begun_is_returned(run):
    assert run(BEGIN).start("spring", COMMAND, FILES) == Begun(1)


def test_words_reach_the_program_as_they_are(run, tmp_path):
    run(SAY, BEGIN, passed_on=("-s", "DATABASE_URL=x")).start("spring", COMMAND, FILES)
    hosts = ["-a", "hosts=logs/panel/spring/hosts.txt"]
    own = ["-s", "RULE=a b; touch x", "-s", "CRAWL=spring", "-s", "DATABASE_URL=x"]
    assert json.loads((tmp_path / "said.json").read_text()) == ["crawl", "sitegraph", *hosts, *own]
    assert (tmp_path / "logs/panel/spring/hosts.txt").read_bytes() == FILES["hosts"]
    assert not (tmp_path / "x").exists()


def test_command_that_can_not_begin_says_why(run, tmp_path):
    code = "print('INFO: Error: x')\nimport sys\nprint('Error: RULE=x is wrong\\nhosts=y too')\nsys.exit(2)"
    starter = run(code)
    assert starter.start("spring", COMMAND, FILES) == Refused("RULE=x is wrong\nhosts=y too")
    assert starter.endings() == [("spring", 1e9, 2)]
    assert [path.name for path in (tmp_path / "logs/panel/spring").glob("*.log")] == ["2001-09-09T01-46-40Z.log"]


def test_command_that_says_nothing_is_refused_all_the_same(run):
    assert run("").start("spring", COMMAND, FILES) == Refused("The command has ended without a word.")


def test_second_process_of_a_crawl_is_refused_while_the_first_runs(run, monkeypatch, tmp_path):
    monkeypatch.setattr(starting, "PATIENCE_S", 0.0)
    monkeypatch.setattr(starting, "CLOSING_S", 0.0)
    wait = "import pathlib, time\nwhile not pathlib.Path('end').exists(): time.sleep(0.01)"
    starter = run(wait)
    log = "logs/panel/spring/2001-09-09T01-46-40Z.log"
    assert starter.start("spring", COMMAND, FILES) == Pending(f"The crawl spring has not begun yet; its log is {log}.")
    try:
        with pytest.raises(ConfigError, match="the crawl spring is running; stop it first"):
            starter.start("spring", COMMAND, FILES)
    finally:
        (tmp_path / "end").touch()
    until(lambda: bool(starter.endings()), "the end of the process")
    assert isinstance(starter.start("spring", COMMAND, FILES), Pending)


def test_process_that_is_about_to_end_is_waited_for(run, monkeypatch, tmp_path):
    monkeypatch.setattr(starting, "PATIENCE_S", 0.0)
    monkeypatch.setattr(starting, "CLOSING_S", 120.0)
    starter = run("import pathlib, time\nwhile not pathlib.Path('end').exists(): time.sleep(0.01)")
    starter.start("spring", COMMAND, FILES)
    with ThreadPoolExecutor() as threads:
        second = threads.submit(starter.start, "spring", COMMAND, FILES)
        (tmp_path / "end").touch()
        assert isinstance(second.result(), Pending)


@pytest.mark.parametrize("name", ["", "..", ".", "../x", "a/b", "-x", "a\0b", "a" * 81, "_"])
def test_name_that_is_no_folder_of_ours_is_refused(run, tmp_path, name):
    assert crawl_folder(tmp_path, name) is None
    with pytest.raises(ConfigError, match="can't name a folder"):
        run(BEGIN).start(name, COMMAND, FILES)
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize("name", ["spring", "весна 2026", "a+b.c-d_e", "7"])
def test_other_names_are_folders(tmp_path, name):
    assert crawl_folder(tmp_path, name) == tmp_path / "logs/panel" / name


def test_folder_that_can_not_be_made_is_one_sentence(run, tmp_path):
    (tmp_path / "logs").write_text("a file")
    with pytest.raises(ConfigError, match=r"can't be used: .*; check its folder"):
        run(BEGIN).start("spring", COMMAND, FILES)
