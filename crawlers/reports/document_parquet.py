"""Writes the documents of a crawl as a Parquet file in batches."""

from __future__ import annotations

import importlib
import importlib.util
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.errors import ConfigError
from crawlers.storage.files.atomic import replacing
from crawlers.storage.schema.news_tables import document
from crawlers.storage.schema.tables import site

if TYPE_CHECKING:
    from pathlib import Path

    from crawlers.storage.database import Database

BATCH_ROWS = 1_000  # a row group; texts of some 5 MB
COLUMNS = (  # with their Parquet types
    ("url", "string"),
    ("canonical_url", "string"),
    ("title", "string"),
    ("text", "string"),
    ("published", "string"),  # as written on the page, with its time zone
    ("published_at", "timestamp"),
    ("authors", "strings"),
    ("section", "string"),
    ("language", "string"),
    ("image", "string"),
    ("site", "string"),
    ("stored_at", "timestamp"),
    ("changed_at", "timestamp"),
    ("version", "int32"),
    ("extractor", "string"),
)


def check_parquet(setting: str) -> None:
    """Raise a `ConfigError` that names *setting* if Parquet files can't be written on this system."""
    if importlib.util.find_spec("pyarrow") is None:
        raise ConfigError(f"{setting} needs pyarrow, which is not installed; run pip install pyarrow")


def write_documents(database: Database, crawl_id: int, path: Path) -> int:
    """Write the documents of a crawl to *path*, in the order of their pages; return their number.

    The file appears when it is complete. Raises the errors of `replacing`.
    """
    arrow = importlib.import_module("pyarrow")  # an extra, and slow to import
    parquet = importlib.import_module("pyarrow.parquet")
    types = {
        "string": arrow.string(),
        "strings": arrow.list_(arrow.string()),
        "timestamp": arrow.timestamp("ms", tz="UTC"),
        "int32": arrow.int32(),
    }
    schema = arrow.schema([(name, types[type_]) for name, type_ in COLUMNS])
    columns = {"canonical_url": document.c.canonical, "site": site.c.site}
    statement = (
        select(*(columns[name] if name in columns else document.c[name] for name, _ in COLUMNS))
        .join(site, site.c.id == document.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .order_by(document.c.page_id)
    )
    number = 0
    with (
        replacing(path) as stream,
        parquet.ParquetWriter(stream, schema, compression="zstd") as writer,
        database.read() as connection,
    ):
        rows = connection.execution_options(yield_per=BATCH_ROWS).execute(statement)
        for part in rows.partitions():
            lists = {name: [_value(type_, row[place]) for row in part] for place, (name, type_) in enumerate(COLUMNS)}
            writer.write_table(arrow.table(lists, schema=schema))
            number += len(part)
    return number


def _value(type_: str, value: Any) -> Any:
    if type_ == "strings":
        return json.loads(value)
    if type_ == "timestamp" and value is not None:
        return datetime.fromtimestamp(value, UTC)
    return value
