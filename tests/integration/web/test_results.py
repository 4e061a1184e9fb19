"""What crawls found, read in a real browser: pictures, a graph, documents, tables on a phone; and how it looks."""

import csv
import io
import json
import re
import struct

import networkx as nx
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.support.of_missions import needs
from tests.support.processes import PATIENCE_S
from tests.support.stored_crawl import CRAWL

# How many colours the canvas of a picture has, whether its curves are drawn or not.
COLOURS = """canvas => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
}"""


@pytest.fixture
def pictures(filled):
    """The address of the pictures of a crawl with pulls of two sites."""
    return f"{filled}/crawls/{CRAWL}/pictures"


def test_pictures_are_drawn(page, pictures):
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.emulate_media(color_scheme="dark")
    page.goto(pictures)
    drawn = page.locator("[data-drawn] canvas")
    expect(drawn).to_have_count(3)  # importance and rewards have nothing to draw
    for canvas in drawn.all():
        assert canvas.evaluate(COLOURS) > 10
    assert problems == []  # the policy of the page has let everything through


def test_file_has_what_is_drawn_and_the_picture_is_saved(page, pictures):
    with page.expect_response("**/pulls.json") as answered:
        page.goto(f"{pictures}/pulls")
    found = json.loads(answered.value.body())
    with page.expect_download() as downloaded:
        page.get_by_role("link", name="CSV").click()
    _, *rows = csv.reader(io.StringIO(downloaded.value.path().read_text("utf-8")))
    assert [[float(cell) for cell in row[1:]] for row in rows] == [
        list(values) for values in zip(*(one["values"] for one in found["series"]), strict=True)
    ]
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Save as PNG").click()
    assert downloaded.value.suggested_filename == "spring-1-pulls.png"
    saved = downloaded.value.path().read_bytes()
    assert saved.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", saved[16:24])
    assert width == 1600
    assert height > 900


def test_picture_is_asked_for_again_when_the_panel_did_not_respond(page, pictures):
    page.route("**/levels.json", lambda route: route.abort(), times=1)
    page.goto(f"{pictures}/levels")
    expect(page.get_by_text("could not be loaded")).to_be_visible()
    expect(page.locator("[data-drawn] canvas")).to_be_visible()
    expect(page.get_by_text("could not be loaded")).to_be_hidden()


def test_curves_are_read_and_hidden_with_the_keyboard(page, pictures):
    page.goto(f"{pictures}/pulls?axis=pages")
    curve = page.get_by_role("button", name="a.test")
    expect(curve).to_have_attribute("aria-pressed", "true")
    page.get_by_role("img", name="Pages read of each site").focus()
    page.keyboard.press("End")
    expect(curve.locator("output")).to_have_text("20")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="c.test").locator("output")).to_have_text("19")
    before = page.locator(".plot canvas").evaluate(COLOURS)
    curve.focus()
    page.keyboard.press("Space")
    expect(curve).to_have_attribute("aria-pressed", "false")
    page.wait_for_function(f"before => ({COLOURS})(document.querySelector('.plot canvas')) < before", arg=before)


def test_node_is_found_shown_and_explained(filled, page):
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    messages = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto(f"{filled}/crawls/{CRAWL}")
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


def test_picture_and_full_graph_are_saved(filled, page):
    page.goto(f"{filled}/crawls/{CRAWL}/graph")
    page.wait_for_selector("#map[data-ready]")
    with page.expect_download() as saved:
        page.get_by_role("link", name="SVG").click()
    assert saved.value.suggested_filename == f"spring-{CRAWL}-graph.svg"
    assert "<svg" in saved.value.path().read_text("utf-8")
    with page.expect_download() as saved:
        page.get_by_role("link", name="GEXF").click()
    assert len(nx.read_gexf(saved.value.path(), version="1.3")) == 130


@needs("news")
def test_documents_are_read_and_rules_are_tried(page, filled):
    page.on("dialog", lambda dialog: dialog.dismiss() or page.evaluate("throw new Error('a script ran')"))

    page.goto(f"{filled}/crawls/{CRAWL}")
    page.get_by_role("link", name="Documents", exact=True).click()
    page.get_by_label("Language").last.fill("de")
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("link", name="Story one 59").click()
    expect(page.get_by_role("heading", name="Story one 59")).to_be_visible()
    expect(page.locator("article p", has_text="Second paragraph.")).to_be_visible()
    page.get_by_role("link", name="Earlier found").click()
    expect(page.get_by_role("heading", name="Story one 57")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    page.get_by_role("link", name="Later found").click()
    expect(page.get_by_role("heading", name="Story one 59")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1280, "height": 800})

    page.get_by_role("link", name="Which rule?").click()
    expect(page.locator(".verdict")).to_contain_text("The rule of the highest weight that it matches")
    page.get_by_label("Or one URL").fill("")
    rule = page.get_by_label("Rule", exact=True)
    rule.press_sequentially("/1.*")
    matched = page.locator("dl.figures div", has_text="Matched").locator("dd")
    expect(matched).to_have_text("41")
    rule.press_sequentially(" except /11")
    expect(matched).to_have_text("40")
    expect(rule).to_be_focused()
    rule.fill("/(")
    expect(page.get_by_role("alert")).to_contain_text("missing )")
    page.get_by_role("link", name="Try rule 1", exact=True).press("Enter")
    expect(rule).to_have_value("/[0-9]+")
    expect(matched).to_have_text("130")
    page.get_by_role("link", name="URL rules", exact=True).click()
    expect(page).to_have_url(re.compile("/reports/url-rules$"))
    page.get_by_role("link", name="Test URL rules").click()
    expect(page.get_by_role("heading", name="Test URL rules")).to_be_visible()


ONE_LINE = 50  # px
PHONE = {"width": 390, "height": 800}


@pytest.fixture
def table(filled):
    """The address of a table with a filter."""
    return f"{filled}/crawls/{CRAWL}/reports/not-in-sitemap?site=a.test"


def test_tabs_and_filters_take_a_line_each(page, table):
    page.set_viewport_size(PHONE)
    page.goto(table)
    assert page.get_by_role("navigation", name="Crawl", exact=True).bounding_box()["height"] < ONE_LINE
    expect(page.get_by_role("link", name="Reports", exact=True)).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("Filters (1) a.test")).to_be_visible()
    expect(page.get_by_role("button", name="Filter")).to_be_hidden()
    assert page.locator(".fold").bounding_box()["height"] < ONE_LINE


def test_filters_open_without_scripts(chromium, table):
    context = chromium.new_context(viewport=PHONE, locale="en", java_script_enabled=False)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_S * 1000)
    page.goto(table)
    page.get_by_text("Filters (1)").click()
    page.get_by_role("textbox", name="Site").fill("c.test")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("Filters (1) c.test")).to_be_visible()
    context.close()


def test_first_key_skips_to_the_content(page, filled):
    page.goto(filled)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_language_and_colours_are_chosen(page, filled, press):
    page.goto(filled)
    while not page.evaluate(
        "document.activeElement.matches('summary') && document.activeElement.innerText === 'Display'"
    ):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    press("combobox", "Colours", "")
    page.keyboard.type("Dark")
    press("button", "Apply")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
