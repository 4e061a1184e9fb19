"""Tables are derived from row types; a new table needs nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

import pytest
from sqlalchemy import BigInteger, Float, MetaData, String, text
from sqlalchemy.schema import CreateTable

from crawlers.storage.change_set import ChangeSet
from crawlers.storage.schema import metadata, score_tables
from crawlers.storage.schema.rows import DELETE, UPDATE, UPSERT, BigInt, Hash, row_types, table, write_of, writes
from crawlers.storage.writer import Writer

if TYPE_CHECKING:
    from crawlers.storage.database import Database

pytestmark = pytest.mark.both_stores

toys = MetaData()


class ToyRow(NamedTuple):
    """A table of a new mission."""

    id: BigInt
    name: str
    weight: float | None
    is_loud: bool
    hash: Hash | None


toy = table("toy", toys, ToyRow, UPSERT, key=1)


@writes(toy, UPDATE)
class WeighedToy(NamedTuple):
    id: int
    weight: float


@writes(toy, DELETE)
class LostToy(NamedTuple):
    name: str


def test_table_has_the_fields_as_columns() -> None:
    assert [column.name for column in toy.columns] == list(ToyRow._fields)
    assert [column.name for column in toy.primary_key] == ["id"]
    assert [column.nullable for column in toy.columns] == [False, False, True, False, True]
    assert isinstance(toy.c.id.type, BigInteger)
    assert isinstance(toy.c.weight.type, Float)
    assert isinstance(toy.c.hash.type, String)
    assert toy.c.hash.type.length == 32


def test_writer_needs_no_change_for_a_new_table(database: Database) -> None:
    with database.write() as connection:
        connection.execute(CreateTable(toy))
    writer = Writer(database)
    bear = ToyRow(1, "bear", 0.5, False, "ab" * 16)
    writer.submit(ChangeSet(bear, ToyRow(2, "drum", None, True, None), ToyRow(3, "kite", 0.1, False, None)))
    writer.flush()
    writer.submit(ChangeSet(WeighedToy(2, 1.5), WeighedToy(1, 0.75), LostToy("kite"), WeighedToy(2, 2.5)))
    writer.flush()
    writer.submit(ChangeSet(bear._replace(name="old bear")))
    writer.close()
    with database.read() as connection:
        rows = [ToyRow(*row) for row in connection.execute(text("SELECT * FROM toy ORDER BY id"))]
    assert rows == [(1, "old bear", 0.5, False, "ab" * 16), (2, "drum", 2.5, True, None)]


def test_field_without_a_column_is_refused() -> None:
    class Typo(NamedTuple):
        id: int
        wieght: float

    with pytest.raises(KeyError, match="wieght"):
        writes(toy, UPDATE)(Typo)


def test_update_without_the_key_first_is_refused() -> None:
    class Keyless(NamedTuple):
        weight: float
        id: int

    with pytest.raises(TypeError, match="Keyless: the primary key of toy must come first"):
        writes(toy, UPDATE)(Keyless)


OURS = [kind for kind in row_types() if write_of(kind).table in metadata.tables.values()]


@pytest.mark.parametrize("kind", [kind for kind in OURS if write_of(kind).select.get("sqlite") == "{rows}"])
def test_fields_have_the_types_of_their_columns(kind: type[Any]) -> None:
    write, hints = write_of(kind), get_type_hints(kind)
    for name in write.columns:
        column = write.table.c[name]
        may_be_null = hints[name] != write.types[name]
        assert column.nullable or not may_be_null, name
        assert write.types[name] is column.type.python_type or kind is score_tables.ImportanceRow, name
