"""Values that were submitted to the writer recently, and may not be visible to queries yet; the memory is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawlers.store.writing.writer import Writer

K = TypeVar("K")
V = TypeVar("V")


class Uncommitted(Generic[K, V]):
    """The latest entries by key, in two generations: `young` receives new entries, `old` is the previous generation.

    When `young` has *most* entries, it becomes `old`, and the former `old` is forgotten as soon as its change sets are
    committed, which they usually are by then. All change sets of `young` must be submitted when `make_room` is called,
    so call it before the first entry of each change set. *commits* is the writer, or None if queries see entries at
    once.
    """

    def __init__(self, commits: Writer | None, most: int) -> None:
        self.young: dict[K, V] = {}
        self.old: dict[K, V] = {}
        self.forgotten = 0  # number of generations; a query that began before one was forgotten may lack its entries
        self._commits = commits
        self._most = most
        self._entries = 0  # of `young`
        self._submitted = 0  # change sets submitted when `old` was replaced by `young`

    def get(self, key: K) -> V | None:
        """Return the value of *key*, if it was entered recently."""
        value = self.young.get(key)
        return self.old.get(key) if value is None else value

    def make_room(self) -> None:
        """Begin a new generation if the young one is full."""
        if self._entries < self._most:
            return
        if self._commits is not None:
            if self.old:
                self._commits.wait_for(self._submitted)
            self._submitted = self._commits.submitted
        self.forgotten += bool(self.old)
        self.old, self.young, self._entries = self.young, {}, 0

    def update(self, entries: Mapping[K, V]) -> None:
        """Add *entries*."""
        self.young.update(entries)
        self._entries += len(entries)

    def count(self, entries: int) -> None:
        """Count *entries* that were added to the values of `young`."""
        self._entries += entries
