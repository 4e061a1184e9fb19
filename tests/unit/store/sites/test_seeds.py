"""Seeds keep their numbers, are saved together or not at all, and are removed without their crawls."""

import pytest

from crawlers.errors import ConfigError
from crawlers.items import Seed
from crawlers.store.schema.tables import ExternalLinkRow, ExternalUrlRow
from crawlers.store.sites.seeds import external_urls_of, list_seeds, save_seeds
from tests.support.executed_statements import statements
from tests.support.stored_rows import begin, new_page, read, write_rows

A, B, C = "http://a.example", "http://b.example", "http://c.example"


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
    assert [(seed.site, seed.number) for seed in list_seeds(database)] == [(A, 1)]


def test_many_seeds_take_no_more_statements_than_few(database):
    """A statement takes a millisecond, in which nobody else writes: lists have 100,000 sites."""

    def number_of(seeds):
        changes = [{"site": f"http://{seeds}-{one}.example", "parallel": 2} for one in range(seeds)]
        with statements(database) as executed:
            save_seeds(database, changes)
            save_seeds(database, [*changes, {"site": f"http://{seeds}.example"}])
        return len(executed)

    assert number_of(2) == number_of(200)
    assert sorted(seed.number for seed in list_seeds(database)) == list(range(1, 205))


@pytest.mark.both_stores
def test_external_urls_are_different_ones(database):
    a, b = (row.id for row in begin(database, A, B).sites)
    urls = (ExternalUrlRow(number, C, f"{C}/{number}", key) for number, key in ((1, 1), (2, 2), (3, 2)))
    links = (ExternalLinkRow(source, url, 1, 5) for source, url in ((2, 1), (2, 2), (3, 2), (3, 3)))
    write_rows(database, new_page(2, a), new_page(3, a), *urls, *links)
    assert (read(external_urls_of, database, a), read(external_urls_of, database, b)) == (2, 0)
