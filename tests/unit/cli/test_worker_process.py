"""The process of a worker: tiny programs that print, exit, die, and wait for the end of their input."""

import asyncio
import signal
import sys

from crawlers.cli import worker_process
from crawlers.cli.worker_process import MAX_LINE_BYTES, WorkerProcess
from tests.support.processes import PATIENCE_S

WAITS = "import sys; print('up', flush=True); sys.stdin.read(); print('down')"


def ended(program, act=lambda process, line: None):
    """Return the lines of a program, those of standard output with True, and its status."""
    lines = []

    async def run():
        def write(line, is_output):
            lines.append((line, is_output))
            act(process, line)

        process = WorkerProcess(write)  # its first lines may come before subprocess_exec returns
        command = [sys.executable, "-c", program]
        await asyncio.get_running_loop().subprocess_exec(lambda: process, *command, process_group=0)
        async with asyncio.timeout(PATIENCE_S):
            status = await process.ended
        process.stop()  # harmless, as is
        process.send(signal.SIGKILL)
        return status

    return lines, asyncio.run(run())


def test_lines_are_those_of_the_program_whatever_it_writes():
    program = (
        "import sys\n"
        "sys.stdout.buffer.write(b'one\\r\\n\\xff\\nend'); sys.stdout.flush()\n"
        f"sys.stderr.write('x' * {3 * MAX_LINE_BYTES}); sys.exit(3)"
    )
    lines, status = ended(program)
    assert status == 3
    assert [line for line, is_output in lines if is_output] == ["one", "\\xff", "end"]
    divided = [line for line, is_output in lines if not is_output]
    assert len(divided) > 1
    assert "".join(divided) == "x" * 3 * MAX_LINE_BYTES


def test_signal_that_ended_it_is_a_negative_status():
    assert ended("import os, signal; os.kill(os.getpid(), signal.SIGKILL)") == ([], -signal.SIGKILL)


def test_stop_ends_its_input():
    assert ended(WAITS, lambda process, line: process.stop()) == ([("up", True), ("down", True)], 0)


def test_kill_ends_it_with_the_programs_that_it_started(monkeypatch):
    monkeypatch.setattr(worker_process, "LAST_LINES_S", PATIENCE_S)  # else a surviving program would go unnoticed
    lasts = "import signal; print('up', flush=True); signal.pause()"
    starts = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {lasts!r}])"
    assert ended(starts, lambda process, line: process.send(signal.SIGKILL)) == ([("up", True)], -signal.SIGKILL)


def test_program_that_survives_it_and_goes_on_writing_does_not_delay_its_end_for_ever(monkeypatch):
    monkeypatch.setattr(worker_process, "LAST_BYTES", 10)
    monkeypatch.setattr(worker_process, "LAST_LINES_S", 0.1)
    writes = "import os\nprint(os.getpid(), flush=True)\nwhile True: print('line', flush=True)"
    program = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {writes!r}])"
    lines, status = ended(program)
    assert status == 0
    assert {line for line, _ in lines[1:]} == {"line"}  # until its pipe is closed, which ends it
