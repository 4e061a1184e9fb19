"""Crawls in the browser."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import insert, select, update

from crawlers.errors import ConfigError
from crawlers.inputs.crawl_command import CrawlCommand
from crawlers.items import State
from crawlers.storage.locks import WorkerLock
from crawlers.storage.schema.tables import crawl, crawler_setting, page, worker
from crawlers.web.starting import Begun, Ending, Refused
from tests.support.stored_crawl import HOSTILE

COMMAND = {"arguments": {"hosts": "hosts.txt"}, "settings": {"PAGE_BUDGET": "9", "WORKERS": "2"}}


@pytest.fixture
def running_id(sqlite, crawl_id):
    """The number of a crawl that a worker runs."""
    row = {"crawl_id": crawl_id, "machine": "m", "process": 1, "version": "1", "state": "active"}
    with sqlite.write() as connection:
        connection.execute(update(crawl).values(state="running"))
        connection.execute(insert(worker), {**row, "id": 3, "joined_at": 1e9, "beat_at": 1e9, "pages": 7})
    lock = WorkerLock(sqlite, 3)
    yield crawl_id
    lock.release()


@pytest.fixture
def stopped_id(sqlite, crawl_id):
    """The number of a crawl that was stopped."""
    manifest = {"command": COMMAND, "seeds": ["http://a.test"], "settings": {"RULE_SEED": 7, "ORDER": "bfs"}}
    with sqlite.write() as connection:
        connection.execute(update(crawl).values(state="interrupted", manifest=json.dumps(manifest)))
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
    assert "<dt>Pages</dt><dd>134</dd>" in text
    assert "<dt>Errors</dt><dd>2</dd>" in text


def test_running_crawl_is_paused_goes_on_and_is_stopped(browser, running_id, sqlite):
    path = f"/crawls/{running_id}"
    for action, asked, button in (("pause", "pause", "go-on"), ("go-on", None, "pause"), ("stop", "stop", None)):
        assert browser.post(f"{path}/{action}").headers["location"] == path
        assert control(sqlite, running_id) == asked
        text = browser.get(path).text
        assert ("<button disabled" in text) == (action == "stop")
        assert (f'action="{path}/{button}"' in text) == (button is not None)
    assert 'action="/crawls/1/stop"' not in browser.get(path).text


def test_crawl_whose_processes_have_died_can_be_resumed_but_not_stopped(browser, running_id, sqlite):
    with sqlite.write() as connection:
        connection.execute(update(worker).values(id=4))  # a number whose lock nobody holds
    text = browser.get("/crawls/1").text
    assert 'action="/crawls/1/go-on"' in text
    assert "Nobody works on it" in text
    assert 'action="/crawls/1/stop"' not in text


def test_stopped_crawl_goes_on_by_the_same_command(browser, stopped_id, starter):
    starter.outcome = Begun(stopped_id)
    assert browser.post("/crawls/1/go-on").headers["location"] == "/crawls/1"
    expected = CrawlCommand("extlinks", {"hosts": "hosts.txt"}, {"PAGE_BUDGET": "9", "WORKERS": "2"})
    assert starter.commands == [("spring", expected, {})]


@pytest.mark.parametrize("outcome", [Refused("hosts=x: no <such> file"), ConfigError("no <such> file")])
def test_crawl_that_can_not_go_on_says_why(browser, stopped_id, starter, outcome):
    starter.outcome = outcome
    response = browser.post("/crawls/1/go-on")
    assert (response.status_code, "no &lt;such&gt; file" in response.text) == (422, True)


def test_finished_crawl_does_not_go_on(browser, crawl_id, starter):
    assert browser.post("/crawls/1/go-on").status_code == 303
    assert starter.commands == []
    text = browser.get("/crawls/1").text
    assert text.count("<button disabled") == 2
    assert "It is finished" in text
    assert 'href="/start?like=1"' in text


def test_workers_are_shown_with_what_each_site_waits_for(browser, running_id, sqlite):
    row = {"site_id": 1, "level": 0, "hops": 0, "priority": 0, "state": int(State.WAITING), "found_at": 0, "variant": 0}
    with sqlite.write() as connection:
        connection.execute(insert(page), {**row, "id": 999, "key": 999, "url": "http://a.test/w", "state_at": 0})
    text = browser.get("/crawls/1/work").text
    assert '<td class="n">3</td><td>m</td>' in text
    assert "<td>http://a.test</td>" in text
    assert "<td>a worker</td>" in text
    assert "The panel did not start this crawl" in text


def test_end_of_the_log_is_shown_as_text(browser, crawl_id, tmp_path):
    folder = tmp_path / "logs/panel/spring"
    folder.mkdir(parents=True)
    (folder / "2026-11-23.log").write_text(f"first\n{HOSTILE}\n", "utf-8")
    text = browser.get("/crawls/1/work").text
    assert "first\n&lt;script&gt;alert(1)&lt;/script&gt;</pre>" in text
    assert "<code>logs/panel/spring/2026-11-23.log</code>" in text


def test_manifest_is_shown_and_sent(browser, stopped_id, sqlite):
    with sqlite.write() as connection:
        connection.execute(insert(crawler_setting), {"crawl_id": stopped_id, "name": "RULE_SEED", "value": "8"})
    text = browser.get("/crawls/1/manifest").text
    assert "scrapy crawl extlinks -a hosts=hosts.txt -s PAGE_BUDGET=9 -s WORKERS=2 -s CRAWL=spring" in text
    assert "Settings changed when it was resumed" in text
    response = browser.get("/crawls/1/manifest.json")
    assert response.headers["content-disposition"] == 'attachment; filename="manifest-1.json"'
    sent = response.json()
    assert (sent["crawl"], sent["seeds"], sent["settings"]["RULE_SEED"]) == ("spring", ["http://a.test"], 7)
    assert sent["changed_settings"] == {"RULE_SEED": "8"}


def test_process_that_failed_is_told(browser, crawl_id, starter):
    starter.ended = [Ending("<b>", 1e9, 2), Ending("good", 1e9, 0)]
    text = browser.get("/").text
    assert "The process of the crawl &lt;b&gt; ended at" in text
    assert "good" not in text


def test_unknown_action_is_no_page(browser, running_id):
    assert browser.post(f"/crawls/{running_id}/explode").status_code == 404
