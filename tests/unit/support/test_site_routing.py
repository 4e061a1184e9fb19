"""Tests of the analysis that tells whether a statement concerns rows of given sites only."""

from __future__ import annotations

import pytest

from tests.support.site_routing import CENTRAL, DIVIDED_BY, HASHED, TABLES, crossed

ROWS = "SELECT json_extract(value, '$[0]') AS a, json_extract(value, '$[1]') AS b FROM json_each(?)"


def test_every_table_is_divided_or_not_and_by_columns_that_it_has():
    assert sorted([*DIVIDED_BY, *HASHED, *CENTRAL]) == sorted(TABLES)
    for table, columns in DIVIDED_BY.items():
        assert set(columns) <= {column.name for column in TABLES[table].c}, table


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT url FROM page WHERE site_id = ?",
        "SELECT p.url FROM page AS p WHERE p.id IN (SELECT value FROM json_each(?))",
        "SELECT l.count FROM page AS p LEFT JOIN link AS l ON l.source_id = p.id WHERE p.id = ?",
        "SELECT l.count FROM page AS p JOIN link AS l ON l.source_id = p.id WHERE p.site_id = ?",
        "SELECT p.url FROM page p JOIN site s ON s.id = p.site_id WHERE s.crawl_id = ? AND s.site = ?",
        "SELECT m.url FROM message m JOIN site s ON s.id = m.site_id WHERE s.crawl_id = ? AND s.worker_id = ?",
        "SELECT id FROM site AS s WHERE id = ? AND (is_open OR EXISTS (SELECT 1 FROM page WHERE site_id = s.id))",
        f"UPDATE page SET state = r.b FROM ({ROWS}) AS r WHERE page.id = r.a",
        f"DELETE FROM link WHERE (source_id, target_id) IN ({ROWS})",
        f"INSERT INTO link (source_id, target_id) SELECT r.a, t.key FROM ({ROWS}) AS r, json_each(r.b) AS t",
        f"INSERT INTO message (crawl_id, site_id) SELECT r.a, s.id FROM ({ROWS}) AS r"
        " JOIN site AS s ON s.crawl_id = r.a AND s.site = r.b",
        f"INSERT INTO pull (site_id, page_id) SELECT * FROM ({ROWS}) AS r",
        "INSERT INTO pull (site_id, page_id) VALUES (?, ?)",
        "SELECT control FROM crawl WHERE id = ?",
    ],
)
def test_statement_about_given_sites_does_not_cross(statement):
    assert crossed(statement, "sqlite") == set()


@pytest.mark.parametrize(
    ("statement", "tables"),
    [
        ("SELECT url FROM page", {"page"}),
        ("SELECT url FROM page WHERE level = ?", {"page"}),
        ("SELECT url FROM page WHERE site_id = ? OR level = ?", {"page"}),
        ("SELECT url FROM page WHERE site_id > ?", {"page"}),
        ("SELECT p.url FROM link AS l JOIN page AS p ON p.id = l.target_id WHERE l.source_id = ?", {"page"}),
        ("SELECT count FROM link WHERE target_id = ?", {"link"}),
        ("SELECT p.url FROM page p JOIN site s ON s.id = p.site_id WHERE s.crawl_id = ?", {"page"}),
        ("SELECT id FROM site AS s WHERE crawl_id = ? AND EXISTS (SELECT 1 FROM page WHERE site_id = s.id)", {"page"}),
        ("SELECT p.url FROM (SELECT page_id FROM pull WHERE id = ?) AS r JOIN page AS p ON p.id = r.page_id",
         {"page", "pull"}),
        (f"DELETE FROM message WHERE (id) IN (SELECT r.a FROM ({ROWS}) AS r)", {"message"}),
        ("UPDATE message SET count = 0 WHERE source_id = ?", {"message"}),
        ("INSERT INTO pull (site_id, page_id) SELECT site_id, id FROM page WHERE level = ?", {"page", "pull"}),
        ("SELECT id FROM site WHERE id = ? UNION ALL SELECT id FROM page", {"page"}),
    ],
)  # fmt: skip
def test_statement_about_any_sites_crosses(statement, tables):
    assert crossed(statement, "sqlite") == tables


def test_statements_of_postgresql_are_read_as_well():
    rows = "SELECT (value->>0)::bigint AS id, value->1 AS targets FROM jsonb_array_elements(%s::jsonb)"
    insert = "INSERT INTO link (source_id, target_id, count) SELECT r.id, t.key::bigint, t.value::integer"
    assert crossed(f"{insert} FROM ({rows}) AS r, jsonb_each_text(r.targets) AS t", "postgresql") == set()
    lateral = "SELECT l.id FROM worker CROSS JOIN LATERAL (SELECT id FROM pull WHERE worker_id = worker.id) AS l"
    assert crossed(f"{lateral} WHERE worker.crawl_id = %(crawl)s", "postgresql") == {"pull"}
    held = "SELECT m.id FROM site JOIN LATERAL (SELECT * FROM message WHERE message.site_id = site.id) AS m ON true"
    assert crossed(f"{held} WHERE site.crawl_id = %s AND site.worker_id = %s", "postgresql") == set()


def test_what_concerns_no_rows_is_refused():
    with pytest.raises(ValueError, match="PRAGMA"):
        crossed("PRAGMA page_size", "sqlite")
