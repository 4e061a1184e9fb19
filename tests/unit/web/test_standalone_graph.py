"""The graph as one file: whole, without a network, and deaf to the texts of strangers."""

import base64
import hashlib
import json
import re
import shutil

import pytest

from crawlers.graphs.graph_map import GraphMap, MapNode, Meaning
from crawlers.web.downloads import SCRIPTS, STATIC, standalone_graph
from tests.support.services import unavailable

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u2028&amp;"
NODES = [
    MapNode("http://a.test/", "Home", 0, 2, 1, 0.0, 0.0, 8.0, "#4e79a7"),
    MapNode(f"http://a.test/{HOSTILE}", HOSTILE, 1, 1, None, 50.0, 10.0, 5.0, "#f28e2b"),
    MapNode("http://a.test/\ud800\0", "", None, 0, 0, -50.0, 30.0, 4.0, "#f28e2b"),
]
GRAPH = GraphMap(
    f"a.test {HOSTILE}", NODES, [(0, 1), (1, 0), (2, 0)], 3, 3, [Meaning("around %(name)s", HOSTILE, "#4e79a7")]
)


def test_equal_graphs_give_equal_files_that_name_nothing_to_load():
    text = standalone_graph(GRAPH)
    assert text == standalone_graph(GRAPH)
    assert not re.search(r"<(script|link|img|iframe)[^>]*\b(src|href)\s*=", text)
    text.encode()


def test_texts_of_strangers_are_data():
    text = standalone_graph(GRAPH)
    assert len(re.findall(r"<script\b", text)) == 1 + len(SCRIPTS)
    assert len(re.findall(r"</script", text)) == 1 + len(SCRIPTS)
    assert "<img" not in text.replace("&lt;img", "")
    data = json.loads(re.search(r'<script type="application/json" id="graph">(.*?)</script>', text, re.DOTALL)[1])
    assert data["nodes"][1][:2] == [f"http://a.test/{HOSTILE}", HOSTILE]
    assert data["edges"] == [[0, 1], [1, 0], [2, 0]]


def test_policy_allows_the_scripts_and_styles_of_the_file_alone():
    text = standalone_graph(GRAPH)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for _, inline in re.findall(r"<(script|style)>(.*?)</\1>", text, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_libraries_are_the_listed_ones_with_their_licences():
    vendor = STATIC / "vendor"
    listed = [line.split() for line in (vendor / "VERSIONS").read_text("utf-8").splitlines() if line[0] != "#"]
    for _, _, _, name, digest in listed:
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == digest
        assert (vendor / f"{name.partition('.')[0]}.LICENSE.txt").read_text("utf-8")
    assert {name for _, _, _, name, _ in listed} == {
        one.name for one in vendor.iterdir() if one.suffix in (".js", ".css")
    }


@pytest.fixture(scope="module")
def browser():
    """Chromium, in which WebGL is computed without a graphics card."""
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium")
    if program is None:
        unavailable("no Chromium installed")
    arguments = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=arguments)
        yield chromium
        chromium.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nodes_are_found_and_shown_in_a_browser_without_a_network(browser, scheme, tmp_path):
    path = tmp_path / "graph.html"
    path.write_text(standalone_graph(GRAPH), "utf-8")
    context = browser.new_context(color_scheme=scheme, offline=True)
    page = context.new_page()
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector("#map[data-ready]")
    page.fill("#search", "OWNED")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    details = page.text_content("#details")
    assert HOSTILE in details
    assert "Linking nodes1" in details
    page.keyboard.press("Escape")
    assert page.text_content("#details") == ""
    page.fill("#search", "no such page")
    assert page.text_content("#found") == "Nothing found"
    assert page.title() == f"a.test {HOSTILE}".strip()
    assert problems == []
    context.close()
