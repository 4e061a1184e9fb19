"""Documents are read one after the other, and URL rules are tried while they are typed, in a real browser."""

import re

from playwright.sync_api import expect
from sqlalchemy import update

from crawlers.storage.database import Database
from crawlers.storage.schema.tables import crawl
from tests.support.stored_crawl import CRAWL, stored_crawl


def test_documents_are_read_and_rules_are_tried(page, panel, tmp_path):
    database = Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")
    stored_crawl(database)
    with database.write() as connection:
        connection.execute(update(crawl).values(mission="news"))
    database.close()
    page.on("dialog", lambda dialog: dialog.dismiss() or page.evaluate("throw new Error('a script ran')"))

    page.goto(f"{panel}/crawls/{CRAWL}")
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
    expect(page.locator(".verdict")).to_contain_text("The rule of the highest weight that it matches decides")
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
