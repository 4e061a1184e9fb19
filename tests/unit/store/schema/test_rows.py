"""Tables are derived from row types; a new table needs nothing else."""

from __future__ import annotations

import re
from typing import NamedTuple, get_type_hints

import pytest
from sqlalchemy import MetaData, text

from crawlers.store.schema import metadata
from crawlers.store.schema.rows import UPDATE, UPSERT, BigInt, Hash, row_types, table, write_of, writes
from crawlers.store.schema.tables import ImportanceRow

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


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (("id", "wieght"), KeyError, "wieght"),
        (("weight", "id"), TypeError, "Wrong: the primary key of toy must come first"),
    ],
)
def test_row_that_does_not_fit_its_table_is_refused(names, error, message):
    with pytest.raises(error, match=message):
        writes(toy, UPDATE)(NamedTuple("Wrong", [(name, float) for name in names]))


OURS = [kind for kind in row_types() if write_of(kind).table in metadata.tables.values()]


@pytest.mark.parametrize("kind", [kind for kind in OURS if write_of(kind).select.get("sqlite") == "{rows}"])
def test_fields_have_the_types_of_their_columns(kind):
    write, hints = write_of(kind), get_type_hints(kind)
    for name in write.columns:
        column = write.table.c[name]
        may_be_null = hints[name] != write.types[name]
        assert column.nullable or not may_be_null, name
        assert write.types[name] is column.type.python_type or kind is ImportanceRow, name


def test_partial_index_has_only_the_rows_that_meet_its_condition(database):
    of_sqlite = "SELECT sql FROM sqlite_master WHERE name = 'site_of_source'"
    of_postgresql = "SELECT indexdef FROM pg_indexes WHERE indexname = 'site_of_source'"
    made = database.scalar(text(of_sqlite if database.is_sqlite else of_postgresql))
    assert re.search(r"WHERE \(?source_id IS NOT NULL", made)
