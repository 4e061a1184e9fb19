"""`scrapy graph`, `scrapy explain`, and exit statuses: and one sentence for what is wrong."""

from __future__ import annotations

import os
import signal
from argparse import Namespace
from typing import NamedTuple

import networkx
import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from crawlers.commands.explain import Command
from tests.sites.project import Project, ended
from tests.sites.server import Web, links, pages

SAME = "<title>Same</title>" + links("/leaf.html", "http://outside.example/page")
FIRST = {
    "/": links(
        "/a.html",
        "/copy1.html",
        "/copy2.html",
        "/moved",
        "/secret/x.html",
        "/paper.pdf",
        "/gone.html",
        "mailto:somebody@mail.example",
        "http://outside.example/page",
    ),
    "/a.html": links("/", "/copy1.html", "/copy2.html", "/deep/b.html"),
    "/copy1.html": SAME,
    "/copy2.html": SAME,
    "/leaf.html": "<title>Leaf</title>",
    "/deep/b.html": links("../a.html"),
    "/landed.html": "<title>Landed</title>",
}


async def first(exchange):
    if exchange.path == "/moved":
        await exchange.page(status=301, Location="/landed.html")
    else:
        await pages(FIRST, "User-agent: *\nDisallow: /secret/")(exchange)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A finished crawl of two sites that link to each other."""
    project = Project(tmp_path_factory.mktemp("commands"))

    async def second(exchange):
        origin = web["first"].origin
        await pages({"/": links(f"{origin}/", f"{origin}/a.html", "/x"), "/x": "<p>x"})(exchange)

    with Web(first=first, second=second) as web:
        outcome = project.crawl(web.hosts(), CRAWL="mine")
        assert outcome.status == 0, outcome.log
    return project, web["first"].origin, web["second"].origin


class Told(NamedTuple):
    status: int
    output: str
    errors: str


@pytest.fixture
def explain(crawled, capsys):
    """Runs `scrapy explain` in this process, which is quicker than a new one for each question."""

    def told(*arguments, crawl=None, **settings):
        command = Command()
        command.settings = Settings(
            {"DATABASE_URL": f"sqlite:///{crawled[0].folder / 'crawl.sqlite'}", **settings}
        )
        command.settings.setmodule("crawlers.settings", priority="default")
        command.run(list(arguments), Namespace(crawl=crawl))
        return Told(command.exitcode, *capsys.readouterr())

    return told


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def stem(origin):
    return origin.removeprefix("http://").replace(":", "_")


# graph


def test_graph_writes_all_sites_again_to_the_byte(crawled, tmp_path):
    project, first_site, second_site = crawled
    outcome = project.run("graph", "--folder", str(tmp_path))
    assert outcome.status == 0, outcome.log
    assert names(tmp_path) == sorted(f"{stem(site)}.gexf" for site in (first_site, second_site))
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (project.folder / "result" / path.name).read_bytes()
    assert "6 pages, 8 edges" in outcome.output


def test_graph_writes_the_named_site_in_the_named_formats(crawled, tmp_path):
    project, first_site, _ = crawled
    formats = ("--format", "csv", "--format", "graphml")
    outcome = project.run("graph", first_site + "/", "--folder", str(tmp_path), *formats)
    assert outcome.status == 0, outcome.log
    name = stem(first_site)
    assert names(tmp_path) == [f"{name}.edges.csv", f"{name}.graphml", f"{name}.nodes.csv"]
    graph = networkx.read_graphml(tmp_path / f"{name}.graphml")
    assert graph.number_of_nodes() == 6  # home, a, copy, leaf, b, landed
    assert len((tmp_path / f"{name}.edges.csv").read_text().splitlines()) == graph.number_of_edges() + 1


def test_graph_computes_the_measures(crawled, tmp_path):
    project, first_site, _ = crawled
    outcome = project.run("graph", first_site, "--folder", str(tmp_path), "--measure", "pagerank")
    assert outcome.status == 0, outcome.log
    graph = networkx.read_gexf(tmp_path / f"{stem(first_site)}.gexf")
    assert sum(node["pagerank"] for _, node in graph.nodes(data=True)) == pytest.approx(1.0, abs=1e-3)


def test_graph_of_the_sites_has_their_links_to_each_other(crawled, tmp_path):
    project, first_site, second_site = crawled
    outcome = project.run("graph", "--level", "site", "--folder", str(tmp_path), "--crawl", "mine")
    assert outcome.status == 0, outcome.log
    graph = networkx.read_gexf(tmp_path / "sites.gexf")
    labels = {node: data["label"] for node, data in graph.nodes(data=True)}
    assert set(labels.values()) == {first_site, second_site}
    edges = [(labels[a], labels[b], data["weight"]) for a, b, data in graph.edges(data=True)]
    assert edges == [(second_site, first_site, 2)]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ["http://nowhere.example"],
            ["http://nowhere.example", "no site of the crawl mine", "http://127.0.0.1"],
        ),
        (["--crawl", "yours"], ["CRAWL=yours", "mine"]),
        (["-s", "DATABASE_URL=sqlite:///other.sqlite"], ["other.sqlite", "does not exist"]),
        (["--folder", "/proc/graphs"], ["/proc/graphs"]),
    ],
)
def test_graph_says_in_one_sentence_what_it_cannot_find(crawled, arguments, parts):
    project, _, _ = crawled
    before = names(project.folder)
    outcome = project.run("graph", *arguments)
    assert outcome.status == 2, outcome.log
    assert len(outcome.log.splitlines()) == len(outcome.errors) == 1
    assert all(part in outcome.log for part in parts)
    assert names(project.folder) == before


@pytest.mark.parametrize("option", ["--format", "--measure", "--level"])
def test_graph_names_what_it_knows_when_it_is_asked_for_something_else(crawled, option):
    project, _, _ = crawled
    outcome = project.run("graph", option, "nonsense")
    assert outcome.status == 2
    assert "invalid choice: 'nonsense'" in outcome.log
    assert "Traceback" not in outcome.log


# explain


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
        ("/copy1.html", ["done", "stands for 1 further URLs", "/copy2.html", "title: Same"]),
        ("/copy2.html", ["done", "a duplicate of", "/copy1.html: the graph has that one"]),
        ("/moved", ["moved, since", "moved to", "/landed.html", "status 301"]),
        ("/landed.html", ["done", "found", "/moved"]),
        ("/secret/x.html", ["rejected: robots.txt disallows it", "linked to 1 times from 1 pages"]),
        ("/paper.pdf", ["rejected: extension pdf", "linked to 1 times"]),
        ("/gone.html", ["refused: status 404", "status 404"]),
        ("/never.html", ["never found in the crawl mine"]),
        ("http://outside.example/page", ["external", "linked to from 3 places", "not followed"]),
        ("http://elsewhere.example/", ["never found"]),
        ("mailto:somebody@mail.example", ["a bad link: scheme mailto", "not followed"]),
    ],
)
def test_explain_tells_the_story_of_a_url(crawled, explain, path, parts):
    told = explain(crawled[1] + path if path.startswith("/") else path)
    assert (told.status, told.errors) == (0, "")
    missing = [part for part in parts if part not in told.output]
    assert not missing, told.output


def test_explain_is_a_command(crawled):
    project, first_site, _ = crawled
    outcome = project.run("explain", first_site + "/a.html", "--crawl", "mine")
    assert (outcome.status, outcome.log) == (0, "")
    assert outcome.output.startswith(f"{first_site}/a.html\n  done, since ")


def test_explain_says_of_what_was_rejected_that_it_was_never_asked_for(crawled, explain):
    assert "asked for" not in explain(crawled[1] + "/secret/x.html").output


@pytest.mark.parametrize(
    ("url", "options", "parts"),
    [
        ("nonsense", {}, ["nonsense", "give a whole URL"]),
        ("http://[::1", {}, ["http://[::1", "give a whole URL"]),
        ("http://a.example/", {"crawl": "yours"}, ["CRAWL=yours", "mine"]),
        ("http://a.example/", {"DATABASE_URL": "sqlite:///other.sqlite"}, ["other.sqlite", "does not exist"]),
    ],
)
def test_explain_says_in_one_sentence_what_it_cannot_read(explain, url, options, parts):
    told = explain(url, **options)
    assert (told.status, told.output) == (2, "")
    assert told.errors.startswith("Error: ")
    assert len(told.errors.splitlines()) == 1
    assert all(part in told.errors for part in parts)


def test_explain_wants_exactly_one_url(explain):
    with pytest.raises(UsageError, match="name one URL"):
        explain()


# crawl


def test_crawl_that_ends_has_status_0_and_one_that_cannot_begin_2(tmp_path):
    project = Project(tmp_path)
    with Web(site=pages({"/": "<p>x"})) as web:
        assert project.crawl(web.hosts()).status == 0
        assert project.crawl("missing.txt").status == 2
        assert project.crawl(web.hosts(), RULE="chess").status == 2
        assert project.run("crawl").status == 2
        assert project.run("crawl", "nosuchspider").status != 0
        assert len(project.states()) == 1


def test_crawl_stopped_in_good_order_has_status_0_and_goes_on(tmp_path):
    project = Project(tmp_path)
    process = None

    async def site(exchange):
        if exchange.path == "/2" and exchange.site.count("/2") == 1 and process is not None:
            os.kill(process.pid, signal.SIGTERM)
        bodies = {f"/{n or ''}": links(*(f"/{n}" for n in range(1, 12))) for n in range(12)}
        await pages(bodies)(exchange)

    with Web(site=site) as web:
        process = project.start("crawl", "sitegraph", "-a", "hosts=" + web.hosts(limits=";1;;20"))
        assert ended(process).status == 0
        assert project.states() == [("interrupted", "shutdown")]
        asked = len(web["site"].asked)
        assert project.crawl(web.hosts()).status == 0
        assert project.states() == [("finished", "finished")]
        assert sorted(web["site"].paths) == sorted({"/robots.txt", "/", *(f"/{n}" for n in range(1, 12))})
        assert asked < len(web["site"].asked)


def test_duplicates_that_are_not_saved_leave_the_graph_as_it_is(tmp_path):
    project = Project(tmp_path, CRAWL="mine")
    graphs = {}
    with Web(first=first) as web:
        for saved in (True, False):
            folder = f"result{saved}"
            settings = {"SAVE_DUPLICATES": saved, "RESULT_FOLDER": folder, "GRAPH_FORMATS": "gexf,csv"}
            assert project.crawl(web.hosts(), **settings).status == 0
            graphs[saved] = {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()}
        assert graphs[True] == graphs[False]
        urls = [url for (url,) in project.query("SELECT url FROM page WHERE url LIKE '%copy%' ORDER BY id")]
        origin = web["first"].origin
        assert urls == [origin + "/copy1.html", origin + "/copy2.html", origin + "/copy1.html"]
        again = project.run(
            "graph", "--format", "gexf", "--format", "csv", "--folder", str(tmp_path / "again")
        )
        assert again.status == 0, again.log
        assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == graphs[True]
        story = project.run("explain", origin + "/copy1.html").output
        assert "stands for 1 further URLs with the same content, whose rows were given up" in story
