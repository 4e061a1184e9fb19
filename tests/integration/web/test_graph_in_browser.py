"""The graph in a real browser: drawn with WebGL, searched, pointed at, clicked, saved."""

import io

import networkx as nx
import pytest
from PIL import Image
from playwright.sync_api import expect

from crawlers.storage.database import Database
from tests.support.stored_crawl import stored_crawl


@pytest.fixture
def crawl_id(tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")
    number = stored_crawl(database)
    database.close()
    return number


def test_node_is_found_shown_and_explained(crawl_id, panel, page):
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    messages = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto(f"{panel}/crawls/{crawl_id}")
    page.get_by_role("link", name="Graph", exact=True).click()
    page.get_by_label("Graph of").select_option("http://a.test")
    page.get_by_role("button", name="Draw").click()
    page.wait_for_selector("#map[data-ready]")
    expect(page.locator("#legend")).to_contain_text("around /")
    picture = Image.open(io.BytesIO(page.locator("#map").screenshot())).convert("RGB")
    shown = {colour for _, colour in picture.getcolors(maxcolors=picture.width * picture.height)}
    legend = page.locator("#legend circle").first.get_attribute("fill")
    assert tuple(bytes.fromhex(legend[1:])) in shown  # nodes are drawn, in the colours of the legend
    page.get_by_label("Search in URLs and titles").fill("UNTITLED")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#details")).to_contain_text("http://a.test/untitled")
    expect(page.locator("#details").get_by_role("link", name="Explain")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#details")).to_contain_text("Point at a node")
    box = page.locator("#map").bounding_box()  # the camera went to the node
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator("#details")).to_contain_text("http://a.test/untitled")
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".subject")).to_contain_text("http://a.test/untitled")
    assert not [text for text in messages if "Content Security Policy" in text or "Error" in text]


def test_picture_and_full_graph_are_saved(crawl_id, panel, page):
    page.goto(f"{panel}/crawls/{crawl_id}/graph")
    page.wait_for_selector("#map[data-ready]")
    with page.expect_download() as saved:
        page.get_by_role("link", name="SVG").click()
    assert saved.value.suggested_filename == f"spring-{crawl_id}-graph.svg"
    assert "<svg" in saved.value.path().read_text("utf-8")
    with page.expect_download() as saved:
        page.get_by_role("link", name="GEXF").click()
    assert len(nx.read_gexf(saved.value.path(), version="1.3")) == 130
