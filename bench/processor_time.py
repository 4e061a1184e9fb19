"""The processor time of other processes, as Linux counts it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def tree(root: int) -> Iterator[Path]:
    """Yield the folders in /proc of process *root* and of its descendants; none for process 0 or one that ended."""
    found = [root] if root else []
    while found:
        folder = Path("/proc", str(found.pop()))
        try:
            children = [(thread / "children").read_text("utf-8").split() for thread in (folder / "task").iterdir()]
        except OSError:
            continue  # it has ended
        yield folder
        found += [int(number) for numbers in children for number in numbers]


def tree_cpu_s(root: int) -> float:
    """Return the CPU seconds of process *root*, of its descendants, and of those that these have waited for.

    A descendant that ended is counted if its parent waited for it, as servers do. 0.0 for process 0 or one that ended.
    """
    ticks = 0
    for folder in tree(root):
        try:
            fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))  # of its own, and of children that it waited for; user and system
    return ticks / TICKS_PER_S


def tree_queued_s(root: int) -> float:
    """Return the seconds in which threads of process *root* and of its descendants waited for a processor.

    Of each thread that lives, those are the seconds in which it could have run, but others ran.
    """
    queued_ns = 0
    for folder in tree(root):
        try:
            threads = [(thread / "schedstat").read_text("utf-8").split() for thread in (folder / "task").iterdir()]
        except OSError:
            continue
        queued_ns += sum(int(waited_ns) for _, waited_ns, _ in threads)
    return queued_ns / 1e9
