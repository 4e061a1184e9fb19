"""Writes the graph of a crawl as a folder of partitioned Parquet.

Partitions are ranges of site numbers, `first_site=N`, with some PARTITION_URLS URLs or one larger site. They are not
buckets (`site_id % n`): a range needs no number to be chosen, a small crawl has one partition and a large one as many
as it needs, and one file is open at a time. The links of a page are in the partition of the page, so partitions can be
joined one after the other.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlers.errors import ConfigError
from crawlers.files.atomic import replacing_folder
from crawlers.files.parquet_files import PartWriter
from crawlers.graphs.dataset.dataset_tables import TABLES
from crawlers.graphs.dataset.folding import fold
from crawlers.plurals import counted
from crawlers.store.streaming import execute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from crawlers.store.database import Database

# With a single underscore, which file names of hosts contain only before the port: see `names.file_stem`.
DATASET = "web_graph.parquet"
PARTITION_URLS = 1_000_000
ROWS_AT_ONCE = 10_000  # read from the database

_EXPORTED = "CREATE TEMPORARY TABLE exported_site (id INTEGER PRIMARY KEY)"
_ADD = "INSERT INTO exported_site SELECT id FROM site WHERE id {ids}"
_URLS = """
    SELECT e.id, count(p.site_id) FROM exported_site e LEFT JOIN page p ON p.site_id = e.id
    GROUP BY e.id ORDER BY e.id"""


class DatasetSize(NamedTuple):
    """The numbers of rows written."""

    sites: int
    pages: int
    links: int
    external_links: int

    def __str__(self) -> str:
        nouns = ("site", "URL", "link", "external link")
        return ", ".join(counted(number, noun) for number, noun in zip(self, nouns, strict=True))


def write_dataset(database: Database, site_ids: Iterable[int], folder: Path) -> DatasetSize:
    """Write *folder* with the pages and links of the sites *site_ids*; it replaces an earlier export when complete.

    All rows are of one state of the store, even while a crawl runs. Raises the errors of `replacing_folder`.
    """
    if folder.is_dir() and (strange := sorted({path.name for path in folder.iterdir()} - TABLES.keys())):
        raise ConfigError(f"{folder}: contains {strange[0]}, which no export wrote; choose another folder")
    sizes = dict.fromkeys(TABLES, 0)
    with replacing_folder(folder) as part, _snapshot(database) as connection:
        execute(connection, _EXPORTED)
        execute(connection, _ADD, ids=site_ids)
        partitions = list(_partitions(map(tuple, execute(connection, _URLS))))
        fold(connection, partitions)
        for first, last in partitions:
            for name, table in TABLES.items():
                place = part / name / f"first_site={first}"
                with PartWriter(place, table.columns, table.group_rows, table.file_rows) as writer:
                    for rows in _batches(connection, table.statement, first, last):
                        writer.add(table.values(rows))
                sizes[name] += writer.rows
    return DatasetSize(**sizes)


@contextmanager
def _snapshot(database: Database) -> Iterator[Connection]:
    """Yield a connection all of whose statements see one state of the store."""
    with database.read() as connection:
        if not database.is_sqlite:  # whose readers see one state anyway
            connection.execution_options(isolation_level="REPEATABLE READ")
        yield connection


def _batches(connection: Connection, statement: str, first: int, last: int) -> Iterator[Sequence[Any]]:
    rows = execute(connection.execution_options(yield_per=ROWS_AT_ONCE), statement, first=first, last=last)
    return rows.partitions(ROWS_AT_ONCE)  # without the number, those of SQLite have one row


def _partitions(urls: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last site of each partition, given the numbers of sites in order, and of their URLs."""
    sites: list[int] = []  # of the open partition: its first and its last one
    total = 0
    for site_id, number in urls:
        sites[1:] = [site_id]
        total += number
        if total >= PARTITION_URLS:
            yield sites[0], sites[-1]
            sites, total = [], 0
    if sites:
        yield sites[0], sites[-1]
