"""`python -m crawlers.demo` runs by itself and says the right numbers; no site of it makes a traceback."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import networkx
import pytest
from scrapy.settings import Settings

from crawlers.algorithms.hosts_file import file_stem
from crawlers.algorithms.url_settings import normalization
from crawlers.algorithms.urls import normalize
from crawlers.demo.server import ROOT
from crawlers.demo.web import SITES
from tests.sites.project import Project

from .truth import truth

PATIENCE_S = 120
LINE = re.compile(r"(\d+) pages, +(\d+) links between them, (\d+) duplicates folded, .*, down to level (\d+)")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder of a demo that ran, and what it said."""
    folder = tmp_path_factory.mktemp("demo")
    process = subprocess.run(
        [sys.executable, "-W", "error", "-m", "crawlers.demo", str(folder)],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, capture_output=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr + process.stdout
    assert process.stderr == ""
    return folder, process.stdout


@pytest.fixture(scope="module")
def origins(demo):
    lines = (demo[0] / "ports.json").read_text("utf-8").splitlines()
    return {name: url.rstrip("/") for name, url in map(str.split, lines)}


def said(output, site):
    """Pages, edges, duplicates and deepest level that the demo tells of *site*."""
    (line,) = (line for line in output.splitlines() if line.split()[:1] == [site])
    return [int(number) for number in LINE.search(line).groups()]


@pytest.mark.parametrize("site", ["library", "faculty", "mirror"])
def test_demo_says_the_true_numbers(demo, origins, site):
    settings = Settings()
    settings.setmodule("crawlers.settings")
    options = normalization(settings)
    true = truth(site, origins, normalize=lambda url: normalize(url, options))
    wanted = [len(true.groups), len(true.edges), len(true.copies), max(true.pages.values())]
    assert said(demo[1], site) == wanted


@pytest.mark.parametrize("site", SITES)
def test_demo_says_what_the_graph_files_have(demo, origins, site):
    folder, output = demo
    graph = networkx.read_gexf(folder / "result" / f"{file_stem(origins[site])}.gexf")
    pages, edges, duplicates, _ = said(output, site)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (pages, edges)
    assert sum(node["duplicates"] for _, node in graph.nodes(data=True)) == duplicates
    assert pages > 10


def test_demo_says_why_the_rest_was_not_fetched(demo):
    _, output = demo
    for reason in (
        "rejected: trap: ",
        "rejected: robots.txt disallows it",
        "refused: status 404",
        "rejected: extension pdf",
    ):
        assert reason in output


def test_files_that_the_demo_names_are_there(demo):
    folder, _ = demo
    assert (folder / "crawl.sqlite").is_file()
    assert len(list((folder / "result").glob("*.gexf"))) == len(SITES)
    assert len(list((folder / "result").glob("*.nodes.csv"))) == len(SITES)
    assert len((folder / "logs" / "common_log.csv").read_text("utf-8").splitlines()) > 500


def test_commands_that_the_demo_recommends_work(demo, origins):
    project = Project(demo[0])
    story = project.run("explain", origins["library"] + "/")
    assert (story.status, story.log) == (0, "")
    graph = project.run("graph", "--level", "site")
    assert (graph.status, graph.log) == (0, "")
    assert f"of the {len(SITES)} target sites" in graph.output


def test_harvest_of_the_demo_spends_its_pages_on_all_sites(demo):
    folder, output = demo
    assert "RULE=auto, ORDER=groups: 200 pages" in output
    rows = Project(folder / "harvest").query("SELECT count(*), count(DISTINCT site_id), sum(reward) > 100 FROM pull")
    assert rows == [(200, len(SITES), 1)]


def test_no_site_however_grumpy_makes_a_traceback(demo):
    folder, output = demo
    log = (folder / "crawl.log").read_text("utf-8")
    assert "Traceback" not in log + output
    assert "ERROR" not in log
