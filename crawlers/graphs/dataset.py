"""Writes the graph of a crawl as a folder of partitioned Parquet.

Partitions are ranges of site numbers, `first_site=N`, with some PARTITION_URLS URLs or one larger site. They are not
buckets (`site_id % n`): a range needs no number to be chosen, a small crawl has one partition and a large one as many
as it needs, and one file is open at a time. The links of a page are in the partition of the page, so partitions can be
joined one after the other.

The page that stands for each duplicate and each redirect is found in the database: a temporary table, which vanishes
with the transaction of the reader, has those that have one. Statements read the sites `exported_site` from :first to
:last. See docs/reference/parquet.md.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlers.errors import ConfigError
from crawlers.files.atomic import replacing_folder
from crawlers.files.parquet_files import ParquetColumn, PartWriter, milliseconds
from crawlers.items import State
from crawlers.plurals import counted
from crawlers.store.streaming import execute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from crawlers.store.database import Database

# final_id: where a redirect ends; representative_id: the page that the graph shows instead of this one.
_TABLE = "CREATE TEMPORARY TABLE folded (id BIGINT PRIMARY KEY, final_id BIGINT, representative_id BIGINT)"
# As in `SiteGraph`: of equal pages of a site, the one with the lowest level, then the lowest URL.
_DUPLICATES = f"""
    INSERT INTO folded SELECT id, NULL, first FROM (
        SELECT id, first_value(id) OVER (PARTITION BY site_id, content_hash ORDER BY level, url {{c}}) AS first
        FROM page WHERE site_id BETWEEN :first AND :last
        AND site_id IN (SELECT id FROM exported_site WHERE id BETWEEN :first AND :last)
        AND state = {State.DONE:d} AND content_hash IS NOT NULL
    ) AS page WHERE id <> first"""  # noqa: S608 - constants of ours
# UNION drops rows that are known, so loops of redirects end; they have no last page.
_REDIRECTS = f"""
    INSERT INTO folded
    WITH RECURSIVE chain (id, target_id) AS (
        SELECT id, moved_to FROM page
        WHERE site_id BETWEEN :first AND :last
        AND site_id IN (SELECT id FROM exported_site WHERE id BETWEEN :first AND :last)
        AND state = {State.MOVED:d} AND moved_to IS NOT NULL
        UNION SELECT c.id, p.moved_to FROM chain c JOIN page p ON p.id = c.target_id
        WHERE p.state = {State.MOVED:d} AND p.moved_to IS NOT NULL
    )
    SELECT c.id, c.target_id, CASE WHEN p.state = {State.DONE:d} AND e.id IS NOT NULL
        THEN coalesce(f.representative_id, p.id) END
    FROM chain c JOIN page p ON p.id = c.target_id LEFT JOIN exported_site e ON e.id = p.site_id
    LEFT JOIN folded f ON f.id = p.id
    WHERE p.state <> {State.MOVED:d}"""  # noqa: S608


def fold(connection: Connection, partitions: Iterable[tuple[int, int]]) -> None:
    """Create the temporary table `folded` for the sites of `exported_site` in *partitions* (first and last site)."""
    execute(connection, _TABLE)
    for statement in (_DUPLICATES, _REDIRECTS):  # redirects may end at duplicates of any partition
        for first, last in partitions:
            execute(connection, statement, first=first, last=last)


# The range is there twice: PostgreSQL estimates by the first one, and SQLite searches by the second one.
_COLUMNS_EXPORTED = "(SELECT id FROM exported_site WHERE id BETWEEN :first AND :last)"
_SITES = f"site_id BETWEEN :first AND :last AND {{0}}site_id IN {_COLUMNS_EXPORTED}"
_STATES = [state.name.lower() for state in State]


class DatasetTable(NamedTuple):
    """A table: its columns, its statement, and the values that are converted, by column."""

    columns: tuple[ParquetColumn, ...]
    statement: str
    group_rows: int  # of a row group: some 10 to 20 MB before compression
    file_rows: int  # at most; a multiple of group_rows
    converted: Mapping[str, Callable[[Any], Any]] = {}

    def values(self, rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
        """Return the values of each column in *rows*, of which there is at least one."""
        found: list[Sequence[Any]] = list(zip(*rows, strict=True))
        for place, column in enumerate(self.columns):
            convert = self.converted.get(column.name)
            if convert is not None:
                found[place] = [convert(value) for value in found[place]]
        return found


TABLES: dict[str, DatasetTable] = {
    "sites": DatasetTable(
        (
            ParquetColumn("id", "int32", "delta"),
            ParquetColumn("site", "string"),
            ParquetColumn("addresses", "strings"),
            ParquetColumn("folder", "string", "dictionary"),
            ParquetColumn("availability", "string", "dictionary"),
            ParquetColumn("urls", "int64"),
        ),
        f"""
        SELECT s.id, s.site, coalesce(s.aliases, '') || ' ' || coalesce(s.home_addresses, ''), s.folder,
            s.availability, (SELECT count(*) FROM page p WHERE p.site_id = s.id)
        FROM site s WHERE s.id IN {_COLUMNS_EXPORTED} ORDER BY s.id""",  # noqa: S608
        100_000,
        1_000_000,
        {"addresses": lambda words: list(dict.fromkeys(words.split()))},
    ),
    "pages": DatasetTable(
        (
            ParquetColumn("id", "int64", "delta"),
            ParquetColumn("site_id", "int32", "dictionary"),
            ParquetColumn("key", "int64"),
            ParquetColumn("url", "string"),
            ParquetColumn("state", "string", "dictionary"),
            ParquetColumn("level", "int32", "dictionary"),
            ParquetColumn("status", "int16", "dictionary"),
            ParquetColumn("title", "string", "dictionary"),
            ParquetColumn("content_type", "string", "dictionary"),
            ParquetColumn("size_bytes", "int64"),
            ParquetColumn("fetched_at", "timestamp"),
            ParquetColumn("duplicates", "int32", "dictionary"),
            ParquetColumn("moved_to", "int64", "delta"),
            ParquetColumn("final_id", "int64", "delta"),
            ParquetColumn("representative_id", "int64", "delta"),
        ),
        f"""
        SELECT p.id, p.site_id, p.key, p.url, p.state, p.level, p.status, p.title, p.content_type, p.size_bytes,
            p.fetched_at, p.duplicates, p.moved_to, f.final_id,
            CASE WHEN p.state = {State.DONE:d} THEN coalesce(f.representative_id, p.id) ELSE f.representative_id END
        FROM page p LEFT JOIN folded f ON f.id = p.id WHERE p.{_SITES.format("p.")} ORDER BY p.id""",  # noqa: S608 - constants of ours
        100_000,
        1_000_000,
        {"state": _STATES.__getitem__, "fetched_at": milliseconds},
    ),
    "links": DatasetTable(
        (
            ParquetColumn("source_id", "int64", "delta"),
            ParquetColumn("target_id", "int64", "delta"),
            ParquetColumn("count", "int32", "dictionary"),
        ),
        f"""
        SELECT source_id, target_id, count FROM link WHERE source_id IN (SELECT id FROM page WHERE {_SITES.format("")})
        ORDER BY source_id, target_id""",  # noqa: S608
        1_000_000,
        10_000_000,
    ),
    "external_links": DatasetTable(
        (
            ParquetColumn("page_id", "int64", "delta"),
            ParquetColumn("url", "string", "dictionary"),
            ParquetColumn("key", "int64", "dictionary"),
            ParquetColumn("site", "string", "dictionary"),
            ParquetColumn("count", "int32", "dictionary"),
        ),
        f"""
        SELECT e.page_id, u.url, u.key, u.site, e.links FROM (
            SELECT page_id, url_id, sum(count) AS links FROM external_link
            WHERE page_id IN (SELECT id FROM page WHERE {_SITES.format("")}) GROUP BY page_id, url_id
        ) AS e JOIN external_url u ON u.id = e.url_id ORDER BY e.page_id, e.url_id""",  # noqa: S608
        200_000,
        4_000_000,
    ),
}


# With a single underscore, which file names of hosts contain only before the port: see `atomic.file_stem`.
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
