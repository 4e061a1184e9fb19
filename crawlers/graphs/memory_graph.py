"""A graph in memory, with the interface of those in a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlers.graphs.model import PAGE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlers.graphs.model import Column, Row


@dataclass(frozen=True, slots=True)
class MemoryGraph:
    """A graph of literals, for tests and small jobs."""

    rows: Sequence[Row]
    links: Sequence[tuple[int, Sequence[tuple[int, int]]]]
    columns: tuple[Column, ...] = PAGE_COLUMNS
    name: str = ""
    description: str = ""

    @property
    def ids(self) -> list[int]:
        return [row[0] for row in self.rows]

    def edges(self) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
        return iter(self.links)

    def nodes(self) -> Iterator[Row]:
        return iter(self.rows)
