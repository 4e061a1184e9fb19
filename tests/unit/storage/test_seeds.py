"""Seeds keep their numbers, are saved together or not at all, and are removed without their crawls."""

import pytest
from sqlalchemy import event

from crawlers.errors import ConfigError
from crawlers.items import Seed
from crawlers.storage.schema.tables import ExternalLinkRow, ExternalUrlRow
from crawlers.storage.seeds import (
    external_urls_of,
    list_seeds,
    save_seeds,
)
from tests.support.stored_rows import begin, new_page, write_rows

A, B, C = "http://a.example", "http://b.example", "http://c.example"


def numbers(database):
    return {seed.site: seed.number for seed in list_seeds(database)}


def test_values_that_are_not_given_again_are_kept(database):
    save_seeds(database, [{"site": A, "start_url": f"{A}/ru/", "name": "The A", "short_name": "A", "parallel": 2}])
    saved = save_seeds(database, [{"site": A, "parallel": None, "max_level": 3, "delay_s": 0.5, "enabled": False}])
    assert saved == [(Seed(1, A, f"{A}/ru/", "The A", "A", False, None, 3, 0.5), False)]


@pytest.mark.both_stores
def test_given_numbers_are_assigned_before_free_ones(database):
    saved = save_seeds(database, [{"site": A}, {"site": B, "number": 1}, {"site": C}])
    assert [seed.number for seed, _ in saved] == [2, 1, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"site": B, "number": 1}, f"the number 1 of {B} is already that of {A}"),
        ({"site": A, "number": 2}, f"{A} is seed 1, and can't become 2"),
        ({"site": B, "short_name": "zin"}, f"{A} and {B} have the same short name zin"),
        ({"site": B, "short_name": "12"}, "the short name 12 of http://b.example looks like a number"),
    ],
)
def test_conflict_saves_none_of_the_seeds(database, change, message):
    save_seeds(database, [{"site": A, "short_name": "ZIN"}])
    with pytest.raises(ConfigError, match=message):
        save_seeds(database, [{"site": C}, change])
    assert numbers(database) == {A: 1}


def test_many_seeds_take_no_more_statements_than_few(database):
    """A statement takes a millisecond, in which nobody else writes: lists have 100,000 sites."""

    def statements(number):
        changes = [{"site": f"http://{number}-{one}.example", "parallel": 2} for one in range(number)]
        executed = []
        event.listen(database.engine, "before_cursor_execute", lambda *given: executed.append(given[2]))
        save_seeds(database, changes)
        save_seeds(database, [*changes, {"site": f"http://{number}.example"}])
        return len(executed)

    few = statements(2)
    assert statements(200) == few
    stored = numbers(database)
    assert sorted(stored.values()) == list(range(1, len(stored) + 1))


@pytest.mark.both_stores
def test_external_urls_are_different_ones(database):
    a, b = (row.id for row in begin(database, A, B).sites)
    urls = (ExternalUrlRow(number, C, f"{C}/{number}", key) for number, key in ((1, 1), (2, 2), (3, 2)))
    links = (ExternalLinkRow(source, url, 1, 5) for source, url in ((2, 1), (2, 2), (3, 2), (3, 3)))
    write_rows(database, new_page(2, a), new_page(3, a), *urls, *links)
    with database.read() as connection:
        assert (external_urls_of(connection, a), external_urls_of(connection, b)) == (2, 0)
