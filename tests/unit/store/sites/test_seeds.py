"""Seeds keep their numbers, are saved together or not at all, and are removed without their crawls."""

from __future__ import annotations

import pytest
from sqlalchemy import func, insert, select, update

from crawlers.errors import ConfigError
from crawlers.store.database import Database
from crawlers.store.schema.tables import (
    ExternalLinkRow,
    ExternalUrlRow,
    crawl,
    external_link,
    external_url,
    link,
    metadata,
    page,
    site,
)
from crawlers.store.sites import seeds
from crawlers.store.sites.seeds import (
    Seed,
    SiteRows,
    external_urls_of,
    list_seeds,
    remove_site,
    rows_of_site,
    save_seeds,
)
from tests.support.executed_statements import statements
from tests.support.stored_crawl import later_crawl, stored_crawl
from tests.support.stored_rows import add_sites, begin, execute, new_page, read, write_rows

A, B, C = "http://a.example", "http://b.example", "http://c.example"


def test_values_that_are_not_given_again_are_kept(database):
    whole = {"site": A, "start_url": f"{A}/ru/", "name": "The A", "short_name": "A", "parallel": 2}
    [(before, none)] = save_seeds(database, [whole])
    assert none is None
    saved = save_seeds(database, [{"site": A, "parallel": None, "max_level": 3, "delay_s": 0.5, "enabled": False}])
    assert saved == [(Seed(1, A, f"{A}/ru/", "The A", "A", False, None, 3, 0.5), before)]


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


SITE_A = "http://a.test"
OF_SITES = ("site_id", "page_id", "source_id")


@pytest.fixture
def stored(database):
    """A store with a crawl of two sites."""
    stored_crawl(database)
    return database


def number_of(database, table):
    return database.scalar(select(func.count()).select_from(table))


def test_rows_of_other_sites_stay(stored):
    kept = stored.rows(select(page.c.id).where(page.c.site_id == 2).order_by(page.c.id))
    remove_site(stored, SITE_A)
    assert stored.rows(select(page.c.id).order_by(page.c.id)) == kept
    assert [number_of(stored, table) for table in (link, external_link, external_url)] == [0, len(kept), 3]


def test_links_of_other_sites_to_its_pages_disappear_from_a_crawl_that_follows_them(stored):
    execute(stored, update(crawl).values(mission="broad"))
    target, source = (stored.scalar(select(func.min(page.c.id)).where(page.c.site_id == number)) for number in (1, 2))
    execute(stored, insert(link), {"source_id": source, "target_id": target, "count": 1})
    remove_site(stored, SITE_A)
    assert number_of(stored, link) == 0


@pytest.mark.both_stores
def test_sites_that_it_led_lead_themselves_and_others_keep_their_leader(stored):
    leaders = {2: 1, 3: 1, 4: 2}
    add_sites(stored, 1, "http://d.test", "http://e.test")
    for number, leader in leaders.items():
        execute(stored, update(site).where(site.c.id == number).values(source_id=leader))
    remove_site(stored, SITE_A)
    assert stored.rows(select(site.c.id, site.c.source_id).order_by(site.c.id)) == [(2, None), (3, None), (4, 2)]


def test_others_write_while_a_site_is_deleted(stored, monkeypatch):
    """Each transaction deletes few rows, and whoever waits for the store comes in between."""
    monkeypatch.setattr("crawlers.store.sites.seeds.ROWS_AT_ONCE", 5)
    written = []

    def write(_seconds):
        execute(stored, update(crawl).values(reason="written in between"))
        written.append(rows_of_site(stored, SITE_A).pages)

    monkeypatch.setattr("crawlers.store.sites.seeds.time.sleep", write)
    remove_site(stored, SITE_A)
    assert {12, 7, 2} == set(written)
    assert rows_of_site(stored, SITE_A) == SiteRows(0, 0, 0, 0)


def test_others_write_while_a_site_of_several_crawls_is_deleted(stored, monkeypatch):
    """No statement may be left that sees an old state: SQLite lets its connection write no more."""
    later_crawl(stored)
    other = Database(stored.url.render_as_string(hide_password=False))
    execute(stored, update(crawl).values(mission="broad"))

    def write(table, *arguments, **options):
        execute(other, update(crawl).values(reason=f"written before {table}"))
        return conditions(table, *arguments, **options)

    conditions = seeds._of_site
    monkeypatch.setattr(seeds, "_of_site", write)
    remove_site(stored, SITE_A)
    other.close()
    assert rows_of_site(stored, SITE_A) == SiteRows(0, 0, 0, 0)


def test_rows_of_a_large_site_are_counted_up_to_a_limit(stored, monkeypatch):
    assert not rows_of_site(stored, SITE_A).is_more
    monkeypatch.setattr("crawlers.store.sites.seeds.MOST_COUNTED", 5)
    counted = rows_of_site(stored, SITE_A)
    assert (counted.pages, counted.is_more) == (5, True)


def test_every_table_that_refers_to_sites_or_pages_is_cleared():
    """A new table with a reference of another name would keep rows of a deleted site."""
    named = {column.name for table in metadata.sorted_tables for column in table.columns if column.name.endswith("_id")}
    others = {"crawl_id", "worker_id", "seed_id", "feed_id", "finisher_id", "url_id", "context_id", "target_id"}
    assert {*OF_SITES} <= named <= {*OF_SITES} | others  # some are of missions
