"""The results of a topic crawl are written when it stops, for any reason, and only then."""

import csv
import json

import networkx as nx
import pytest

from tests.support.running import Project
from tests.support.sites.server import Web, pages
from tests.support.written_by_one import SETTINGS as RECORDED
from tests.support.written_by_one import ring, statements, wrote

ONE = {"SITE_DELAY_SECONDS": 0, "CONCURRENT_REQUESTS": 1}
BODIES = {
    "/": '<title>Start</title><p><a href="/u">unicode</a></p><p><a href="/k">=kitchen()</a></p>',
    "/u": '<title>Unicode</title><p><a href="/k">kitchen</a><a href="/k">kitchen</a></p>',
    "/k": '<title>=kitchen()</title><p><a href="/">home</a></p>',
}
LINE = ("crawl", "topic", "-a", "topic=topic.yaml")


@pytest.fixture
def project(tmp_path):
    """A project with a topic, and the site that it is about."""
    with Web(site=pages(BODIES)) as web:
        topic = {"keywords": ["unicode"], "roots": [web["site"].origin]}
        (tmp_path / "topic.yaml").write_text(json.dumps(topic), "utf-8")
        yield Project(tmp_path, **ONE)


def rows(project, name="topic"):
    with (project.folder / "result" / f"{name}.pages.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_results_are_a_list_and_a_graph(project):
    outcome = project.run(*LINE).done()
    assert sorted(project.files()) == ["topic.gexf", "topic.pages.csv"]
    assert "topic: the similarity of its pages to the topic is 0." in outcome.log
    assert "topic: 3 pages in result/topic.pages.csv" in outcome.log
    assert "topic: 3 pages, 4 edges in result/topic.gexf" in outcome.log
    graph = nx.read_gexf(project.folder / "result" / "topic.gexf")
    listed = rows(project)
    assert [row["title"] for row in listed] == ["Unicode", "Start", "'=kitchen()"]
    for row in listed:
        node = graph.nodes[row["rank"]]
        assert node["label"] == row["url"]
        assert node["level"] == int(row["level"])
        assert node["similarity"] == pytest.approx(float(row["similarity"]), abs=1e-6)
        assert {"title", "authority", "hub"} <= node.keys()
    assert {(a, b): data["weight"] for a, b, data in graph.edges(data=True)} == {
        ("1", "3"): 2, ("2", "1"): 1, ("2", "3"): 1, ("3", "2"): 1,
    }  # fmt: skip


def test_results_of_a_crawl_that_its_budget_ends_are_those_of_the_pages_read(project):
    assert project.run(*LINE, PAGE_BUDGET=2).status == 0
    assert [row["title"] for row in rows(project)] == ["Start", "Unicode"]
    before = project.query("SELECT similarity FROM topic_page ORDER BY page_id")
    assert project.run(*LINE, PAGE_BUDGET=9).status == 0
    assert [row["title"] for row in rows(project)] == ["Unicode", "Start", "'=kitchen()"]
    after = project.query("SELECT similarity FROM topic_page ORDER BY page_id")
    assert before != after[:2], "they are by all pages read"


def test_topic_from_a_downloaded_example_is_written_by_the_writer(tmp_path):
    site = {**ring(4), "/example": "<title>Unicode</title><p>unicode fonts and encodings of unicode text"}
    with Web(a=pages(site)) as web:
        origin = web["a"].origin
        (tmp_path / "topic.yaml").write_text(f"examples: ['{origin}/example']\nroots: ['{origin}/']\n", "utf-8")
        project = Project(tmp_path, **RECORDED)
        assert project.run("crawl", "topic", "-a", "topic=topic.yaml").status == 0
    assert wrote(statements(project), "INSERT INTO crawler_setting")
