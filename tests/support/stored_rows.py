"""Rows that tests need in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from crawlers.items import State
from crawlers.storage import crawls
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.reserved_ids import reserve
from crawlers.storage.schema.tables import EndedPage, NewPage, page
from crawlers.storage.site_opening import open_sites
from crawlers.storage.site_rows import SiteRow

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Executable

    from crawlers.storage.crawls import CrawlRow
    from crawlers.storage.database import Database
    from crawlers.storage.schema.rows import Row


def add_sites(database: Database, crawl_id: int, *sites: SiteRow | str, now: float = 0.0) -> list[SiteRow]:
    """Add new or known sites to a crawl; a name stands for a site with default limits."""
    rows = [SiteRow(0, one, 1, None, 0.0) if isinstance(one, str) else one for one in sites]
    return committed(open_sites, database, crawl_id, rows, now)


def execute(database: Database, statement: Executable, parameters: Any = None) -> None:
    """Execute a statement in a transaction of its own."""
    committed(Connection.execute, database, statement, parameters)


def committed(function: Callable[..., Any], database: Database, *arguments: Any, **options: Any) -> Any:
    """Call *function* with a connection, in a transaction of its own; return its result."""
    with database.write() as connection:
        return function(connection, *arguments, **options)


def read(function: Callable[..., Any], database: Database, *arguments: Any, **options: Any) -> Any:
    """Call *function* with a connection that reads; return its result."""
    with database.read() as connection:
        return function(connection, *arguments, **options)


def page_ids(database: Database, count: int) -> range:
    """Return page numbers."""
    return committed(reserve, database, page, count)


def write_rows(database: Database, *rows: Row) -> None:
    """Write rows as the writer does."""
    write_changes_of(database, ChangeSet(*rows))


def write_changes_of(database: Database, changes: ChangeSet) -> None:
    """Write a change set as the writer does."""
    committed(write_changes, database, changes)


def new_page(number: int, site_id: int, state: State = State.WAITING, **more: Any) -> NewPage:
    """Return the row of a page that was found at 0; its key is its number, unless *more* says otherwise."""
    url, key = more.pop("url", f"http://a.test/{number}"), more.pop("key", number)
    row = NewPage(number, site_id, key, url, 0, 0, 0, 0.0, int(state), None, None, None, 0.0, 0.0)
    return row._replace(**more)


def ended_page(number: int, state: State = State.DONE, **more: Any) -> EndedPage:
    """Return the row of a page that ended at 1 after one attempt."""
    row = EndedPage(number, int(state), None, 1, 1.0, 1.0, 200, None, None, None, None, None, None, 0, None, None)
    return row._replace(**more)


def begin(
    database: Database, *sites: SiteRow | str, name: str = "c", mission: str = "m", now: float = 0.0, **settings: Any
) -> CrawlRow:
    """Begin, resume or join a crawl; a name stands for a site with default limits, *settings* are recorded."""
    rows = [SiteRow(0, one, 1, None, 0.0) if isinstance(one, str) else one for one in sites]
    return crawls.begin(database, name, mission, rows, {"settings": settings}, now)


class NothingPending:
    """A writer that has committed everything, and notes what it is waited for."""

    def __init__(self, submitted: int = 0) -> None:
        self.submitted = submitted
        self.waited: list[int] = []

    def wait_for(self, number: int) -> None:
        self.waited.append(number)
