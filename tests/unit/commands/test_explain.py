"""`scrapy explain` shows the history of a URL in any state."""

from functools import partial

import pytest
from scrapy.exceptions import UsageError

from crawlers.commands.explain import Command
from crawlers.inputs.setting_readers import recorded
from crawlers.urls.normalization import Normalization
from crawlers.urls.resolution import resolve
from tests.support.command_here import run_here
from tests.support.processes import Ended
from tests.support.running import Project
from tests.support.sites.server import Web, links, pages
from tests.support.stored_pages import add_page
from tests.support.stored_rows import begin

READING = "Reading the crawl mine (number 1, finished)\n"


@pytest.fixture
def explain_in(capsys):
    """Run `scrapy explain` in this process, which is faster than starting one for each test."""

    def result(project, *arguments, **settings):
        return Ended(run_here(Command(), project.database_url, *arguments, **settings), *capsys.readouterr())

    return result


@pytest.fixture
def explain(crawled, explain_in):
    return partial(explain_in, crawled[0])


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("/", ["page, since", "in the list of sites", "level 0", "status 200", "no other page has the same content"]),
        ("/copy2.html", ["page", "a duplicate of", "/copy1.html, which represents it in the graph"]),
        ("/moved", ["redirect, since", "redirects to", "/landed.html", "status 301"]),
        ("/secret/x.html", ["not requested: robots.txt disallows it", "linked to 1 time from 1 page:"]),
        ("/gone.html", ["error: status 404", "status 404"]),
        ("/never.html", ["never found in the crawl mine"]),
        ("http://outside.example/page", ["external", "linked to 3 times from 3 pages", "not followed"]),
        ("mailto:somebody@mail.example", ["a bad link: scheme mailto", "not followed"]),
    ],
)
def test_explain_shows_the_history_of_a_url(crawled, explain, path, parts):
    result = explain(crawled[1] + path if path.startswith("/") else path)
    assert (result.status, result.log) == (0, READING)
    assert [part for part in parts if part not in result.output] == [], result.output


def test_explain_is_a_scrapy_command(crawled):
    project, first_site, _ = crawled
    outcome = project.run("explain", first_site + "/a.html", "--crawl", "mine")
    assert (outcome.status, outcome.log) == (0, READING)
    assert outcome.output.startswith(f"{first_site}/a.html\n  page, since ")


@pytest.mark.both_stores
def test_explain_shows_importance_and_changes_in_a_broad_crawl(broad):
    project, _, second_site = broad
    outcome = project.run("explain", second_site + "/news")
    assert (outcome.status, outcome.log) == (0, "Reading the crawl wide (number 1, interrupted)\n")
    for part in (
        "  importance 0.",
        " of 5 pages read\n",
        "  cash 0.",
        "  downloads counted so far: ",
        "  waits to be fetched again: ",
        "  changed 1 time\n  its links changed 2 times\n",
        " found changed; until ",
        ": page, status 200, content ",
        f" new link to {second_site}/new\n",
        f" no link to {second_site}/old any more, last seen ",
    ):
        assert part in outcome.output, outcome.output


@pytest.mark.parametrize(
    ("url", "options", "parts"),
    [
        ("nonsense", {}, ["nonsense", "write a full URL"]),
        ("http://[::1", {}, ["http://[::1", "write a full URL"]),
        ("http://a.example/", {"CRAWL": "yours"}, ["CRAWL=yours", "mine"]),
        ("http://a.example/", {"DATABASE_URL": "sqlite:///other.sqlite"}, ["other.sqlite", "does not exist"]),
    ],
)
def test_invalid_input_is_reported_in_one_sentence(explain, url, options, parts):
    result = explain(url, **options)
    assert (result.status, result.output) == (2, "")
    (error,) = result.log.removeprefix(READING).splitlines()
    assert error.startswith("Error: ")
    assert all(part in error for part in parts)


@pytest.mark.parametrize(
    "options",
    [
        Normalization(ignored_parameters=("ref",)),
        Normalization(drop_empty_parameters=False, ip_names={"[::1]": "one.example"}),
        Normalization(sort_parameters=False, add_trailing_slash=False),
        Normalization(lower_case=True),
    ],
)
@pytest.mark.parametrize("url", ["one.example/X?b=&ref=1&a=%7e", "http://one.example/X?b=&ref=1&a=%7e"])
def test_url_is_found_by_the_rules_that_the_crawl_recorded(project, database, explain_in, options, url):
    crawled = "http://one.example/X?b=&ref=1&a=%7e"
    (site,) = begin(database, "http://one.example", mission="plain", **recorded(options)).sites
    add_page(database, 1, site.id, crawled, key=resolve(crawled, "", options).key)
    assert "\n  page" in explain_in(project, url).output


def test_explain_requires_exactly_one_url(explain):
    with pytest.raises(UsageError, match="expected one URL"):
        explain()


def test_graph_file_is_that_of_the_latest_run(tmp_path, explain_in):
    with Web(site=pages({"/": links("/a"), "/a": links("/")})) as web:
        project, (home,) = Project(tmp_path, CONCURRENT_REQUESTS=1), web.hosts().split()
        home = home.partition(";")[0] + "/"
        for budget, formats in enumerate(("csv", "gexf,csv"), 1):
            assert project.crawl(web.hosts(), PAGE_BUDGET=budget, GRAPH_FORMATS=formats).status == 0
            assert (".gexf" in explain_in(project, home).output) == bool([*project.folder.rglob("*.gexf")])
    assert [*project.folder.rglob("*.gexf")]
