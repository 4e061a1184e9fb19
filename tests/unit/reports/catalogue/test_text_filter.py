"""Conditions on texts mean the same in SQLite and PostgreSQL, whatever the language of the database."""

import pytest
from sqlalchemy import String, literal, select

from crawlers.reports.catalogue.conditions import contains

pytestmark = pytest.mark.both_stores


@pytest.mark.parametrize(
    ("stored", "text", "is_part"),
    [("\u00c4RZTE", "\u00c4rz", True), ("\u00c4RZTE", "\u00e4rz", False), ("100%", "0%", True), ("100 ", "0%", False)],
)
def test_case_of_ascii_letters_does_not_matter(database, stored, text, is_part):
    with database.read() as connection:
        found = connection.execute(select(contains(literal(stored, String), text))).scalar_one()
    assert bool(found) == is_part
