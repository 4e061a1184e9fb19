"""Links are chosen and deleted in the browser."""

import re
from html import unescape

import pytest
from sqlalchemy import func, select

from crawlers.store.schema.tables import bad_link, external_link, link
from crawlers.web.pages import deletion_pages

TABLES = {"external-links": external_link, "internal-links": link, "bad-links": bad_link}


def number_of(database, name):
    return database.scalar(select(func.count()).select_from(TABLES[name]))


def boxes(browser, path):
    return re.findall(r'type="checkbox" name="row" value="([^"]+)"', browser.get(path).text)


def fields(text):
    """Return the hidden fields of the form that deletes."""
    form = re.search(r'<form method="post" action="[^"]+/delete".*?</form>', text, re.DOTALL)[0]
    found = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form)
    rows = [value for name, value in found if name == "row"]
    return {name: unescape(value) for name, value in found if name not in ("csrf", "row")}, rows


@pytest.mark.parametrize("name", TABLES)
def test_chosen_links_are_deleted_after_they_were_counted(browser, crawl_id, sqlite, name):
    path = f"/crawls/{crawl_id}/reports/{name}"
    assert not boxes(browser, f"{path}?sort=anchor"), "rows in another order have numbers, not keys"
    chosen, before = boxes(browser, path)[:2], number_of(sqlite, name)
    page = f"{path}/delete?chosen=1&row={chosen[0]}&row={chosen[1]}"
    text = browser.get(page).text
    assert "2 chosen links will be deleted from the crawl spring." in text
    assert fields(text) == ({}, chosen)
    assert text.count('<span class="long">') == 2, "the links themselves"
    assert number_of(sqlite, name) == before
    response = browser.post(f"{path}/delete", page, row=chosen)
    assert "2 links were deleted." in response.text
    assert number_of(sqlite, name) == before - 2
    assert not set(chosen) & set(boxes(browser, path))


def test_all_links_that_the_filters_show_are_deleted_and_no_others(browser, crawl_id, sqlite):
    path = f"/crawls/{crawl_id}/reports/external-links"
    page = f"{path}/delete?site=c.test&level=2"
    text = browser.get(page).text
    assert "30 links will be deleted from the crawl spring: all that the filters show." in text
    assert fields(text) == ({"site": "c.test", "level": "2", "all": "1"}, [])
    before = browser.get(f"{path}.jsonl").text.splitlines()
    shown = browser.get(f"{path}.jsonl?site=c.test&level=2").text.splitlines()
    response = browser.post(f"{path}/delete", page, site="c.test", level="2", all="1")
    assert "30 links were deleted." in response.text
    assert browser.get(f"{path}.jsonl").text.splitlines() == [line for line in before if line not in shown]
    assert "There are no links that meet these conditions." in browser.get(page).text


def test_long_deletion_goes_on_by_itself_where_it_was(browser, crawl_id, sqlite, monkeypatch):
    monkeypatch.setattr(deletion_pages, "DELETE_S", -1.0)
    monkeypatch.setattr(deletion_pages, "SEARCH_S", -1.0)
    monkeypatch.setattr(deletion_pages, "BATCH", 40)
    path = f"/crawls/{crawl_id}/reports/external-links"
    hidden = 1  # a redirect that leaves its site
    form, total, answers = {"all": "1"}, number_of(sqlite, "external-links") - hidden, []
    while True:
        text = browser.post(f"{path}/delete", path, **form).text
        if "links were deleted." in text:
            break
        assert 'hx-trigger="load, submit"' in text
        form, _ = fields(text)
        answers.append(int(form["deleted"]))
        assert number_of(sqlite, "external-links") == total + hidden - answers[-1]
    assert answers[0] == 3  # of the first site
    assert answers == sorted(answers)
    assert f"{total} links were deleted." in text
    assert number_of(sqlite, "external-links") == hidden


def test_rare_links_are_never_counted_as_none(browser, crawl_id, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(deletion_pages, "COUNT_S", -1.0)
        text = browser.get(f"/crawls/{crawl_id}/reports/bad-links/delete?text=nowhere").text
    assert "At least" not in text
    assert "None was found within some seconds; the deletion searches all of its links." in text
    monkeypatch.setattr(deletion_pages, "COUNTED_ROWS", 1)
    text = browser.get(f"/crawls/{crawl_id}/reports/bad-links/delete").text
    assert "At least 1 link will be deleted" in text


def test_nothing_chosen_deletes_nothing(browser, crawl_id, sqlite):
    path = f"/crawls/{crawl_id}/reports/external-links"
    text = browser.get(f"{path}/delete?chosen=1&site=a.test").text
    assert "No links were chosen" in text
    assert "Delete for good" not in text
    before = number_of(sqlite, "external-links")
    assert browser.post(f"{path}/delete", path).status_code == 400
    assert number_of(sqlite, "external-links") == before


def test_links_of_a_running_crawl_are_not_deleted(browser, running_id, sqlite):
    path = f"/crawls/{running_id}/reports/external-links"
    before = number_of(sqlite, "external-links")
    text = browser.get(f"{path}/delete").text
    assert "pause is not enough" in text
    assert "Delete for good" not in text
    response = browser.post(f"{path}/delete", path, all="1")
    assert (response.status_code, "is running; stop it first" in response.text) == (409, True)
    assert number_of(sqlite, "external-links") == before


def test_history_of_a_url_tells_that_links_were_deleted(browser, crawl_id):
    path = f"/crawls/{crawl_id}/reports/external-links"
    history = f"/crawls/{crawl_id}/explain?url=http://b.test/one"
    assert "deleted by hand" not in browser.get(history).text
    browser.post(f"{path}/delete", path, all="1", host="b.test", text="one")
    text = browser.get(history).text
    assert "of this crawl, 2 of the links that it found were deleted by hand (external)" in text
    assert "never found in the crawl" in text  # no stored page links to it any more
