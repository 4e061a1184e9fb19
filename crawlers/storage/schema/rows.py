"""Row types: what the writer can write.

A row type is a named tuple. The table of rows that are written whole is made of it by `table`, so that its columns
are described once: an annotation is the column's type (and what else `Column` takes), `| None` says that it may be
null, and the docstring says what the table is for. Other row types have some columns of a table, and `writes` says
what becomes of them.

A new table needs nothing else: a `ChangeSet` takes its rows, and the writer writes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, MetaData, SmallInteger, String, Table, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy.sql.schema import SchemaItem
    from sqlalchemy.types import TypeEngine

Row = tuple[Any, ...]
R = TypeVar("R", bound=Row)

# SQLite's rowid must be declared as INTEGER to be the key itself instead of a second index.
ROW_ID = BigInteger().with_variant(Integer, "sqlite")
RowId = Annotated[int, ROW_ID]
BigInt = Annotated[int, BigInteger()]
SmallInt = Annotated[int, SmallInteger()]
Name = Annotated[str, String()]
Hash = Annotated[str, String(32)]  # 128 bits, hexadecimal
WholeFloat = Annotated[float, BigInteger()]  # an integer that is computed with as a float

_COLUMN_TYPES: Mapping[type, TypeEngine[Any]] = {int: Integer(), float: Float(), str: Text(), bool: Boolean()}


class Mode(Enum):
    """What becomes of a row that is written."""

    INSERT = auto()
    INSERT_NEW = auto()  # unless a row with that key is there
    UPSERT = auto()  # in place of the row with that key, if there is one
    UPDATE = auto()  # of the row with that key
    DELETE = auto()  # of the rows with these values


INSERT, INSERT_NEW, UPSERT, UPDATE, DELETE = Mode


@dataclass(frozen=True, slots=True)
class Write:
    """How rows of one type are written.

    *types* has the fields and their Python types; of those of an UPDATE or UPSERT the first *key* are the primary key.
    *select* makes the *columns* of the table out of the rows: it is a query where rows name another row, or hold lists.
    """

    table: Table
    mode: Mode
    types: Mapping[str, type]
    key: int
    columns: tuple[str, ...]
    select: Mapping[str, str]  # by dialect
    number: int  # as they were declared


_writes: dict[type[Row], Write] = {}


def write_of(kind: type[Row]) -> Write:
    """Return how rows of type *kind* are written."""
    return _writes[kind]


def row_types() -> list[type[Row]]:
    """Return all row types, as they were declared."""
    return list(_writes)


def writes(
    table: Table, mode: Mode, *, columns: tuple[str, ...] = (), select: str | Mapping[str, str] = "{rows}"
) -> Callable[[type[R]], type[R]]:
    """Declare a row type whose fields are columns of *table*, its key first.

    With *select* they are others, from which a query of `{rows}` makes the *columns*.
    """

    def declare(kind: type[R]) -> type[R]:
        types = {name: _python_type(hint) for name, hint in get_type_hints(kind).items()}
        names = columns or tuple(types)
        key = len(table.primary_key)
        own = [table.c[name] for name in names]
        if mode in (UPSERT, UPDATE) and set(own[:key]) != set(table.primary_key):
            raise TypeError(f"{kind.__name__}: the primary key of {table.name} must come first")
        by_dialect = dict.fromkeys(("sqlite", "postgresql"), select) if isinstance(select, str) else select
        _writes[kind] = Write(table, mode, types, key, names, by_dialect, len(_writes))
        return kind

    return declare


def table(
    name: str,
    metadata: MetaData,
    kind: type[Row],
    mode: Mode,
    *items: SchemaItem,
    key: int = 0,
    number: Column[Any] | None = None,
    **options: Any,
) -> Table:
    """Return the table of rows of the type *kind*; its first *key* fields are the primary key.

    *items* are indexes and the like; *number* is the key that the database gives to each row, where it does.
    """
    columns = [] if number is None else [number]
    columns += [
        _column(field, hint, is_key=place < key)
        for place, (field, hint) in enumerate(get_type_hints(kind, include_extras=True).items())
    ]
    made = Table(name, metadata, *columns, *items, **options)
    writes(made, mode)(kind)
    return made


def _column(name: str, hint: Any, *, is_key: bool) -> Column[Any]:
    inner = _without_none(hint)
    parts = get_args(inner)[1:] if get_origin(inner) is Annotated else (_COLUMN_TYPES[inner],)
    if is_key:
        return Column(name, *parts, primary_key=True, autoincrement=False)
    return Column(name, *parts, nullable=inner is not hint)


def _python_type(hint: Any) -> type:
    inner = _without_none(hint)
    origin: type = get_origin(inner) or inner
    return origin


def _without_none(hint: Any) -> Any:
    kinds = get_args(hint)
    return next(kind for kind in kinds if kind is not NoneType) if NoneType in kinds else hint
