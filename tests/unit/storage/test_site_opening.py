"""Sites are added to crawls with their seeds, and opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, text

from crawlers.items import State
from crawlers.storage import crawls
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.schema.tables import NewPage, SiteAvailability, seed, site
from crawlers.storage.site_opening import found_site
from crawlers.storage.site_rows import SiteRow

if TYPE_CHECKING:
    from crawlers.storage.database import Database

A = SiteRow(0, "http://a.test", 2, None, 1.0)
B = SiteRow(0, "http://b.test", 1, 3, 0.5)


def begin(database: Database, *sites: SiteRow, name: str = "daily") -> crawls.CrawlRow:
    return crawls.begin(database, name, "sitegraph", sites, {}, 5.0)


@pytest.mark.both_stores
def test_discovered_sites_are_written_with_their_seeds(database: Database) -> None:
    crawl_id = begin(database, A).id
    other = begin(database, B, name="other")
    found = [SiteRow(number, f"http://{name}.test", 1, None, 0.5) for number, name in ((10, "c"), (11, "d"), (12, "b"))]
    changes = ChangeSet()
    for row in found:
        changes.extend(found_site(crawl_id, row))
    with database.write() as connection:
        write_changes(connection, changes)
        seeds = connection.execute(
            select(seed.c.site, seed.c.id, seed.c.enabled, seed.c.is_found).order_by(seed.c.site)
        ).all()
        columns = (site.c.id, site.c.site, site.c.seed_id, site.c.delay_s, site.c.is_open)
        sites = connection.execute(
            select(*columns).where(site.c.crawl_id == crawl_id, site.c.id >= 10).order_by(site.c.id)
        ).all()
    numbers = {row.site: row.id for row in seeds}
    assert [row.site for row in seeds if row.is_found] == ["http://c.test", "http://d.test"]
    assert not any(row.enabled for row in seeds)
    assert sites == [(row.id, row.site, numbers[row.site], 0.5, True) for row in found]
    assert other.sites[0].site == "http://b.test", "which is a seed already"


def test_unavailable_site_is_retried_after_a_stop_but_not_after_a_kill(database: Database) -> None:
    row = SiteRow(0, "http://a.test", 1, None, 0.0)
    crawl = crawls.begin(database, "c", "m", [row], {}, 0.0)
    with database.write() as connection:
        place = (1, crawl.sites[0].id, 1, "http://a.test/", 0, 0, 0, 0.0)
        home = NewPage(*place, int(State.FAILED), "timeout", None, None, 0.0, 0.0)
        write_changes(connection, ChangeSet(home, SiteAvailability(crawl.sites[0].id, "timeout")))

    def states() -> tuple[int, str | None]:
        with database.read() as connection:
            state = connection.execute(text("SELECT state FROM page")).scalar()
            return state, connection.execute(text("SELECT availability FROM site")).scalar()

    crawls.begin(database, "c", "m", [row], {}, 1.0)
    assert states() == (State.FAILED, "timeout"), "a kill must not change the result"
    crawls.end(database, crawl.id, finished=False, reason="page_budget", now=2.0)
    crawls.begin(database, "c", "m", [row], {}, 3.0)
    assert states() == (State.WAITING, None)
