"""A crawl ends cleanly, whatever fails, and its outputs are written."""

import asyncio
import sqlite3
import threading
from contextlib import closing

import pytest
from sqlalchemy import text

from crawlers.errors import BadUrl, ConfigError, MissionError, StoreError
from crawlers.frontier.values import Candidate, Decision
from crawlers.items import State
from crawlers.reasons import Reason
from crawlers.urls.scope import Scope
from tests.support.opened_crawl import NOW, SITE, OpenedCrawl, target
from tests.support.services import fresh_database

BUG = ValueError("a bug")


def break_store(crawl):
    """Close the writer, so that every further write fails."""
    crawl.crawl.session.writer.close()


def reject(page):
    raise BUG


def check_failure(crawl, kind, text, reason="store_failed"):
    """Check that a failure has ended the crawl."""
    assert isinstance(crawl.crawl.control.failure, kind)
    assert text in str(crawl.crawl.control.failure)
    assert crawl.stopped == [reason]


# Failures


def test_bug_of_a_mission_while_a_page_is_stored_ends_the_crawl(opened, policy, caplog):
    crawl = opened()
    policy.decides = reject
    crawl.end(crawl.lease())
    text = ".decide: ValueError a bug; correct it, or report it if it is not yours"
    check_failure(crawl, MissionError, text, Reason.MISSION_FAILED)
    assert "The mission failed" in caplog.messages
    assert crawl.pages()["/"] == (State.WAITING, "")


def test_nothing_is_leased_or_stored_after_a_failure(opened):
    crawl = opened()
    crawl.end(crawl.lease(), "/a", "/b")
    lease = crawl.lease()
    crawl.crawl.control.abort(StoreError("the disk is full"))
    assert (crawl.crawl.leasing.has_pending, crawl.crawl.leasing.next(NOW)) == (False, None)
    crawl.end(lease)
    assert crawl.pages()["/a"] == (State.WAITING, "")


def test_store_that_fails_while_a_robots_txt_is_recorded_ends_the_crawl(opened):
    crawl = opened(ROBOTSTXT_OBEY=True)
    needed = crawl.robots()
    break_store(crawl)
    crawl.crawl.answers.record_robots(needed.site_id, 404, None)
    check_failure(crawl, StoreError, "")


def test_crawl_that_can_not_begin_leaves_the_store_to_the_next_one(opened):
    with pytest.raises(BadUrl):
        opened({"roots": ["mailto:x@a.test"]})
    assert "store-writer" not in [thread.name for thread in threading.enumerate()]
    assert opened().lease().url == f"{SITE}/"


# The end


def test_logs_are_complete_even_if_the_store_fails_at_the_end(opened, monkeypatch, tmp_path):
    def fail():
        raise StoreError("the disk is full")

    crawl = opened(COMMON_LOG_FILE=str(tmp_path / "common.csv"))
    crawl.end(crawl.lease(), "/a")
    crawl.end(crawl.lease())  # within a second, so that its line is still in the buffer
    monkeypatch.setattr(crawl.crawl.session, "commit", fail)
    crawl.close()
    assert f"{SITE}/a" in (tmp_path / "common.csv").read_text("utf-8")
    assert isinstance(crawl.crawl.control.failure, StoreError)


@pytest.mark.parametrize(("links", "state"), [(["/a"], "interrupted"), ([], "finished")], ids=["spent", "suffices"])
def test_nothing_is_pending_when_the_page_budget_is_spent(opened, links, state):
    crawl = opened({"page_budget": 1})
    assert crawl.crawl.leasing.has_pending
    assert not crawl.crawl.is_budget_exhausted
    crawl.end(crawl.lease(), *links)
    assert not crawl.crawl.leasing.has_pending
    assert crawl.crawl.is_budget_exhausted == bool(links)
    crawl.close()
    assert crawl.states() == [(state, "finished")]


@pytest.mark.parametrize("once", [False, True])
def test_crawl_with_news_once_ends_when_only_later_revisits_wait(opened, policy, once):
    crawl = opened({"scope": Scope("all", [SITE]), "revisits": True, "ends_early": once}, ORDER="aopic")
    policy.decides = lambda page: Decision(page, revisit_at=NOW + 3600.0)
    assert crawl.crawl.leasing.has_pending
    crawl.end(crawl.lease())
    assert crawl.crawl.leasing.has_pending is not once
    policy.more = True
    assert crawl.crawl.leasing.has_pending, "the policy does not know yet which pages are left"
    policy.more = False
    assert crawl.crawl.leasing.has_pending is not once


def test_outputs_are_written_when_everything_is_committed_and_then_the_crawl_is_finished(opened):
    crawl = opened()
    crawl.end(crawl.lease(), title="Home")
    read = []
    writer = crawl.crawl.session.writer
    crawl.close(lambda: read.extend((writer.is_closed, crawl.rows("SELECT title FROM page"), crawl.states()[0][0])))
    assert read == [True, [("Home",)], "running"]
    assert crawl.states() == [("finished", "finished")]
    assert crawl.crawl.control.failure is None


@pytest.mark.parametrize(
    ("error", "is_bug"), [(ConfigError("result: the folder can't be written"), False), (BUG, True)]
)
def test_crawl_whose_output_fails_is_not_finished_and_writes_it_on_the_next_run(opened, caplog, error, is_bug):
    written = []

    def fail():
        raise error

    crawl = opened()
    crawl.end(crawl.lease())
    crawl.close(lambda: written.append("before"), fail, lambda: written.append("after"))
    assert written == ["before", "after"]
    assert crawl.crawl.control.failure is error
    assert str(error) in caplog.messages
    assert ("Internal error" in caplog.messages) is is_bug
    assert crawl.states() == [("interrupted", "finished")]
    again = opened()
    assert not again.crawl.leasing.has_pending
    again.close(lambda: written.append("again"))
    assert written[2:] == ["again"]
    assert again.states() == [("finished", "finished")]


def test_close_after_a_failure_of_the_store_reports_it_and_frees_the_crawl(opened, monkeypatch):
    crawl = opened()
    with monkeypatch.context() as patch:
        patch.setattr(crawl.crawl.session, "end", lambda **_: (_ for _ in ()).throw(StoreError("the disk is full")))
        crawl.close()
    assert str(crawl.crawl.control.failure) == "the disk is full"
    assert crawl.states()[0][0] == "running"
    assert opened().lease().url == f"{SITE}/"


def test_failure_of_the_writer_ends_the_crawl_without_a_further_page(opened, monkeypatch):
    crawl = opened()
    crawl.lease()
    crawl.round()
    assert crawl.stopped == []
    lost = StoreError("the file was removed")
    monkeypatch.setattr(crawl.crawl.session.writer, "_check_store", lambda: (_ for _ in ()).throw(lost))
    crawl.crawl.session.writer._checked_at = float("-inf")
    crawl.fail(crawl.crawl.frontier.leases.get(1))
    crawl.crawl.session.writer._thread.join()
    crawl.round()
    check_failure(crawl, StoreError, "the file was removed")


def test_logs_are_written_in_each_round_and_at_the_end(opened, tmp_path):
    log = tmp_path / "common.csv"
    crawl = opened(COMMON_LOG_FILE=str(log))
    lines = []
    crawl.end(crawl.lease(), "/a", "/b")
    for step in (crawl.round, lambda: crawl.end(crawl.lease()), crawl.close):
        step()
        lines.append(log.read_text("utf-8").count("\n"))
    assert lines == [2, 2, 3]


# Levels of orders that are not breadth-first


def drained(crawl):
    """Read all pages: /x, on level 3, is found by a longer path, on level 4, which is too deep."""
    crawl.end(crawl.lease(), "/a", "/b")
    first, second = crawl.lease(), crawl.lease()
    crawl.end(first, "/a1")
    crawl.end(crawl.lease(), "/a2")
    crawl.end(crawl.lease(), "/x")
    crawl.end(second, "/a2")


def test_levels_that_are_too_deep_are_settled_when_nothing_waits(opened):
    crawl = opened(ORDER="opic", MAX_LEVEL=3)
    assert not crawl.crawl.leasing.has_unsettled_levels
    drained(crawl)
    assert crawl.pages()["/x"] == (State.REJECTED, "too_deep 4 3")
    assert crawl.crawl.leasing.has_unsettled_levels

    async def twice():
        await asyncio.gather(crawl.crawl.leasing.correct_levels(), crawl.crawl.leasing.correct_levels())

    asyncio.run(twice())
    assert crawl.wakes == 1, "once at a time"
    assert not crawl.crawl.leasing.has_unsettled_levels
    lease = crawl.lease()
    assert (lease.url, lease.level) == (f"{SITE}/x", 3)
    crawl.end(lease)
    assert crawl.crawl.leasing.has_unsettled_levels
    asyncio.run(crawl.crawl.leasing.correct_levels())
    assert not crawl.crawl.leasing.has_unsettled_levels
    assert crawl.levels() == {"/": 0, "/a": 1, "/b": 1, "/a1": 2, "/a2": 2, "/x": 3}
    crawl.crawl.frontier.add([Candidate(1, target("/later"))], NOW)
    crawl.end(crawl.lease())
    assert crawl.crawl.leasing.has_unsettled_levels


def test_levels_that_can_not_be_read_end_the_crawl(opened, sqlite_url):
    crawl = opened(ORDER="opic", MAX_LEVEL=3)
    drained(crawl)
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
        connection.execute("DROP TABLE link")
    asyncio.run(crawl.crawl.leasing.correct_levels())
    check_failure(crawl, StoreError, "no such table: link")
    assert not crawl.crawl.leasing.has_unsettled_levels


def test_crawl_that_is_closed_while_levels_are_settled_does_not_fail(opened):
    crawl = opened(ORDER="opic", MAX_LEVEL=3)
    drained(crawl)
    break_store(crawl)
    asyncio.run(crawl.crawl.leasing.correct_levels())
    assert (crawl.crawl.control.failure, crawl.stopped, crawl.wakes) == (None, [], 0)


def test_outputs_are_written_when_the_server_knows_how_many_pages_there_are(postgresql_socket):
    known = []

    def output():
        known.append(crawl.session.database.scalar(text("SELECT reltuples FROM pg_class WHERE relname = 'page'")))

    with fresh_database(postgresql_socket) as url:
        opened = OpenedCrawl(url)
        crawl = opened.crawl
        opened.end(opened.lease(), "/a", "/b")
        for _ in range(2):
            opened.end(opened.lease())
        opened.close(output)
    assert known == [3]
