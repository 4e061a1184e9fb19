"""The rows that one event of the crawl writes; they are committed together or not at all."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlers.store.schema.rows import R, Row


class ChangeSet:
    """The rows of one event, or of several that wait for the writer. Rows of one type keep their order.

    The type of a row determines its table, and whether it is inserted, updated or deleted; see `schema.rows`.
    """

    __slots__ = ("_rows",)

    def __init__(self, *rows: Row) -> None:
        self._rows: defaultdict[type[Row], list[Any]] = defaultdict(list)
        if rows:
            self.add(*rows)

    def add(self, *rows: Row) -> None:
        for row in rows:
            self._rows[type(row)].append(row)

    def extend(self, other: ChangeSet) -> None:
        for kind, rows in other._rows.items():
            self._rows[kind].extend(rows)

    def __getitem__(self, kind: type[R]) -> list[R]:
        """Return the rows of one type."""
        return self._rows.get(kind, [])

    def __iter__(self) -> Iterator[type[Row]]:
        """Iterate over the types of the rows."""
        return iter(self._rows)
