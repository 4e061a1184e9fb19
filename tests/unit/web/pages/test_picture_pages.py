"""Pictures in the browser: pages without their script, and the data."""

import pytest
from sqlalchemy import update

from crawlers.storage.schema.tables import PullRow, page
from crawlers.web.pages import picture_pages
from tests.support.stored_rows import write_rows


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


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/crawls/9/pictures", 404, "There is no crawl 9 in the store."),
        ("/crawls/1/pictures/x", 404, "There is no picture x; there are links-found,"),
        ("/crawls/1/pictures/x.json", 404, "There is no picture x; there are links-found,"),
        ("/crawls/1/pictures/levels?site=<b>.test", 400, "is not a site of this crawl"),
        ("/crawls/1/pictures/levels.csv?site=z.test", 400, "is not a site of this crawl"),
    ],
)
def test_wrong_address_is_an_error_in_words(browser, crawl_id, path, status, sentence):
    response = browser.get(path)
    assert response.status_code == status
    assert sentence in response.text
    assert "<b>" not in response.text


def test_pictures_of_an_ended_crawl_are_kept(browser, crawl_id, sqlite, monkeypatch):
    monkeypatch.setattr(picture_pages, "SHARE", 1e9)
    path = f"/crawls/{crawl_id}/pictures/levels"
    assert browser.get(f"{path}.json").json()["points"] == [0, 1, 2, 3, 4]
    with sqlite.write() as connection:
        connection.execute(update(page).values(level=0))
    assert browser.get(f"{path}.json").json()["points"] == [0, 1, 2, 3, 4]
    assert browser.get(f"{path}?again=1").headers["location"] == path + "?"
    assert browser.get(f"{path}.json").json()["points"] == [0]
