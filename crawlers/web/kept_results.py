"""Results that took seconds to compute, kept in memory until somebody asks for newer ones."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from crawlers.reports.catalogue.computed_report import Result

MAX_ROWS = 1_000_000  # of all results together: some 500 MB of long URLs at most


class Kept(NamedTuple):
    """A result, and when it was computed, in seconds since 1970."""

    result: Result
    at: float


class KeptResults:
    """The results that were used last, by key. Threads may share it; none waits for the computation of another key."""

    def __init__(self, most_rows: int = MAX_ROWS) -> None:
        self._most_rows = most_rows
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def known(self, key: Hashable) -> Kept | None:
        """Return the result of *key* if it was computed before."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def get(self, key: Hashable, compute: Callable[[], Result]) -> Kept:
        """Return the result of *key*, computed now unless it is known."""
        return self.known(key) or self.renewed(key, compute)

    def renewed(self, key: Hashable, compute: Callable[[], Result]) -> Kept:
        """Return the result of *key*, computed now."""
        kept = Kept(compute(), time.time())
        with self._lock:
            self._kept[key] = kept
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and sum(len(one.result.rows) for one in self._kept.values()) > self._most_rows:
                self._kept.popitem(last=False)
        return kept
