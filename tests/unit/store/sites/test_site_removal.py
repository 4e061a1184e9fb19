"""A site disappears with everything that was stored of it, and nothing else does."""

import pytest
from sqlalchemy import func, insert, select, update

from crawlers.store.database import Database
from crawlers.store.schema.tables import crawl, external_link, external_url, link, metadata, page, site
from crawlers.store.sites import site_removal
from crawlers.store.sites.site_removal import SiteRows, remove_site, rows_of_site
from tests.support.stored_crawl import later_crawl, stored_crawl
from tests.support.stored_rows import add_sites, execute

A = "http://a.test"
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
    remove_site(stored, A)
    assert stored.rows(select(page.c.id).order_by(page.c.id)) == kept
    assert [number_of(stored, table) for table in (link, external_link, external_url)] == [0, len(kept), 3]


def test_links_of_other_sites_to_its_pages_disappear_from_a_crawl_that_follows_them(stored):
    execute(stored, update(crawl).values(mission="broad"))
    target, source = (stored.scalar(select(func.min(page.c.id)).where(page.c.site_id == number)) for number in (1, 2))
    execute(stored, insert(link), {"source_id": source, "target_id": target, "count": 1})
    remove_site(stored, A)
    assert number_of(stored, link) == 0


@pytest.mark.both_stores
def test_sites_that_it_led_lead_themselves_and_others_keep_their_leader(stored):
    leaders = {2: 1, 3: 1, 4: 2}
    add_sites(stored, 1, "http://d.test", "http://e.test")
    for number, leader in leaders.items():
        execute(stored, update(site).where(site.c.id == number).values(source_id=leader))
    remove_site(stored, A)
    assert stored.rows(select(site.c.id, site.c.source_id).order_by(site.c.id)) == [(2, None), (3, None), (4, 2)]


def test_others_write_while_a_site_is_deleted(stored, monkeypatch):
    """Each transaction deletes few rows, and whoever waits for the store comes in between."""
    monkeypatch.setattr("crawlers.store.sites.site_removal.ROWS_AT_ONCE", 5)
    written = []

    def write(_seconds):
        execute(stored, update(crawl).values(reason="written in between"))
        written.append(rows_of_site(stored, A).pages)

    monkeypatch.setattr("crawlers.store.sites.site_removal.time.sleep", write)
    remove_site(stored, A)
    assert {12, 7, 2} == set(written)
    assert rows_of_site(stored, A) == SiteRows(0, 0, 0, 0)


def test_others_write_while_a_site_of_several_crawls_is_deleted(stored, monkeypatch):
    """No statement may be left that sees an old state: SQLite lets its connection write no more."""
    later_crawl(stored)
    other = Database(stored.url.render_as_string(hide_password=False))
    execute(stored, update(crawl).values(mission="broad"))

    def write(table, *arguments, **options):
        execute(other, update(crawl).values(reason=f"written before {table}"))
        return conditions(table, *arguments, **options)

    conditions = site_removal._of_site
    monkeypatch.setattr(site_removal, "_of_site", write)
    remove_site(stored, A)
    other.close()
    assert rows_of_site(stored, A) == SiteRows(0, 0, 0, 0)


def test_rows_of_a_large_site_are_counted_up_to_a_limit(stored, monkeypatch):
    assert not rows_of_site(stored, A).is_more
    monkeypatch.setattr("crawlers.store.sites.site_removal.MOST_COUNTED", 5)
    counted = rows_of_site(stored, A)
    assert (counted.pages, counted.is_more) == (5, True)


def test_every_table_that_refers_to_sites_or_pages_is_cleared():
    """A new table with a reference of another name would keep rows of a deleted site."""
    named = {column.name for table in metadata.sorted_tables for column in table.columns if column.name.endswith("_id")}
    others = {"crawl_id", "worker_id", "seed_id", "feed_id", "finisher_id", "url_id", "context_id", "target_id"}
    assert named == {*OF_SITES} | others
