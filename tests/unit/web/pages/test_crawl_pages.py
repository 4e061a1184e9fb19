"""Crawls in the browser."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, select, update

from crawlers.storage.schema.tables import crawl, worker


@pytest.fixture
def running_id(sqlite, crawl_id):
    """The number of a crawl that a worker runs."""
    row = {"crawl_id": crawl_id, "machine": "m", "process": 1, "version": "1", "state": "active"}
    with sqlite.write() as connection:
        connection.execute(update(crawl).values(state="running"))
        connection.execute(insert(worker), {**row, "joined_at": 1e9, "beat_at": 1e9, "pages": 7})
    return crawl_id


def control(database, crawl_id):
    with database.read() as connection:
        return connection.execute(select(crawl.c.control).where(crawl.c.id == crawl_id)).scalar()


def test_empty_store_says_what_to_do_next(browser):
    assert "scrapy crawl sitegraph" in browser.get("/").text


def test_crawls_are_listed(browser, crawl_id):
    text = browser.get("/").text
    assert f'href="/crawls/{crawl_id}">spring</a>' in text
    assert "finished" in text


def test_crawl_is_shown_with_its_numbers(browser, crawl_id):
    text = browser.get(f"/crawls/{crawl_id}").text
    assert "<dt>Pages</dt><dd>133</dd>" in text
    assert "<dt>Errors</dt><dd>2</dd>" in text


def test_running_crawl_is_paused_goes_on_and_is_stopped(browser, running_id, sqlite):
    path = f"/crawls/{running_id}"
    for action, asked, button in (("pause", "pause", "go-on"), ("go-on", None, "pause"), ("stop", "stop", None)):
        assert browser.post(f"{path}/{action}").headers["location"] == path
        assert control(sqlite, running_id) == asked
        text = browser.get(path).text
        assert (f'action="{path}/{button}"' in text) == (button is not None)
    assert 'action="/crawls/1/stop"' not in browser.get(path).text


def test_unknown_action_is_no_page(browser, running_id):
    assert browser.post(f"/crawls/{running_id}/explode").status_code == 404
