"""Whoever has no mouse starts, steers and reads a crawl, and sees where the focus is."""

import pytest
from playwright.sync_api import expect

from tests.support.sites.gate import PAGES, Gate
from tests.support.sites.server import Web

MOST_TABS = 150  # from one end of the longest page to the other
HAS_FOCUS = "element => element === document.activeElement"
IS_MARKED = "element => getComputedStyle(element).outlineStyle !== 'none'"


@pytest.fixture
def press(page):
    """Return a function that goes to an element by the Tab key, and presses a key there."""

    def pressed(role, name, key="Enter", exact=True):
        wanted = page.get_by_role(role, name=name, exact=exact).first
        expect(wanted).to_be_visible()
        for _ in range(MOST_TABS):
            if wanted.evaluate(HAS_FOCUS):
                break
            page.keyboard.press("Tab")
        else:
            raise AssertionError(f"the Tab key does not lead to the {role} {name}")
        assert wanted.evaluate(IS_MARKED), f"nothing shows that the {role} {name} has the focus"
        if key:
            page.keyboard.press(key)

    return pressed


def test_crawl_is_started_steered_and_read(page, panel, press):
    gate = Gate()
    with Web(site=gate) as web:
        page.goto(panel)
        press("link", "Start a crawl")
        press("radio", "sitegraph", "ArrowDown", exact=False)
        expect(page.get_by_role("radio", name="extlinks")).to_be_checked()
        press("textbox", "Name", "")
        page.keyboard.type("keys")
        press("textbox", "Sites", "")
        page.keyboard.type(f"{web['site'].origin};1;;0")
        press("button", "Start")

        expect(page.get_by_role("heading", name="keys")).to_be_visible()
        press("button", "Pause")
        expect(page.get_by_text("paused", exact=True)).to_be_visible()
        press("button", "Go on")
        expect(page.get_by_text("running", exact=True)).to_be_visible()
        press("button", "Stop")
        gate.is_ajar.set()
        expect(page.get_by_text("stopped", exact=True)).to_be_visible()

        press("link", "Pages")
        press("searchbox", "Text", "")
        page.keyboard.type("/299")
        press("combobox", "State", "")
        page.keyboard.type("waiting")
        press("button", "Filter")
        expect(page.get_by_role("link", name=f"{web['site'].origin}/299", exact=True)).to_be_visible()
        with page.expect_download() as download:
            press("link", "CSV")
        assert "/299" in download.value.path().read_text("utf-8")
        press("region", "Pages", "ArrowRight")  # a table that is wider than a phone is moved by arrows

        press("link", f"{web['site'].origin}/299")
        expect(page.get_by_role("heading", level=1)).to_contain_text("/299")
        press("link", "Overview")
        gate.is_open.set()
        press("button", "Go on")
        expect(page.get_by_text("finished", exact=True)).to_be_visible()
        expect(page.locator("dl.figures div", has_text="Pages").first.locator("dd")).to_have_text(str(PAGES + 1))


def test_first_key_skips_to_the_content(page, panel):
    page.goto(panel)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_language_and_colours_are_chosen(page, panel, press):
    page.goto(panel)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    summary = page.locator("summary", has_text="Display")
    while not summary.evaluate(HAS_FOCUS):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    press("combobox", "Colours", "")
    page.keyboard.type("Dark")
    press("button", "Apply")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
