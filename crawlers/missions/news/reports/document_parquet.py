"""Writes the documents of a crawl as a Parquet file in batches."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.files.atomic import replacing
from crawlers.files.parquet_files import ParquetColumn, parquet_parts
from crawlers.missions.news.stored.news_tables import document
from crawlers.store.schema.tables import site

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from crawlers.files.parquet_files import ColumnType
    from crawlers.store.database import Database

BATCH_ROWS = 1_000  # a row group; texts of some 5 MB
_NAMES = (
    *("url", "canonical_url", "title", "text", "published", "published_at", "authors", "section", "language", "image"),
    *("site", "stored_at", "changed_at", "version", "extractor", "description", "keywords", "modified", "modified_at"),
    "is_free",
)
_TYPES: Mapping[str, ColumnType] = {
    **dict.fromkeys(("published_at", "stored_at", "changed_at", "modified_at"), "timestamp"),
    **dict.fromkeys(("authors", "keywords"), "strings"),
    "version": "int32",
    "is_free": "boolean",
}
COLUMNS = [ParquetColumn(name, _TYPES.get(name, "string")) for name in _NAMES]  # published: as written on the page


def write_documents(database: Database, crawl_id: int, path: Path) -> int:
    """Write the documents of a crawl to *path*, in the order of their pages; return their number.

    The file appears when it is complete. Raises the errors of `replacing`.
    """
    columns = {"canonical_url": document.c.canonical, "site": site.c.site}
    statement = (
        select(*(columns[name] if name in columns else document.c[name] for name, *_ in COLUMNS))
        .join(site, site.c.id == document.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .order_by(document.c.page_id)
    )
    number = 0

    def groups() -> Iterator[list[list[Any]]]:
        nonlocal number
        for part in rows.partitions(BATCH_ROWS):
            number += len(part)
            yield [[_value(column.type, row[place]) for row in part] for place, column in enumerate(COLUMNS)]

    with replacing(path) as stream, database.read() as connection:
        rows = connection.execution_options(yield_per=BATCH_ROWS).execute(statement)
        stream.writelines(parquet_parts(COLUMNS, groups()))
    return number


def _value(type_: str, value: Any) -> Any:
    if type_ == "strings":
        return json.loads(value or "[]")
    if type_ == "timestamp" and value is not None:
        return datetime.fromtimestamp(value, UTC)
    return value
