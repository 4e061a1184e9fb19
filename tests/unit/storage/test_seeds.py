"""Seeds keep their numbers, are saved together or not at all, and are removed without their crawls."""

import pytest
from sqlalchemy import event, insert

from crawlers.errors import ConfigError
from crawlers.items import Seed, State
from crawlers.storage.crawls import begin
from crawlers.storage.schema.tables import external_link, external_url, page
from crawlers.storage.seeds import (
    external_urls_of,
    list_seeds,
    save_seeds,
)
from crawlers.storage.site_rows import SiteRow

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


def stored_page(number, site_id, state=State.DONE, duplicates=0):
    url = f"http://x.example/{number}"
    unsaid = {"variant": 0, "level": 0, "hops": 0, "priority": 0.0, "found_at": 0.0, "state_at": 0.0}
    return {
        "id": number, "site_id": site_id, "key": number, "url": url, "state": int(state), "duplicates": duplicates,
        **unsaid,
    }  # fmt: skip


@pytest.mark.both_stores
def test_external_urls_are_different_ones(database):
    crawl = begin(database, "mine", "extlinks", [SiteRow(0, A, 1, None, 0.0), SiteRow(0, B, 1, None, 0.0)], {}, 0.0)
    a, b = (row.id for row in crawl.sites)
    urls = [{"id": n, "site": C, "url": f"{C}/{n}", "key": key} for n, key in ((1, 1), (2, 2), (3, 2))]
    links = [(2, 1), (2, 2), (3, 2), (3, 3)]
    with database.write() as connection:
        connection.execute(insert(page), [stored_page(2, a), stored_page(3, a)])
        connection.execute(insert(external_url), urls)
        connection.execute(
            insert(external_link), [{"page_id": p, "url_id": u, "context_id": 1, "count": 5} for p, u in links]
        )
        assert (external_urls_of(connection, a), external_urls_of(connection, b)) == (2, 0)
