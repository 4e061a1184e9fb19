"""What was handed to the writer lately, in memory of bounded size: whoever asks the store may not see it yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

K = TypeVar("K")
V = TypeVar("V")


class Uncommitted(Generic[K, V]):
    """The latest entries by key, in two generations: `young` takes new ones, `old` was young before.

    When `young` has *most* entries, it becomes `old`, and what was old is forgotten. Before that *flush* is called,
    which waits until all submitted change sets are committed: that of an entry must be submitted before *most* more
    entries are made.

    An entry is made by `self[key] = value`. Where many entries share a value (a set, a list), call `make_room`, change
    `young`, and tell `count` how many entries were added.
    """

    def __init__(self, flush: Callable[[], None], most: int) -> None:
        self.young: dict[K, V] = {}
        self.old: dict[K, V] = {}
        self._flush = flush
        self._most = most
        self._entries = 0  # of `young`

    def get(self, key: K) -> V | None:
        """The value of *key*, if it was entered lately."""
        value = self.young.get(key)
        return self.old.get(key) if value is None else value

    def __setitem__(self, key: K, value: V) -> None:
        self.make_room()
        self.young[key] = value
        self._entries += 1

    def make_room(self) -> None:
        """Begin a new generation if the young one is full."""
        if self._entries >= self._most:
            if self.old:
                self._flush()
            self.old, self.young, self._entries = self.young, {}, 0

    def count(self, entries: int) -> None:
        """*entries* more are in `young`."""
        self._entries += entries
