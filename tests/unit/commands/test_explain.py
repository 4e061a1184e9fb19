"""`scrapy explain` shows the history of a URL in any state."""

from __future__ import annotations

from argparse import Namespace
from typing import NamedTuple

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from crawlers.commands.explain import Command


class Output(NamedTuple):
    status: int
    output: str
    errors: str


@pytest.fixture
def explain(crawled, capsys):
    """Run `scrapy explain` in this process, which is faster than starting one for each test."""

    def result(*arguments, crawl=None, **settings):
        command = Command()
        command.settings = Settings({"DATABASE_URL": crawled[0].database_url, **settings})
        command.settings.setmodule("crawlers.settings", priority="default")
        command.run(list(arguments), Namespace(crawl=crawl, search=None))
        return Output(command.exitcode, *capsys.readouterr())

    return result


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        (
            "/",
            [
                "done, since",
                "in the list of sites",
                "level 0",
                "status 200",
                "no other page has the same content",
            ],
        ),
        ("/a.html#part", ["done, since", "level 1", "/a.html\n"]),
        ("/copy1.html", ["done", "represents 1 further URL with", "/copy2.html", "title: Same"]),
        ("/copy2.html", ["done", "a duplicate of", "/copy1.html, which represents it in the graph"]),
        ("/moved", ["moved, since", "moved to", "/landed.html", "status 301"]),
        ("/landed.html", ["done", "found", "/moved"]),
        ("/secret/x.html", ["rejected: robots.txt disallows it", "linked to 1 time from 1 page:"]),
        ("/paper.pdf", ["rejected: extension pdf", "linked to 1 time "]),
        ("/gone.html", ["refused: status 404", "status 404"]),
        ("/never.html", ["never found in the crawl mine"]),
        ("http://outside.example/page", ["external", "linked to from 3 places", "not followed"]),
        ("http://elsewhere.example/", ["never found"]),
        ("mailto:somebody@mail.example", ["a bad link: scheme mailto", "not followed"]),
    ],
)
def test_explain_shows_the_history_of_a_url(crawled, explain, path, parts):
    result = explain(crawled[1] + path if path.startswith("/") else path)
    assert (result.status, result.errors) == (0, "")
    missing = [part for part in parts if part not in result.output]
    assert not missing, result.output


def test_explain_is_a_scrapy_command(crawled):
    project, first_site, _ = crawled
    outcome = project.run("explain", first_site + "/a.html", "--crawl", "mine")
    assert (outcome.status, outcome.log) == (0, "")
    assert outcome.output.startswith(f"{first_site}/a.html\n  done, since ")


def test_explain_shows_importance_and_changes_in_a_broad_crawl(broad):
    project, _, second_site = broad
    outcome = project.run("explain", second_site + "/news")
    assert (outcome.status, outcome.log) == (0, "")
    for part in (
        "  importance 0.",
        " of 5 pages read\n",
        "  cash 0.",
        "  downloads counted so far: ",
        "  waits to be fetched again: ",
        "  changed 1 time:\n    done, status 200, content ",
        f"  its links changed 2 times:\n    {second_site}/",
        f"    {second_site}/new: first seen ",
        f"    {second_site}/old: last seen ",
    ):
        assert part in outcome.output, outcome.output


def test_explain_omits_scores_and_changes_if_there_are_none(crawled, explain):
    result = explain(crawled[1] + "/").output
    assert not [word for word in ("importance", "cash", "score", "changed") if word in result]


def test_explain_says_that_a_rejected_url_was_not_requested(crawled, explain):
    assert "requested 2" not in explain(crawled[1] + "/secret/x.html").output


@pytest.mark.parametrize(
    ("url", "options", "parts"),
    [
        ("nonsense", {}, ["nonsense", "write a full URL"]),
        ("http://[::1", {}, ["http://[::1", "write a full URL"]),
        ("http://a.example/", {"crawl": "yours"}, ["CRAWL=yours", "mine"]),
        ("http://a.example/", {"DATABASE_URL": "sqlite:///other.sqlite"}, ["other.sqlite", "does not exist"]),
    ],
)
def test_invalid_input_is_reported_in_one_sentence(explain, url, options, parts):
    result = explain(url, **options)
    assert (result.status, result.output) == (2, "")
    assert result.errors.startswith("Error: ")
    assert len(result.errors.splitlines()) == 1
    assert all(part in result.errors for part in parts)


def test_explain_requires_exactly_one_url(explain):
    with pytest.raises(UsageError, match="expected one URL"):
        explain()
