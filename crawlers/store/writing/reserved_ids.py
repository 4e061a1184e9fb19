"""Row numbers that are assigned before the rows are written; processes reserve them in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select, update

from crawlers.store.schema.tables import id_block

if TYPE_CHECKING:
    from concurrent.futures import Future

    from sqlalchemy import Connection, Table

    from crawlers.store.writing.writer import Writer


def reserve(connection: Connection, table: Table, count: int) -> range:
    """Return *count* numbers of rows of *table* that no other process will use, even if this one dies first."""
    of_table = id_block.c.name == table.name
    first = connection.execute(select(id_block.c.next).where(of_table).with_for_update()).scalar_one()
    connection.execute(update(id_block).where(of_table).values(next=first + count))
    return range(first, first + count)


class ReservedIds:
    """Assigns numbers of rows of *table*, and reserves the next *block* when half of one is left.

    So `next_id` waits for the database only if the writer is slower than half a block lasts. A killed process wastes up
    to two blocks.
    """

    def __init__(self, writer: Writer, table: Table, block: int) -> None:
        self._writer = writer
        self._table = table
        self._block = block
        self._ids = range(0)
        self._next: Future[range] | None = None
        self._next_count = 0  # numbers in the next block

    def reserve(self, count: int) -> Future[range] | None:
        """Reserve *count* or more numbers, unless as many are left; return what `next_id` would wait for, or None."""
        if len(self._ids) >= count:
            return None
        if self._next is None or count > self._next_count:
            size = self._next_count = max(count, self._block)
            self._next = self._writer.run(lambda connection: reserve(connection, self._table, size))
        return None if self._next.done() else self._next

    def next_id(self) -> int:
        """Return a number that was never used before. Raises `StoreError`."""
        if not self._ids:
            self.reserve(self._block)
            assert self._next is not None
            self._ids, self._next = self._next.result(), None
        taken, self._ids = self._ids[0], self._ids[1:]
        if len(self._ids) == self._block // 2:
            self.reserve(self._block)
        return taken
