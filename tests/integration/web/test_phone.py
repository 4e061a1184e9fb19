"""On a phone the tabs of a crawl and the filters of a table take a line each; the filters open without any script."""

import pytest
from playwright.sync_api import expect

from crawlers.storage.database import Database
from tests.support.processes import PATIENCE_S
from tests.support.stored_crawl import stored_crawl

ONE_LINE = 50  # px
PHONE = {"width": 390, "height": 800}


@pytest.fixture
def table(tmp_path, panel):
    """The address of a table with a filter."""
    database = Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")
    crawl_id = stored_crawl(database)
    database.close()
    return f"{panel}/crawls/{crawl_id}/reports/not-in-sitemap?site=a.test"


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
