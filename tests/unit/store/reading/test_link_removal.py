"""Chosen links are deleted, and nothing else."""

import pytest
from sqlalchemy import event

from crawlers.errors import StoreError
from crawlers.reports.catalogue.index_walk import link_key
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.store.sites.seeds import DeletedLinks, deleted_links, remove_links
from crawlers.store.worker_rows import lock_crawl
from tests.support.report_rows import report_rows
from tests.support.stored_crawl import stored_crawl
from tests.support.stored_rows import read


@pytest.fixture
def crawl_id(database):
    return stored_crawl(database)


def remove(database, crawl_id, name, some, now=7.0):
    keys = [link_key(row.cursor) for row in some]
    return remove_links(database, crawl_id, REPORTS[name].link_kind, keys, now)


def test_crawl_records_what_was_deleted(database, crawl_id):
    one, two, three, *_ = report_rows(database, REPORTS["external-links"], crawl_id)
    remove(database, crawl_id, "external-links", [one], 5.0)
    remove(database, crawl_id, "external-links", [two, three], 6.0)
    remove(database, crawl_id, "bad-links", report_rows(database, REPORTS["bad-links"], crawl_id), 8.0)
    assert read(deleted_links, database, crawl_id) == [DeletedLinks("external", 3, 6.0), DeletedLinks("bad", 2, 8.0)]
    assert read(deleted_links, database, crawl_id + 1) == []


def test_worker_that_is_joining_is_awaited(postgresql):
    crawl_id = stored_crawl(postgresql)
    everything = report_rows(postgresql, REPORTS["bad-links"], crawl_id)
    with postgresql.write() as connection:
        lock_crawl(connection, crawl_id)  # as `crawls.begin` does

        @event.listens_for(postgresql.engine, "begin")
        def _lose_patience(connection):
            connection.exec_driver_sql("SET LOCAL lock_timeout = '1ms'")

        with pytest.raises(StoreError, match="lock timeout"):
            remove(postgresql, crawl_id, "bad-links", everything)
