"""Results that may take seconds: computed in threads of their own, and kept until somebody asks for newer ones."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from crawlers.errors import CrawlersError
from crawlers.reports.catalogue.report import TimeLimit

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

logger = logging.getLogger(__name__)

WAIT_S = 0.1  # a reader hardly notices it; most results are there by then
SMALL_WAITS = 50  # times as long for a result that is surely there by then: the first graph imports for a second
MAX_BYTES = 200_000_000  # of all results together
ENTRY_BYTES = 1000  # of a key, a time, a message
WEIGHED = 100  # members of a collection, by which all of them are judged
NICENESS = 5  # of a computation: crawls of this machine get three times as much of a processor
THREADS = 2  # computations at the same time: the database and the crawls of this machine need the other cores
PAUSE_S = 60.0  # at most, after a failure: a store may be back, although it took long to find out that it was away
MAX_JOBS = 50  # computations that have begun or wait; a page that asks again later gets its turn
MAX_READERS = 20  # that wait at the same time: half of the threads that answer requests


T = TypeVar("T")


class Outcome(NamedTuple, Generic[T]):
    """A result that was computed at the time *at*, in seconds since 1970; or its *value* is None, and it *is_missing*.

    Then it is being computed since that time, or the computation failed at that time because of *problem*.
    """

    at: float
    value: T | None = None
    is_missing: bool = True
    seconds: float = 0.0  # that the computation took
    problem: str = ""


class CachedResults:
    """The results that were used last, by key; each is computed once, however many readers ask for it.

    Readers wait up to *wait_s* seconds for a result. Methods may be called in any thread.
    """

    def __init__(
        self,
        wait_s: float = WAIT_S,
        most_bytes: int = MAX_BYTES,
        threads: int = THREADS,
        most_jobs: int = MAX_JOBS,
    ) -> None:
        self.wait_s = wait_s
        self._most_bytes = most_bytes
        self._most_jobs = most_jobs
        self._readers = 0  # that wait
        self._ended: OrderedDict[Hashable, Outcome[Any]] = OrderedDict()
        self._bytes = 0  # of those
        self._jobs: dict[Hashable, tuple[float, threading.Event]] = {}  # since when, and what is set at their end
        self._forgotten: set[Hashable] = set()  # keys of jobs that may have read what has changed since
        self._turns = threading.Semaphore(threads)
        self._lock = threading.Lock()

    def get(
        self, key: Hashable, compute: Callable[[], T], wait_s: float | None = None, *, share: float = 0.0
    ) -> Outcome[T]:
        """Return the result of *key*, which *compute* returns, or why it is not there.

        *compute* is called in another thread unless the result is known, and goes on when the reader has waited for
        *wait_s* seconds, by default those of this object; whoever asks again later gets the result.
        It is computed again so seldom that this takes at most *share* of the time, from 0 (only after `forget`) to 1.
        Readers wait for a later result only if it takes less time than that. With a *share*, that is so after a
        failure, too, but it is computed again after at most `PAUSE_S` seconds. Nobody waits if too many wait already.
        """
        wait_s = self.wait_s if wait_s is None else wait_s
        with self._lock:
            known = self._known(key)
            if known is not None and time.time() - known.at < _pause_s(known, share):
                return known
            if key not in self._jobs and len(self._jobs) < self._most_jobs:
                self._jobs[key] = time.time(), threading.Event()
                threading.Thread(target=self._work, args=(key, compute), name="computation", daemon=True).start()
            at, has_ended = self._jobs.get(key, (time.time(), None))
            may_wait = has_ended is not None and self._readers < MAX_READERS
            self._readers += may_wait
        if has_ended is not None and may_wait:
            has_ended.wait(wait_s if known is None or known.seconds < wait_s else 0.0)
        with self._lock:
            self._readers -= may_wait
            return self._known(key) or Outcome(at)

    def patience(self, *, is_small: bool = False) -> TimeLimit:
        """Return for how long a page waits for all of its results together, or for those of a small crawl."""
        return TimeLimit(self.wait_s * (SMALL_WAITS if is_small else 1))

    def known(self, key: Hashable) -> Any:
        """Return the value of *key* if it was computed before."""
        with self._lock:
            ended = self._known(key)
        return ended and ended.value

    def forget(self, key: Hashable) -> None:
        """Let the result of *key* be computed again when somebody asks for it."""
        with self._lock:
            self._drop(key)
            if key in self._jobs:
                self._forgotten.add(key)

    def _drop(self, key: Hashable) -> None:
        if (ended := self._ended.pop(key, None)) is not None:
            self._bytes -= _size(ended)

    def _known(self, key: Hashable) -> Outcome[Any] | None:
        if key in self._ended:
            self._ended.move_to_end(key)
        return self._ended.get(key)

    def _work(self, key: Hashable, compute: Callable[[], object]) -> None:
        """Compute a result when it is its turn."""
        if sys.platform == "linux":  # where each thread has a priority of its own
            os.nice(NICENESS)
        with self._turns:
            outcome = _outcome(key, compute)
        with self._lock:
            if key not in self._forgotten:
                self._keep(key, outcome)
            self._forgotten.discard(key)
            _, has_ended = self._jobs.pop(key)
        has_ended.set()

    def _keep(self, key: Hashable, outcome: Outcome[Any]) -> None:
        self._drop(key)
        self._ended[key] = outcome
        self._bytes += _size(outcome)
        while len(self._ended) > 1 and self._bytes > self._most_bytes:
            self._drop(next(iter(self._ended)))


def _outcome(key: Hashable, compute: Callable[[], object]) -> Outcome[Any]:
    began, value, problem = time.monotonic(), None, ""
    try:
        value = compute()
    except CrawlersError as error:
        problem = str(error)
    except Exception:
        logger.exception("The computation of %s failed", key)
        problem = "Internal error; the details are in the log of scrapy web."
    return Outcome(time.time(), value, bool(problem), time.monotonic() - began, problem)


def _pause_s(ended: Outcome[Any], share: float) -> float:
    if not share:
        return float("inf")
    pause_s = ended.seconds / share
    return min(pause_s, PAUSE_S) if ended.is_missing else pause_s


def _size(outcome: Outcome[Any]) -> int:
    return ENTRY_BYTES + memory_of(outcome.value)


def memory_of(value: object) -> int:
    """Return about how much memory *value* takes, in bytes; of a collection, some members are weighed.

    >>> memory_of(["x" * 1000] * 1000) > 900 * 1000
    True
    """
    if is_dataclass(value):
        value = [getattr(value, one.name) for one in fields(value)]
    size = sys.getsizeof(value)
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, Mapping)):
        return size
    members = value.items() if isinstance(value, Mapping) else value
    some = list(islice(members, 0, None, len(value) // WEIGHED + 1))
    return size + sum(map(memory_of, some)) * len(value) // max(1, len(some))
