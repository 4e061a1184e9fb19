"""Crawls are started, watched, steered and run again, and links deleted, in a real browser, also without a mouse."""

import json
import re

from playwright.sync_api import expect

from crawlers.store.database import Database
from tests.support.of_missions import needs
from tests.support.sites.gate import PAGES, Gate
from tests.support.sites.server import Web
from tests.support.stored_crawl import CRAWL, stored_crawl


@needs("sitegraph", "extlinks")
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


@needs("sitegraph", "extlinks")
def test_crawl_is_started_watched_and_run_again(page, panel, tmp_path):
    """What the crawl above does not show."""
    gate = Gate()
    with Web(site=gate) as web:
        page.goto(panel)
        page.get_by_role("link", name="Start a crawl").first.click()
        page.get_by_label("Name").fill("spring")
        page.get_by_label("Sites", exact=True).fill(f"{web['site'].origin};1;;0")
        page.get_by_label("MAX_LEVEL").fill("deep")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("alert")).to_contain_text("MAX_LEVEL='deep' is not a whole number")
        page.get_by_label("MAX_LEVEL").fill("3")
        page.get_by_role("button", name="Start").click()

        expect(page.get_by_text("running", exact=True)).to_be_visible()
        pages = page.locator("dl.figures div", has_text="Pages").first.locator("dd")
        expect(pages).to_have_text("2")  # live
        page.get_by_role("link", name="Workers", exact=True).click()
        expect(page.locator("pre.log")).to_contain_text("Crawl spring begins: 1 site")
        page.get_by_role("link", name="Overview").click()
        gate.is_ajar.set()
        gate.is_open.set()
        expect(page.get_by_text("finished", exact=True)).to_be_visible()
        expect(pages).to_have_text(str(PAGES + 1))
        expect(page.get_by_role("button", name="Stop")).to_be_disabled()

        page.get_by_role("link", name="Manifest").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="JSON").click()
        manifest = json.loads(download.value.path().read_text("utf-8"))
        assert manifest["command"]["settings"]["MAX_LEVEL"] == "3"
        page.get_by_role("link", name="Run again with these settings").click()
        expect(page.get_by_label("MAX_LEVEL")).to_have_value("3")
        expect(page.get_by_label("Sites", exact=True)).to_have_value(re.compile("127.0.0.1"))
    assert sorted(path.name for path in (tmp_path / "result").glob("spring-1/*.gexf"))


def test_chosen_links_and_those_of_a_filter_are_deleted(page, panel, tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")
    stored_crawl(database)
    database.close()
    page.goto(f"{panel}/crawls/{CRAWL}/reports")
    page.get_by_role("link", name="External links").click()
    page.get_by_label("Site", exact=True).fill("a.test")
    page.get_by_role("button", name="Filter").click()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(3)

    page.get_by_role("button", name="Delete chosen").click()
    expect(page.get_by_text("No links were chosen")).to_be_visible()
    page.get_by_role("link", name="Back").click()
    page.get_by_label("Choose row 1", exact=True).press("Space")
    page.get_by_label("Choose row 3", exact=True).check()
    page.get_by_role("button", name="Delete chosen").press("Enter")
    expect(page.get_by_text("2 chosen links will be deleted from the crawl spring.")).to_be_visible()
    page.get_by_role("link", name="Back").click()
    expect(rows).to_have_count(3)

    page.get_by_label("Choose all shown").check()
    expect(page.get_by_label("Choose row 2", exact=True)).to_be_checked()
    page.get_by_label("Choose row 2", exact=True).uncheck()
    expect(page.get_by_label("Choose all shown")).not_to_be_checked()
    page.get_by_role("button", name="Delete chosen").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("2 links were deleted.")).to_be_visible()
    page.get_by_role("link", name="Back to the table").click()

    page.get_by_label("Site", exact=True).fill("c.test")
    page.get_by_label("Level").fill("4")
    page.get_by_role("button", name="Filter").click()
    expect(rows).to_have_count(10)
    page.get_by_role("link", name="Delete all that the filters show").click()
    expect(
        page.get_by_text("10 links will be deleted from the crawl spring: all that the filters show.")
    ).to_be_visible()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("10 links were deleted.")).to_be_visible()
    page.goto(f"{panel}/crawls/{CRAWL}/reports/external-links?level=4")
    expect(page.get_by_text("No row meets these conditions.")).to_be_visible()
