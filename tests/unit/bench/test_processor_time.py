"""Processor time is counted for whole trees of processes."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.processor_time import TICKS_PER_S, tree_cpu_s, tree_queued_s

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux counts it there")

BUSY_S = 0.2
WORK = f"""
import sys, time
while time.process_time() < {BUSY_S + 1 / TICKS_PER_S}: pass
print("done", flush=True)
sys.stdin.read()
"""


@contextmanager
def running(*command: str) -> Iterator[int]:
    """Yield the number of a process of *command*, when it has said that its work is done."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"done\n"
        yield process.pid
        process.stdin.close()


def test_time_of_a_child_that_ended_is_counted() -> None:
    with running("sh", "-c", f"{sys.executable} -c '{WORK}' </dev/null >/dev/null; echo done; read line") as number:
        assert tree_cpu_s(number) >= BUSY_S


def test_time_in_which_threads_of_all_descendants_were_queued_is_counted() -> None:
    with running("sh", "-c", f"{sys.executable} -c '{WORK}'; true") as shell:
        (child,) = (Path("/proc") / str(shell) / "task" / str(shell) / "children").read_text("utf-8").split()
        each = [int(Path(f"/proc/{number}/schedstat").read_text("utf-8").split()[1]) for number in (shell, child)]
        assert tree_queued_s(shell) >= sum(each) / 1e9 > 0.0
