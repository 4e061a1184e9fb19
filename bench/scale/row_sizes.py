"""Bytes of disk that waiting URLs, fetched pages and links take, on SQLite and PostgreSQL, and what writing them costs.

python -m bench.scale.row_sizes [--pages 200000] [--stores sqlite,postgresql]

Rows are written by the statements of a crawl, in its order: batches of BATCH pages that were fetched on SITES sites in
turn, with FOUND new URLs and LINKS links each, so that four of ten known URLs are fetched in the end. URLs have some
75 characters. Before that, WAITING of the pages are written alone: what they take is that of a waiting URL. Nothing is
compacted afterwards, so the figures contain what updates leave behind; autovacuum of PostgreSQL is as it is by default.
The cost of a page is that of the statements, without the commit, in the server's process: seconds of a processor, and
bytes of the write-ahead log.
"""

from __future__ import annotations

import argparse
import random
from typing import TYPE_CHECKING

from sqlalchemy import text

from bench.scale.claims import some_store
from bench.scale.growth_store import CONTENT_TYPE, TITLE, target
from bench.scale.server_costs import cpu_s, log_bytes
from crawlers.items import State
from crawlers.storage import crawls
from crawlers.storage.bulk_writer import write_changes
from crawlers.storage.change_set import ChangeSet
from crawlers.storage.database import Database
from crawlers.storage.schema.tables import EndedPage, NewPage, PageLinks
from crawlers.storage.site_rows import SiteRow

if TYPE_CHECKING:
    from collections.abc import Iterator

SITES, BATCH, FOUND, LINKS = 200, 200, 2.5, 25
WAITING = 0.1  # share of the pages that are written before any is fetched
BEGAN_AT = 1.7e9
_SIZES = {
    "sqlite": """
        SELECT s.tbl_name, sum(CASE WHEN s.type = 'table' THEN pgsize ELSE 0 END),
            sum(CASE WHEN s.type = 'index' THEN pgsize ELSE 0 END)
        FROM dbstat JOIN sqlite_master AS s ON s.name = dbstat.name GROUP BY 1""",
    "postgresql": """
        SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace""",
}


class Growing:
    """A store whose pages are found and fetched as by a crawl of many sites."""

    def __init__(self, database: Database) -> None:
        self.database = database
        rows = [SiteRow(0, f"http://h{number}.test", 1, None, 0.0) for number in range(SITES)]
        self._sites = [row.id for row in crawls.begin(database, "sizes", "sitegraph", rows, {}, BEGAN_AT).sites]
        self._rng = random.Random(1)
        self.pages = self.fetched = self.links = 0
        self.cpu_s = 0.0
        self.log_bytes = 0

    def found(self, number: int) -> Iterator[NewPage]:
        """New pages, seven of a site with neighbouring numbers."""
        for _ in range(number):
            place = self.pages // 7 % SITES
            page = target(place, self.pages)
            self.pages += 1
            where = (self.pages, self._sites[place], page.key, page.url, 0, 3, 0, 3.0, int(State.WAITING))
            yield NewPage(*where, None, None, max(1, self.pages // 3), BEGAN_AT, BEGAN_AT, 0)

    def read(self, number: int) -> Iterator[EndedPage | PageLinks]:
        """The first pages that wait are fetched."""
        for _ in range(number):
            self.fetched += 1
            digest = f"{self._rng.getrandbits(128):032x}"
            told = (digest, self._rng.getrandbits(62), TITLE, None, CONTENT_TYPE, 20_000, None, None)
            yield EndedPage(self.fetched, int(State.DONE), None, 1, BEGAN_AT, BEGAN_AT, 200, None, *told)
            targets = sorted({self._rng.randrange(1, self.pages + 1) for _ in range(LINKS)})
            self.links += len(targets)
            yield PageLinks(self.fetched, dict.fromkeys(targets, 1))

    def write(self, found: int, read: int) -> None:
        """Commit one batch."""
        changes = ChangeSet(*self.found(found), *self.read(read))
        with self.database.write() as connection:
            cpu_began, log_began = cpu_s(connection), log_bytes(connection)
            write_changes(connection, changes)
            self.cpu_s += cpu_s(connection) - cpu_began
            self.log_bytes += log_bytes(connection) - log_began

    def sizes(self) -> dict[str, tuple[int, int]]:
        """Return the bytes of each table and of its indexes."""
        kind = self.database.engine.dialect.name
        if kind == "sqlite":
            with self.database.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        with self.database.read() as connection:
            return {name: (int(own), int(indexes)) for name, own, indexes in connection.execute(text(_SIZES[kind]))}


def _measure(url: str, pages: int) -> None:
    database = Database(url)
    store, kind = Growing(database), database.engine.dialect.name

    def say(what: str) -> None:
        print(f"{kind}: {what}", flush=True)

    while store.pages < WAITING * pages:
        store.write(BATCH, 0)
    table, indexes = store.sizes()["page"]
    waiting = (table + indexes) / store.pages
    say(f"a waiting URL takes {waiting:.0f} bytes, {indexes / store.pages:.0f} of them in indexes")
    store.cpu_s, store.log_bytes = 0.0, 0
    while store.pages < pages or store.fetched < pages / FOUND:
        store.write(int(BATCH * FOUND) if store.pages < pages else 0, BATCH)
    sizes = store.sizes()
    table, indexes = sizes["page"]
    read = (table + indexes - waiting * (store.pages - store.fetched)) / store.fetched
    say(f"{store.pages:,} pages, {store.fetched:,} of them fetched: {(table + indexes) / store.pages:.0f} bytes each,")
    say(f"… {indexes / store.pages:.0f} of them in indexes; so a fetched page takes {read:.0f} bytes")
    table, indexes = sizes["link"]
    of_each = (table + indexes) / store.links
    say(f"{store.links:,} links: {of_each:.1f} bytes each, {indexes / store.links:.1f} of them in indexes")
    cpu_ms, log_kb = store.cpu_s / store.fetched * 1e3, store.log_bytes / store.fetched / 1e3
    say(f"to write a page, its links and new URLs takes {cpu_ms:.2f} ms of a processor, and {log_kb:.1f} kB of the log")
    database.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale.row_sizes", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--stores", default="sqlite,postgresql")
    chosen = parser.parse_args()
    for kind in chosen.stores.split(","):
        with some_store(kind) as url:
            _measure(url, chosen.pages)


if __name__ == "__main__":
    main()
