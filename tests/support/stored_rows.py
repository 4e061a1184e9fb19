"""Rows that tests need in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.reserved_ids import reserve
from crawlers.storage.schema.tables import page
from crawlers.storage.site_opening import open_sites
from crawlers.storage.site_rows import SiteRow

if TYPE_CHECKING:
    from crawlers.storage.database import Database
    from crawlers.storage.schema.rows import Row


def add_sites(database: Database, crawl_id: int, *sites: SiteRow | str, now: float = 0.0) -> list[SiteRow]:
    """Add new or known sites to a crawl; a name stands for a site with default limits."""
    rows = [SiteRow(0, one, 1, None, 0.0) if isinstance(one, str) else one for one in sites]
    with database.write() as connection:
        return open_sites(connection, crawl_id, rows, now)


def page_ids(database: Database, count: int) -> range:
    """Return page numbers."""
    with database.write() as connection:
        return reserve(connection, page.c.id, count)


def write_rows(database: Database, *rows: Row) -> None:
    """Write rows as the writer does."""
    write_changes_of(database, ChangeSet(*rows))


def write_changes_of(database: Database, changes: ChangeSet) -> None:
    """Write a change set as the writer does."""
    with database.write() as connection:
        write_changes(connection, changes)


class NothingPending:
    """A writer that has committed everything, and counts how many times it is waited for."""

    def __init__(self) -> None:
        self.submitted = 0
        self.waits = 0

    def wait_for(self, number: int) -> None:
        self.waits += 1
