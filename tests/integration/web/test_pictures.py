"""Pictures in a real browser: they are drawn, saved as PNG, and their files have the values that are drawn."""

import csv
import io
import json
import struct

import pytest
from playwright.sync_api import expect

from crawlers.storage.database import Database
from crawlers.storage.schema.tables import PullRow
from tests.support.stored_crawl import stored_crawl
from tests.support.stored_rows import write_rows

# How many colours the canvas of a picture has, whether its curves are drawn or not.
COLOURS = """canvas => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
}"""


@pytest.fixture
def pictures(tmp_path, panel):
    """The address of the pictures of a crawl with pulls of two sites."""
    database = Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")
    crawl_id = stored_crawl(database)
    write_rows(database, *(PullRow(1 + number % 2, 1, 1.0, 1e9 + number) for number in range(40)))
    database.close()
    return f"{panel}/crawls/{crawl_id}/pictures"


def test_pictures_are_drawn(page, pictures):
    problems = []
    page.on("console", lambda message: problems.append(message.text))
    page.emulate_media(color_scheme="dark")
    page.goto(pictures)
    drawn = page.locator("[data-drawn] canvas")
    expect(drawn).to_have_count(4)  # importance has nothing to draw
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
