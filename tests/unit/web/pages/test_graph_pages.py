"""The page of a graph and its files, as a browser without scripts sees them."""

import csv
import io
import json
import re

import pytest

from crawlers.web import panel as shared_panel
from crawlers.web.cached_results import SMALL_WAITS, CachedResults, Outcome


def test_page_says_that_the_graph_is_being_computed_and_is_loaded_again_when_it_is_there(open_panel, crawl_id):
    browser = open_panel(wait_s=0, threads=0)
    assert "Being computed since" in browser.get(f"/crawls/{crawl_id}/graph").text  # the sites are counted first
    waiting = browser.get(f"/crawls/{crawl_id}/graph?graph=pages")
    assert "Being computed since" in waiting.text
    assert "graph_map.js" not in waiting.text
    assert f"/crawls/{crawl_id}/graph/full.gexf?" in waiting.text
    ready = open_panel().get(f"/crawls/{crawl_id}/graph", **{"hx-request": "true"})
    assert ready.headers["hx-refresh"] == "true"


def test_neighbourhood_of_a_url_is_that_of_its_site(browser, crawl_id):
    response = browser.get(f"/crawls/{crawl_id}/graph?url=a.test/untitled&hops=1")
    data = re.search(r'<script type="application/json" id="graph">(.*?)</script>', response.text, re.DOTALL)[1]
    assert {node[0] for node in json.loads(data)["nodes"]} == {"http://a.test/untitled", "http://a.test/"}
    assert '<option value="http://a.test" selected>' in response.text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("url=http://a.test/never", "is not a page of this graph"),
        ("graph=http://z.test", "is not a site of the crawl"),
    ],
)
def test_what_can_not_be_drawn_is_said(browser, crawl_id, query, said):
    response = browser.get(f"/crawls/{crawl_id}/graph?{query}")
    assert said in response.text
    assert response.status_code == 200
    assert browser.get(f"/crawls/{crawl_id}/graph/nodes.csv?{query}").status_code == 400


def test_data_of_the_picture_is_saved_as_csv_without_formulas(browser, crawl_id):
    query = "graph=http://a.test"
    nodes = browser.get(f"/crawls/{crawl_id}/graph/nodes.csv?{query}")
    assert nodes.headers["content-disposition"] == f'attachment; filename="spring-{crawl_id}-nodes.csv"'
    rows = list(csv.DictReader(io.StringIO(nodes.content.decode("utf-8-sig"))))
    assert [row["url"] for row in rows] == ["http://a.test/", "http://a.test/a", "http://a.test/untitled"]
    assert rows[1]["title"] == "'=1+1"
    assert {"x", "y", "colour", "group"} <= rows[0].keys()
    edges = browser.get(f"/crawls/{crawl_id}/graph/edges.csv?{query}").content.decode("utf-8-sig")
    assert "http://a.test/,http://a.test/a" in edges


@pytest.mark.parametrize("path", ["graph", "reports/same-titles", "pictures/levels.json", "explain?url=http://a.test/"])
def test_page_waits_for_a_result_about_a_small_crawl_until_it_is_there(sqlite, crawl_id, open_panel, path, monkeypatch):
    waits = []

    def get(self, key, compute, wait_s=None, share=0.0):
        waits.append(self.wait_s if wait_s is None else wait_s)
        return Outcome(0.0)

    monkeypatch.setattr(CachedResults, "get", get)
    browser = open_panel(wait_s=1.0, threads=0)
    browser.get(f"/crawls/{crawl_id}/{path}")
    assert 0.9 * SMALL_WAITS < waits.pop() <= SMALL_WAITS
    monkeypatch.setattr(shared_panel, "SMALL", 3)
    browser.get(f"/crawls/{crawl_id}/{path}")
    assert waits.pop() <= 1.0
