"""Lists of numbers are one parameter, which both databases look up in an index."""

import pytest
from sqlalchemy import text

from crawlers.store.streaming import execute, urls_of

LINKS = 20_000


@pytest.mark.both_stores
def test_links_of_some_pages_are_found_in_the_index_without_statistics(database):
    numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :links)"
    with database.write() as connection:
        statement = text(f"INSERT INTO link (source_id, target_id, count) {numbers} SELECT i / 20, i, 1 FROM n")
        connection.execute(statement, {"links": LINKS})
    with database.read() as connection:
        plan = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN"
        rows = execute(connection, f"{plan} SELECT target_id FROM link WHERE source_id {{ids}}", ids={7})
        steps = "\n".join(str(row) for row in rows)
        assert "PRIMARY KEY" in steps if database.is_sqlite else "link_pkey" in steps
        found = execute(connection, "SELECT target_id FROM link WHERE source_id {ids}", ids={7})
        assert sorted(found.scalars()) == list(range(140, 160))


@pytest.mark.both_stores
def test_an_empty_list_finds_nothing(database):
    with database.read() as connection:
        assert urls_of(connection, ()) == {}
