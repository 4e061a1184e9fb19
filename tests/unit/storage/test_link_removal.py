"""Chosen links are deleted, and nothing else."""

from contextlib import ExitStack

import pytest
from sqlalchemy import event, func, insert, select

from crawlers.errors import ConfigError, StoreError
from crawlers.reports.catalogue.filters import Filters
from crawlers.reports.catalogue.page_walk import link_key
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.reports.catalogue.report import rows_of
from crawlers.storage.database import Database
from crawlers.storage.link_removal import DeletedLinks, deleted_links, remove_links
from crawlers.storage.locks import WorkerLock
from crawlers.storage.schema.tables import metadata, worker
from crawlers.storage.workers import lock_crawl
from tests.support.stored_crawl import stored_crawl

NOTHING = Filters()
NAMES = ("external-links", "internal-links", "bad-links")


@pytest.fixture
def crawl_id(database):
    return stored_crawl(database)


def rows(database, crawl_id, name, filters=NOTHING):
    with database.read() as connection:
        return list(rows_of(REPORTS[name].steps(connection, crawl_id, filters, None)))


def remove(database, crawl_id, name, some, now=7.0):
    keys = [link_key(row.cursor) for row in some]
    return remove_links(database, crawl_id, REPORTS[name].link_kind, keys, now)


def numbers(database):
    """Return the number of rows of each table."""
    with database.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        }


@pytest.mark.both_stores
@pytest.mark.parametrize("name", NAMES)
def test_links_are_deleted_and_others_stay(database, crawl_id, name):
    everything, before = rows(database, crawl_id, name), numbers(database)
    assert remove(database, crawl_id, name, everything[1:]) == len(everything) - 1
    assert rows(database, crawl_id, name) == everything[:1]
    after = numbers(database)
    changed = {table: before[table] - after[table] for table in before if before[table] != after[table]}
    table = {"external-links": "external_link", "internal-links": "link", "bad-links": "bad_link"}[name]
    assert changed == {table: len(everything) - 1, "crawler_setting": -1}
    assert remove(database, crawl_id, name, everything[1:]) == 0


def test_crawl_records_what_was_deleted(database, crawl_id):
    one, two, three, *_ = rows(database, crawl_id, "external-links")
    remove(database, crawl_id, "external-links", [one], 5.0)
    remove(database, crawl_id, "external-links", [two, three], 6.0)
    remove(database, crawl_id, "bad-links", rows(database, crawl_id, "bad-links"), 8.0)
    with database.read() as connection:
        assert deleted_links(connection, crawl_id) == [
            DeletedLinks("external", 3, 6.0),
            DeletedLinks("bad", 2, 8.0),
        ]
        assert deleted_links(connection, crawl_id + 1) == []


def test_nothing_is_deleted_while_somebody_works_on_the_crawl(database, crawl_id):
    row = {"id": 5, "crawl_id": crawl_id, "machine": "m", "process": 1, "version": "1", "state": "active"}
    with database.write() as connection:
        connection.execute(insert(worker), {**row, "joined_at": 0, "beat_at": 0})
    everything = rows(database, crawl_id, "external-links")
    lock = WorkerLock(database, 5)
    try:
        with pytest.raises(ConfigError, match="the crawl spring is running; stop it first, then delete links"):
            remove(database, crawl_id, "external-links", everything)
    finally:
        lock.release()
    assert rows(database, crawl_id, "external-links") == everything
    assert remove(database, crawl_id, "external-links", everything) == len(everything)  # its process died


def test_worker_that_is_joining_is_awaited(postgresql_url):
    database = Database(postgresql_url)
    crawl_id = stored_crawl(database)
    everything = rows(database, crawl_id, "bad-links")
    with ExitStack() as stack:
        stack.callback(database.close)
        lock_crawl(stack.enter_context(database.write()), crawl_id)  # as `crawls.begin` does

        @event.listens_for(database.engine, "begin")
        def _lose_patience(connection):
            connection.exec_driver_sql("SET LOCAL lock_timeout = '1ms'")

        with pytest.raises(StoreError, match="lock timeout"):
            remove(database, crawl_id, "bad-links", everything)
