"""The store in a database: page numbers and query plans."""

from __future__ import annotations

from concurrent.futures import Future

import pytest
from sqlalchemy import text

from crawlers.frontier.sql_store import (
    _BEST_OF,
    _KNOWN,
    _NUMBERS_KNOWN,
    _WAITING,
    SqlFrontierStore,
)
from crawlers.storage import crawls
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.schema.score_tables import OrderTotalsRow
from crawlers.storage.schema.tables import UnchangedPage
from crawlers.storage.site_rows import SiteRow
from crawlers.storage.streaming import AMONG
from crawlers.storage.writer import Writer

pytestmark = pytest.mark.both_stores


@pytest.fixture
def store(database):
    crawls.begin(database, "c", "m", [SiteRow(0, "http://a.test", 1, None, 0.0)], {}, 0.0)
    writer = Writer(database)
    yield SqlFrontierStore(database, writer, 1, looks_back=True)
    writer.close()


def test_numbers_are_new_across_blocks_and_stores(store, database):
    numbers = [store.new_id() for _ in range(10_001)]
    assert numbers == list(range(1, 10_002))
    other = SqlFrontierStore(database, store._writer, 1, looks_back=True)
    assert other.new_id() > 20_000


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (_WAITING, "page_waiting"),
        (f"{_KNOWN} = :site AND key >= :key ORDER BY key LIMIT :limit", "page_key"),
        (f"{_KNOWN} = :site AND key{AMONG['sqlite']}", "page_key"),
        (_NUMBERS_KNOWN.format(among=AMONG["sqlite"]), "page_key"),
        (f"{_KNOWN}{AMONG['sqlite']} ORDER BY site_id, key", "page_key"),
    ],
)
def test_sqlite_uses_the_index_and_sorts_nothing(sqlite, statement, index):
    # PostgreSQL plans by the numbers of a real crawl; SQLite by the statement alone.
    values = {"site": 1, "priority": 0.0, "id": 0, "limit": 9, "key": 0, "ids": "[1]"}
    with sqlite.read() as connection:
        plan = [line[3] for line in connection.execute(text(f"EXPLAIN QUERY PLAN {statement}"), values)]
    assert any(index in line for line in plan)
    assert not any(line.startswith(("SCAN page", "USE TEMP B-TREE")) for line in plan)


def test_sqlite_finds_the_best_pages_by_the_index_alone(sqlite):
    statement = _BEST_OF.format(table="news_score", among=AMONG["sqlite"])
    with sqlite.read() as connection:
        plan = connection.execute(text(f"EXPLAIN QUERY PLAN {statement}"), {"limit": 9, "key": 0, "ids": "[1]"})
        steps = [line[3] for line in plan]
    assert any("USING COVERING INDEX news_score_waiting (site_id=? AND queue>?)" in step for step in steps)


class Commits:
    """A writer that never commits by itself, and notes how many change sets it was asked to commit."""

    def __init__(self):
        self.submitted = self.committed = 0
        self.waited: list[int] = []

    def submit(self, changes):
        self.submitted += 1

    def wait_for(self, number):
        self.waited.append(number)
        self.committed = max(self.committed, number)

    def run(self, job):
        result: Future[range] = Future()
        result.set_result(range(1, 100))
        return result


def test_look_back_waits_for_the_rows_of_the_page_only(sqlite):
    commits = Commits()
    store = SqlFrontierStore(sqlite, commits, 1, looks_back=True)  # type: ignore[arg-type]
    for page_id in (7, 8, 7, 9):
        store.submit(ChangeSet(OrderTotalsRow(1, 0, "[]", "[]"), UnchangedPage(page_id, None, 0.0, None, None)))
    assert store.entries([8]) == []
    assert store.entries([7, 8]) == []
    assert store.entries([5]) == []
    assert commits.waited == [2, 3, 0]
