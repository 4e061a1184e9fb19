"""Conditions on texts mean the same in SQLite and PostgreSQL, whatever the language of the database."""

from __future__ import annotations

import pytest
from sqlalchemy import String, create_mock_engine, literal, select

from crawlers.reports.catalogue.conditions import by_code_points, contains, is_host

pytestmark = pytest.mark.both_stores


@pytest.mark.parametrize(
    ("stored", "text", "is_part"),
    [("\u00c4RZTE", "\u00c4rz", True), ("\u00c4RZTE", "\u00e4rz", False), ("100%", "0%", True), ("100 ", "0%", False)],
)
def test_case_of_ascii_letters_does_not_matter(database, stored, text, is_part):
    with database.read() as connection:
        found = connection.execute(select(contains(literal(stored, String), text))).scalar_one()
    assert bool(found) == is_part


@pytest.mark.parametrize(
    ("host", "met"),
    [("a.test", 4), ("a.test:81", 1), ("http://a.test", 1), ("https://a.test", 1), ("http://a.test:81", 1)],
)
def test_host_is_at_any_port_and_a_site_is_at_one(sqlite, host, met):
    sites = ("http://a.test", "https://a.test", "http://a.test:81", "http://www.a.test")
    with sqlite.read() as connection:
        found = [connection.execute(select(is_host(literal(site, String), host))).scalar_one() for site in sites]
    assert sum(map(bool, found)) == met


def test_postgresql_does_not_use_the_language_of_the_database():
    engine = create_mock_engine("postgresql+psycopg://", lambda *_: None)
    assert str(by_code_points(literal("a", String)).compile(dialect=engine.dialect)).endswith('COLLATE "C")')
