"""What a worker is told by the command that started it with others, or by itself when it begins again: in variables of
its environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

PLACE = "CRAWLERS_WORKER"
SUMMARY = "CRAWLERS_SUMMARY"
CRAWL = "CRAWLERS_CRAWL"


class WorkerPlace(NamedTuple):
    """The place of a worker among those of one command on this machine.

    Its standard input is a pipe of that command: when it ends, the worker stops gracefully.
    """

    number: int  # from 1 on; a worker that takes the place of a dead one has the same number
    workers: int  # of the command
    summary: Path  # where the worker that ends the crawl writes the summary, which the command shows

    def environment(self) -> dict[str, str]:
        """Return the variables that tell a worker its place."""
        return {PLACE: f"{self.number}/{self.workers}", SUMMARY: str(self.summary)}


def worker_place(environment: Mapping[str, str] = os.environ) -> WorkerPlace | None:
    """Return the place of this process; None if it was not started by a command for several workers.

    >>> worker_place({"CRAWLERS_WORKER": "2/4", "CRAWLERS_SUMMARY": "summary.txt"}).number
    2
    >>> worker_place({}) is None
    True
    """
    if PLACE not in environment:
        return None
    number, _, workers = environment[PLACE].partition("/")
    return WorkerPlace(int(number), int(workers), Path(environment[SUMMARY]))


def crawl_to_join(environment: Mapping[str, str] = os.environ) -> int | None:
    """Return the number of the crawl that this process joins, and of which it begins no successor; None: any.

    >>> crawl_to_join({"CRAWLERS_CRAWL": "3"}), crawl_to_join({})
    (3, None)
    """
    return int(environment[CRAWL]) if CRAWL in environment else None
