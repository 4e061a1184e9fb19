"""A crawl is started, watched, paused, continued, stopped and resumed in a real browser."""

import json
import re

from playwright.sync_api import expect

from tests.support.sites.gate import PAGES, Gate
from tests.support.sites.server import Web


def test_crawl_is_started_watched_and_run_again(page, panel, tmp_path):
    """What `test_keyboard.py` does not show of a crawl."""
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
