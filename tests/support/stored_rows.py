"""Rows that tests need in a store."""

from sqlalchemy import Connection

from crawlers.items import State
from crawlers.store.reading import crawls
from crawlers.store.reading.run_command import Command
from crawlers.store.schema.tables import EndedPage, NewPage, page
from crawlers.store.sites.site_opening import SiteList, SiteRow, open_sites
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet
from crawlers.store.writing.reserved_ids import reserve


def add_sites(database, crawl_id, *sites, now=0.0):
    """Add new or known sites to a crawl; a name stands for a site with default limits."""
    rows = [SiteRow(0, one, 1, None, 0.0) if isinstance(one, str) else one for one in sites]
    return committed(open_sites, database, crawl_id, SiteList(rows), now)


def execute(database, statement, parameters=None):
    """Execute a statement in a transaction of its own."""
    committed(Connection.execute, database, statement, parameters)


def committed(function, database, *arguments, **options):
    """Call *function* with a connection, in a transaction of its own; return its result."""
    with database.write() as connection:
        return function(connection, *arguments, **options)


def read(function, database, *arguments, **options):
    """Call *function* with a connection that reads; return its result."""
    with database.read() as connection:
        return function(connection, *arguments, **options)


def page_ids(database, count):
    """Return page numbers."""
    return committed(reserve, database, page, count)


def write_rows(database, *rows):
    """Write rows as the writer does."""
    write_changes_of(database, ChangeSet(*rows))


def write_changes_of(database, changes):
    """Write a change set as the writer does."""
    committed(write_changes, database, changes)


def new_page(number, site_id, state=State.WAITING, **more):
    """Return the row of a page that was found at 0; its key is its number, unless *more* says otherwise."""
    url, key = more.pop("url", f"http://a.test/{number}"), more.pop("key", number)
    row = NewPage(number, site_id, key, url, 0, 0, 0, 0.0, int(state), None, None, None, 0.0, 0.0)
    return row._replace(**more)


def ended_page(number, state=State.DONE, **more):
    """Return the row of a page that ended at 1 after one attempt."""
    row = EndedPage(number, int(state), None, 1, 1.0, 1.0, 200, None, None, None, None, None, None, 0, None, None)
    return row._replace(**more)


def begin(database, *sites, name="c", mission="m", now=0.0, **settings):
    """Begin, resume or join a crawl; a name stands for a site with default limits, *settings* are recorded."""
    rows = [SiteRow(0, one, 1, None, 0.0) if isinstance(one, str) else one for one in sites]
    return crawls.begin(database, Command(name, mission, {"settings": settings}, SiteList(rows)), now)


class NothingPending:
    """A writer that has committed everything, and notes what it is waited for."""

    def __init__(self, submitted=0):
        self.submitted = submitted
        self.waited = []

    def wait_for(self, number):
        self.waited.append(number)
