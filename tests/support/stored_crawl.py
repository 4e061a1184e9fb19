"""A finished crawl whose pages fill all reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import insert

from crawlers.items import State
from crawlers.storage.schema.tables import crawl
from tests.support.stored_site import Stored, store

if TYPE_CHECKING:
    from crawlers.storage.database import Database

CRAWL = 1  # of `add_sites`
HOSTILE = "<script>alert(1)</script>"


def stored_crawl(database: Database, name: str = "spring") -> int:
    """Store a crawl with two sites, some of whose pages are duplicates, redirects or errors; return its number."""
    row = {"id": CRAWL, "name": name, "mission": "extlinks", "state": "finished", "started_at": 1e9, "manifest": "{}"}
    with database.write() as connection:
        connection.execute(insert(crawl), row)
    store(
        database,
        [
            Stored("/", 0, links={1: 2, 2: 1, 3: 1}, title="Home", external=("http://b.test/one", "http://b.test/two")),
            Stored("/a", links={0: 1}, body="same", title="=1+1", external=("http://b.test/one",)),
            Stored("/b", body="same", title=HOSTILE),
            Stored("/moved", state=State.MOVED, moved_to=1),
            Stored("/left", state=State.MOVED, leaves=True),
            Stored("/gone", 2, state=State.REFUSED),
            Stored("/failed", 2, state=State.FAILED),
        ],
        name="http://a.test",
    )
    store(database, [Stored(f"/{number}", number // 30, external=("http://b.test/two",)) for number in range(130)])
    return CRAWL
