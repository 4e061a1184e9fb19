"""The program `crawlers` takes missions and commands, and says what is wrong in one sentence."""

import os
import re

import pytest
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader

from crawlers import __main__ as program
from crawlers import __version__, settings
from crawlers.mission import missions


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the program up to Scrapy; return its exit status, its output, and the words that Scrapy gets."""

    def result(*arguments):
        given = []
        monkeypatch.setattr(program.sys, "argv", ["crawlers", *arguments])  # which the program replaces
        monkeypatch.setattr(program.cmdline, "execute", lambda: given.extend(program.sys.argv[1:]))
        monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "somebody.elses")
        status = program.run(list(arguments))
        assert os.environ["SCRAPY_SETTINGS_MODULE"] == "crawlers.settings"
        return status, *capsys.readouterr(), given

    return result


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",), ("help",)])
def test_help_is_short_and_names_every_mission_and_command(run, arguments):
    status, output, errors, _ = run(*arguments)
    assert (status, errors) == (0, "")
    assert len(output.splitlines()) <= 20
    spiders = SpiderLoader.from_settings(Settings({"SPIDER_MODULES": settings.SPIDER_MODULES})).list()
    assert sorted(missions()) == sorted(spiders)
    for word in (*spiders, "graph", "explain", "sites", "lab", "-s", "-a", "-O", "--settings-file"):
        assert re.search(rf"(?<!\w){word}\b", output), word


def test_version_is_that_of_the_package(run):
    assert run("--version")[1].startswith(f"crawlers {__version__} (Scrapy ")


@pytest.mark.usefixtures("plain_missions")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plain", "a.example", "-s", "MAX_LEVEL=1"], ["crawl", "plain", "a.example", "-s", "MAX_LEVEL=1"]),
        (["wide"], ["crawl", "wide"]),
        (["graph", "a.example", "--format", "csv"], ["graph", "a.example", "--format", "csv"]),
        (["sites", "add", "a.example"], ["sites", "add", "a.example"]),
        (["shell", "http://a.example"], ["shell", "http://a.example"]),
        (["crawl", "news"], ["crawl", "news"]),
    ],
)
def test_mission_is_a_crawl_and_other_commands_are_passed_on(run, arguments, words):
    assert run(*arguments) == (0, "", "", words)


@pytest.mark.usefixtures("plain_missions")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plian"], "there is no command plian; did you mean crawlers plain?"),
        (["example.org"], "there is no command example.org; to crawl it: crawlers plain example.org"),
        (["http://example.org/"], "to crawl it: crawlers plain http://example.org/"),
        (["-s", "MAX_LEVEL=1", "graph"], "-s comes after a mission or command"),
        (["__init__"], "there is no command __init__; crawlers --help shows them"),
        (["dance"], "there is no command dance; crawlers --help shows them"),
    ],
)
def test_unknown_command_is_one_sentence_with_a_remedy(run, arguments, message):
    status, output, errors, words = run(*arguments)
    assert (status, output, words) == (2, "", [])
    assert errors.startswith("Error: ")
    assert errors.count("\n") == 1
    assert message in errors


@pytest.mark.usefixtures("plain_missions")
@pytest.mark.parametrize("name", ["plain", "graph", "lab", "shell", "runspider"])
def test_help_of_a_command_names_the_program(run, name):
    status, output, _, words = run(name, "--help")
    assert (status, words) == (0, [])
    assert f"  crawlers {name} " in output
    assert "--set NAME=VALUE" in output
    assert "scrapy crawl" not in output
