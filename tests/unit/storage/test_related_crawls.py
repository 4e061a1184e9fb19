"""Crawls that can be compared: those with the same sites first."""

import pytest
from sqlalchemy import insert

from crawlers.storage import queries as module
from crawlers.storage.queries import related_crawls
from crawlers.storage.schema.tables import crawl
from tests.support.stored_rows import add_sites


def stored(database, *sites):
    number = len(database_rows(database)) + 1
    row = {"name": f"c{number}", "mission": "sitegraph", "state": "finished", "started_at": 0.0, "manifest": "{}"}
    with database.write() as connection:
        connection.execute(insert(crawl), {"id": number, **row})
    if sites:
        add_sites(database, number, *sites)


def database_rows(database):
    with database.read() as connection:
        return connection.execute(crawl.select()).all()


@pytest.mark.both_stores
def test_crawls_with_most_sites_in_common_come_first_then_the_latest(database):
    stored(database, "http://a.test", "http://b.test")
    stored(database, "http://a.test")
    stored(database, "http://z.test")
    stored(database, "http://a.test", "http://b.test", "http://c.test")
    stored(database)
    stored(database, "http://b.test")
    found = [(one.id, one.shared_sites) for one in related_crawls(database, 1)]
    assert found == [(4, 2), (6, 1), (2, 1), (5, 0), (3, 0)]


def test_only_the_latest_crawls_are_listed(database, monkeypatch):
    monkeypatch.setattr(module, "MOST_CRAWLS", 2)
    for _ in range(4):
        stored(database, "http://a.test")
    assert [one.id for one in related_crawls(database, 1)] == [4, 3]
