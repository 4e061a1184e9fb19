"""The processor time of other processes, as Linux counts it."""

from __future__ import annotations

import os
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def tree_cpu_s(root: int) -> float:
    """Return the CPU seconds of process *root*, of its descendants, and of those that these have waited for.

    A descendant that ended is counted if its parent waited for it, as servers do. 0.0 for process 0 or one that ended.
    """
    ticks, found = 0, [root] if root else []
    while found:
        folder = Path("/proc", str(found.pop()))
        try:
            fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            children = [(thread / "children").read_text("utf-8").split() for thread in (folder / "task").iterdir()]
        except OSError:
            continue  # it has ended
        ticks += sum(map(int, fields[11:15]))  # of its own, and of children that it waited for; user and system
        found += [int(number) for numbers in children for number in numbers]
    return ticks / TICKS_PER_S
