"""Row types: named tuples that the writer can write.

`table` derives a table from the row type of its complete rows, so that its columns
are described once: an annotation gives the column's type (and other arguments of `Column`) and, as a text, its
meaning; `| None` makes it nullable, and the docstring describes the table. Other row types have some columns of a
table; `writes` declares how they are written.

`ChangeSet` and the writer accept the rows of a new table without further changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    event,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Connection
    from sqlalchemy.sql.schema import SchemaItem
    from sqlalchemy.types import TypeEngine

Row = tuple[Any, ...]
R = TypeVar("R", bound=Row)

# SQLite uses the rowid as the key, without a second index, only if the column is declared as INTEGER.
ROW_ID = BigInteger().with_variant(Integer, "sqlite")
RowId = Annotated[int, ROW_ID]
BigInt = Annotated[int, BigInteger()]
SmallInt = Annotated[int, SmallInteger()]
Name = Annotated[str, String()]
Hash = Annotated[str, String(32)]  # 128 bits, hexadecimal
WholeFloat = Annotated[float, BigInteger()]  # an integer that Python code uses as a float

# What `Table.info` says of a table: what it holds; whether its rows are deleted with their seed, `seed_id`; whether
# people or sites named the addresses in its column `url`; and of an order, the table with the times of its visits.
ABOUT, OF_SEED, NAMED, VISITS = "about", "of_seed", "named", "visits"

_COLUMN_TYPES: Mapping[type, TypeEngine[Any]] = {int: Integer(), float: Float(), str: Text(), bool: Boolean()}


class Mode(Enum):
    """How a row is written."""

    INSERT = auto()
    INSERT_NEW = auto()  # unless a row with that key exists
    UPSERT = auto()  # replaces the row with that key, if it exists
    UPDATE = auto()  # changes the row with that key
    DELETE = auto()  # deletes the rows with these values


INSERT, INSERT_NEW, UPSERT, UPDATE, DELETE = Mode


@dataclass(frozen=True, slots=True)
class Write:
    """How rows of one type are written.

    The first *key* of the *fields* are the primary key of an UPDATE or UPSERT.
    *select* turns rows into the *columns* of the table; a query is needed if rows name another row or contain lists.
    """

    table: Table
    mode: Mode
    kind: type[Row]
    fields: tuple[str, ...]
    key: int
    columns: tuple[str, ...]
    select: Mapping[str, str]  # by dialect
    number: int  # in the order of declaration
    function: Callable[[Connection, Any], None] | None = None  # writes rows that no single statement can write

    @property
    def types(self) -> Mapping[str, type]:
        """The Python types of the fields; to read them takes long, and few statements need them."""
        hints = get_type_hints(self.kind)
        return {name: _python_type(hints[name]) for name in self.fields}


_writes: dict[type[Row], Write] = {}


def write_of(kind: type[Row]) -> Write:
    """Return how rows of type *kind* are written."""
    return _writes[kind]


def row_types() -> list[type[Row]]:
    """Return all row types, in the order of declaration."""
    return list(_writes)


def writes(
    table: Table, mode: Mode, *, columns: tuple[str, ...] = (), select: str | Mapping[str, str] = "{rows}"
) -> Callable[[type[R]], type[R]]:
    """Declare a row type whose fields are columns of *table*, the key first.

    With *select* the fields are different: a query of `{rows}` turns them into the *columns*.
    """

    def declare(kind: type[R]) -> type[R]:
        fields = tuple(kind.__annotations__)
        names = columns or fields
        key = len(table.primary_key)
        own = [table.c[name] for name in names]
        if mode in (UPSERT, UPDATE) and set(own[:key]) != set(table.primary_key):
            raise TypeError(f"{kind.__name__}: the primary key of {table.name} must come first")
        by_dialect = dict.fromkeys(("sqlite", "postgresql"), select) if isinstance(select, str) else select
        _writes[kind] = Write(table, mode, kind, fields, key, names, by_dialect, len(_writes))
        return kind

    return declare


def written_by(
    table: Table, mode: Mode, function: Callable[[Connection, Sequence[R]], None]
) -> Callable[[type[R]], type[R]]:
    """Declare a row type whose rows are written to *table* by a *function*, which may read the table first.

    The *mode* says when: those that delete come first.
    """

    def declare(kind: type[R]) -> type[R]:
        _writes[kind] = Write(table, mode, kind, (), 0, (), {}, len(_writes), function)
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
    """Return the table of the row type *kind*; its first *key* fields are the primary key.

    *items* are indexes and constraints; *number* is the column of a key that the database generates, if any.
    """
    columns = [] if number is None else [number]
    columns += [
        _column(field, hint, is_key=place < key)
        for place, (field, hint) in enumerate(get_type_hints(kind, include_extras=True).items())
    ]
    made = Table(name, metadata, *columns, *items, info={ABOUT: kind.__doc__}, **options)
    writes(made, mode)(kind)
    return made


def partial_index(name: str, *columns: str, where: str) -> Index:
    """Return an index of the rows that meet a condition."""
    index = Index(name, *columns, sqlite_where=text(where))

    @event.listens_for(index, "before_create")
    def _add_condition(_index: Index, connection: Connection, **_options: object) -> None:
        if connection.dialect.name == "postgresql":  # SQLAlchemy imports a dialect when an option of it is named
            index.kwargs["postgresql_where"] = text(where)

    return index


def _column(name: str, hint: Any, *, is_key: bool) -> Column[Any]:
    described = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    texts = [one for one in described[1:] if isinstance(one, str)]
    inner = _without_none(described[0])
    parts = [one for one in (*described[1:], *get_args(inner)[1:]) if not isinstance(one, str)]
    parts = parts or [_COLUMN_TYPES[inner]]
    doc = texts[0] if texts else None
    if is_key:
        return Column(name, *parts, primary_key=True, autoincrement=False, doc=doc)
    return Column(name, *parts, nullable=inner is not described[0], doc=doc)


def _python_type(hint: Any) -> type:
    inner = _without_none(hint)
    origin: type = get_origin(inner) or inner
    return origin


def _without_none(hint: Any) -> Any:
    kinds = get_args(hint)
    return next(kind for kind in kinds if kind is not NoneType) if NoneType in kinds else hint
