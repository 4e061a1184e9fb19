"""Links are chosen in a table and deleted in a real browser, also without a mouse."""

from playwright.sync_api import expect

from crawlers.storage.database import Database
from tests.support.stored_crawl import CRAWL, stored_crawl


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
