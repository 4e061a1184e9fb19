"""`scrapy sites` manages the seeds, shows the results of their last crawls, and reports errors in one sentence."""

import os
import sys

import pytest
from scrapy.exceptions import UsageError

from crawlers.commands.sites import Command
from tests.support.command_here import run_here
from tests.support.running import Project

LIST = (
    "\ufeffNumber;Full name;Short name;Start URL;Enabled;Parallel;Max level;Delay ms\n"
    "5;Zoological Institute;ZIN;http://zin.example/ru/;yes;2;;500\n"
    ";Botanical Institute;BIN;https://bin.example;no;;3;\n"
)


def seeds(project):
    columns = "id, start_url, short_name, enabled, parallel, max_level, delay_s"
    return project.query(f"SELECT {columns} FROM seed ORDER BY id")


def test_site_is_added_with_names_and_limits_and_updated_with_new_ones(project):
    names = ("--name", "Zoological  Institute", "--short", "ZIN")
    outcome = project.run("sites", "add", "http://zin.example/ru/", *names, "--parallel", "2", "--delay", "500")
    assert (outcome.status, outcome.output) == (0, "1 http://zin.example/ru/ added\n"), outcome.log
    outcome = project.run("sites", "add", "zin.example/ru/", "--max-level", "3", "--short", "")
    assert outcome.output == "1 http://zin.example/ru/ changed\n"
    assert project.run("sites", "add", "zin.example/ru/").output == "1 http://zin.example/ru/ unchanged\n"
    assert seeds(project) == [(1, "http://zin.example/ru/", None, 1, 2, 3, 0.5)]
    assert project.query("SELECT name FROM seed") == [("Zoological Institute",)]


@pytest.mark.both_stores
def test_seeds_are_imported_listed_disabled_exported_and_removed(project):
    (project.folder / "list.csv").write_text(LIST, encoding="utf-8")
    outcome = project.run("sites", "import", "list.csv")
    assert outcome.output == "5 http://zin.example/ru/ added\n6 https://bin.example/ added\n", outcome.log
    listed = project.run("sites", "list").output.splitlines()
    assert listed[1].split()[:7] == ["5", "http://zin.example/ru/", "ZIN", "Zoological", "Institute", "yes", "not"]
    assert listed[2:] == ["1 more site is not enabled; --all shows it"]
    assert len(project.run("sites", "list", "--all").output.splitlines()) == 3
    assert project.run("sites", "enable", "BIN").output == "6 https://bin.example/ enabled\n"
    assert project.run("sites", "disable", "5", "bin.example").status == 0
    assert [row[3] for row in seeds(project)] == [0, 0]

    before = seeds(project)
    assert project.run("sites", "export", "out.csv").output == "out.csv: 2 seeds\n"
    assert project.run("sites", "export").output == (project.folder / "out.csv").read_bytes().decode().replace("\r", "")
    assert project.run("sites", "remove", "ZIN", "https://bin.example").status == 0
    said = project.run("sites", "list", "--all").output
    assert said == "no seeds yet; add some: scrapy sites add http://example.org\n"
    assert project.run("sites", "import", "out.csv").status == 0
    assert seeds(project) == before


def test_list_shows_the_results_of_the_last_crawl(crawled):
    project, first_site, second_site = crawled
    hidden = project.run("sites", "list")
    assert hidden.output == "2 sites are not enabled; --all shows them\n", hidden.log
    rows = {line.split()[1]: line.split()[4:] for line in project.run("sites", "list", "--all").output.splitlines()[1:]}
    # First: home, a, copy, copy, leaf, b, landed; one external URL. Second: home and x; two URLs of the first.
    common = ["no", "available", "-"]
    assert rows[f"{first_site}/"] == [*common, "7", "1", "-", "1", "1"]
    assert rows[f"{second_site}/"] == [*common, "2", "0", "-", "1", "2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list"], "does not exist; scrapy sites add URL begins it, or name the right file"),
        (["export"], "does not exist; scrapy sites add URL begins it, or name the right file"),
        (["add", "ftp://a.example"], "'ftp://a.example': unsupported protocol 'ftp'; expected http or https"),
        (["add", "a.example", "b.example", "--name", "A"], "need one site, got 2"),
        (["add", "a.example", "http://a.example/x"], "http://a.example is given twice"),
        (["add", "a.example", "--parallel", "many"], "parallel is 'many', expected a whole number from 1 to 1000"),
        (["import", "nowhere.csv"], "nowhere.csv cannot be read: No such file"),
        (["import", "latin.csv"], "latin.csv is not UTF-8 text"),
    ],
)
def test_invalid_input_is_one_sentence_and_changes_nothing(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.csv").write_bytes(b"start_url\nhttp://\xe9.example\n")
    assert run_here(Command(), Project(tmp_path).database_url, *arguments) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert error.startswith("Error: ")
    assert message in error
    assert not (tmp_path / "crawl.sqlite").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected one of: add, list, remove"),
        (["burn"], "expected one of: add, list, remove"),
        (["add"], "sites add: expected at least 1 argument, got 0"),
        (["list", "x"], "sites list: expected at most 0 arguments, got 1"),
        (["import", "a", "b"], "sites import: expected at most 1 argument, got 2"),
        (["remove", "x", "--name", "X"], "sites remove has no option --name"),
        (["export", "--all"], "sites export has no option --all"),
        (["add", "a.example", "--colour"], "unknown option --colour"),
    ],
)
def test_invalid_command_line_is_reported(tmp_path, arguments, message):
    with pytest.raises(UsageError, match=message):
        run_here(Command(), Project(tmp_path).database_url, *arguments)


def test_closed_standard_output_is_not_an_error(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    assert run_here(Command(), project.database_url, "add", "http://a.example") == 0
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert run_here(Command(), project.database_url, "list") == 0
        many = (f"http://{number}.example" for number in range(1000))
        assert run_here(Command(), project.database_url, "add", *many) == 0
