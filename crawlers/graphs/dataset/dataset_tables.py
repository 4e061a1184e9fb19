"""The tables of the dataset: their columns, and how their rows are read from the store.

Statements read the sites `exported_site` from :first to :last. See docs/reference/parquet.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from crawlers.files.parquet_files import ParquetColumn
from crawlers.items import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# The range is there twice: PostgreSQL estimates by the first one, and SQLite searches by the second one.
_EXPORTED = "(SELECT id FROM exported_site WHERE id BETWEEN :first AND :last)"
_SITES = f"site_id BETWEEN :first AND :last AND {{0}}site_id IN {_EXPORTED}"
_STATES = [state.name.lower() for state in State]
MS = 1000


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


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * MS)


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
        FROM site s WHERE s.id IN {_EXPORTED} ORDER BY s.id""",  # noqa: S608
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
        {"state": _STATES.__getitem__, "fetched_at": _milliseconds},
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
