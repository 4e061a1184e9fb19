"""Runs a command before all other programs of the machine, so that a measurement can be made while these run.

    python -m bench.priority COMMAND...

The niceness alone does not suffice: Linux divides the processors among sessions first (autogroups, see sched(7)), and
the niceness of a process counts only within its own. Each process of a PostgreSQL server begins a session of its own.
So all sessions of the command and of its descendants are preferred, also those of servers that it leaves. Needs root.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from bench.processor_time import tree

FIRST = -20
LOOK_S = 0.5
VARIABLE = "BENCH_PRIORITY"  # marks what was started by this process, whatever became of its parent


def prefer(mark: str) -> None:
    """Prefer the sessions of all processes that have *mark* in their environment, and of their descendants."""
    marked = f"{VARIABLE}={mark}\0".encode()
    for process in Path("/proc").iterdir():
        with suppress(OSError):  # it has ended
            if process.name.isdigit() and marked in (process / "environ").read_bytes():
                for folder in tree(int(process.name)):
                    prefer_session(folder)


def prefer_session(process: Path) -> None:
    """Prefer the session of a process, which is named by its folder in /proc."""
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
        group = process / "autogroup"
        if not group.read_text("utf-8").endswith(f" {FIRST}\n"):
            group.write_text(str(FIRST), "utf-8")


def main() -> int:
    os.nice(FIRST)
    prefer_session(Path("/proc/self"))
    mark = str(os.getpid())
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(LOOK_S):
            prefer(mark)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        return subprocess.run(sys.argv[1:], env={**os.environ, VARIABLE: mark}, check=False).returncode
    finally:
        is_over.set()
        watching.join()


if __name__ == "__main__":
    sys.exit(main())
