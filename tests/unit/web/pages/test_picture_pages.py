"""Pictures in the browser: pages without their script, and the data."""

import pytest
from sqlalchemy import update

from crawlers.store.schema.tables import PullRow, page
from crawlers.web.pages import picture_pages
from tests.support.stored_rows import execute, write_rows


@pytest.fixture
def pulled(sqlite, crawl_id):
    """The crawl, with pulls of its two sites."""
    write_rows(sqlite, *(PullRow(site, 1, 1.0, 100.0 + site) for site in (1, 2, 1)))
    return crawl_id


def test_reader_chooses_the_axis_and_a_site(browser, pulled):
    text = browser.get(f"/crawls/{pulled}/pictures/pulls?axis=pages&site=c.test").text
    assert '<option value="pages" selected>' in text
    assert 'data-values="/crawls/1/pictures/pulls.json?site=c.test&amp;axis=pages"' in text
    found = browser.get(f"/crawls/{pulled}/pictures/pulls.json?axis=pages&site=c.test").json()
    assert [one["title"] for one in found["series"]] == ["http://c.test"]
    assert found["points"] == [1.0, 2.0, 3.0]
    assert browser.get(f"/crawls/{pulled}/pictures/pulls.json").json()["points"] == [101.0, 102.0, 102.0]


def test_pictures_of_an_ended_crawl_are_kept(browser, crawl_id, sqlite, monkeypatch):
    monkeypatch.setattr(picture_pages, "SHARE", 1e9)
    path = f"/crawls/{crawl_id}/pictures/levels"
    assert browser.get(f"{path}.json").json()["points"] == [0, 1, 2, 3, 4]
    execute(sqlite, update(page).values(level=0))
    assert browser.get(f"{path}.json").json()["points"] == [0, 1, 2, 3, 4]
    assert browser.get(f"{path}?again=1").headers["location"] == path + "?"
    assert browser.get(f"{path}.json").json()["points"] == [0]
