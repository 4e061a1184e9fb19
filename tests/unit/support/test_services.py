"""A store that is cleared for the next test is like a new one."""

from contextlib import closing

import psycopg
from sqlalchemy import text

from crawlers.storage import crawls
from crawlers.storage.database import Database
from crawlers.storage.site_rows import SiteRow
from tests.support.stored_rows import page_ids

SITE = SiteRow(0, "http://a.test", 1, None, 0.0)


def begun(url):
    """Return the numbers of a new crawl and of its first page."""
    with closing(Database(url)) as database:
        return crawls.begin(database, "mine", "sitegraph", [SITE], {}, 0.0).id, page_ids(database, 10)[0]


def test_clearing_restarts_numbers_and_closes_connections(postgresql_store):
    numbers, left = set(), []
    for _ in range(2):
        postgresql_store.clear()
        numbers.add(begun(postgresql_store.url))
        left.append(psycopg.connect(postgresql_store.url.replace("+psycopg", "")))
        left[-1].execute("SELECT * FROM page")  # holds a lock until its transaction ends
    for connection in left:
        connection.close()
    assert len(numbers) == 1


def test_store_with_changed_tables_is_recreated(postgresql_store):
    postgresql_store.clear()
    with closing(Database(postgresql_store.url)) as database, database.write() as connection:
        connection.execute(text("DROP TABLE external_link"))
    postgresql_store.clear()
    with closing(Database(postgresql_store.url)) as database, database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM external_link")).scalar() == 0
