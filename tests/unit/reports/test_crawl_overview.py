"""Crawls at a glance."""

import json

import pytest
from sqlalchemy import insert, update

from crawlers.reports.crawl_overview import counts_of_crawl, crawl_overview, crawls_overview
from crawlers.store.locks import WorkerLock
from crawlers.store.schema.tables import SettingRow, crawl, worker
from tests.support.stored_crawl import later_crawl, stored_crawl
from tests.support.stored_rows import execute, write_rows

WORKER = {"machine": "m", "process": 1, "version": "1", "state": "active", "joined_at": 1e9, "beat_at": 1e9}


def test_workers_whose_processes_have_died_are_not_counted(database):
    stored_crawl(database)
    status = json.dumps({"pages_per_s": 2.5, "waits": {}})
    execute(database, update(crawl).values(state="running"))
    rows = [{**WORKER, "id": number, "crawl_id": 1, "used": 10, "status": status} for number in (1, 2)]
    execute(database, insert(worker), rows)
    lock = WorkerLock(database, 2)
    [one] = crawls_overview(database, 20)
    lock.release()
    assert (one.workers, one.pages_per_s, one.used) == (1, 2.5, 20)
    assert crawl_overview(database, 1).workers == 0


def test_progress_is_the_share_of_the_budget_or_of_the_urls(database):
    stored_crawl(database)
    one = crawl_overview(database, 1)
    assert (one.counts, one.share, one.sites) == (None, None, 2)
    counts = counts_of_crawl(database, 1, "extlinks", with_deleted=True)
    assert (counts.pages, counts.redirects, counts.errors, counts.not_requested) == (134, 3, 2, 3)
    assert one._replace(counts=counts).share == 1.0
    assert one._replace(counts=counts._replace(waiting=139)).share == 0.5
    write_rows(database, SettingRow(1, "PAGE_BUDGET", "40"))
    execute(database, update(crawl).values(earlier_pulls=10))
    assert crawl_overview(database, 1).share == 0.25


@pytest.mark.both_stores
def test_earlier_crawls_are_listed_by_number(database):
    stored_crawl(database)
    later_crawl(database)
    found = [crawls_overview(database, *asked) for asked in ((20,), (1,), (20, 2), (20, 1))]
    assert [[one.id for one in crawls] for crawls in found] == [[2, 1], [2], [1], []]
