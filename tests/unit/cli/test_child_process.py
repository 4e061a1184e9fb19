"""The process of a worker: tiny programs that print, exit, die, and wait for the end of their input."""

import os
import signal
import subprocess
import sys
import threading

from crawlers.cli import child_process
from crawlers.cli.child_process import ChildProcess, Events, Exit, Line
from tests.support.processes import PATIENCE_S

WAITS = "import sys; print('up', flush=True); sys.stdin.read(); print('down')"


def started(events, program, place=1, **environment):
    return ChildProcess(place, [sys.executable, "-c", program], {**os.environ, **environment}, events)


def ended(events):
    """Return the lines and the end of the only process."""
    lines = []
    while isinstance(event := events.get(PATIENCE_S), Line):
        lines.append(event)
    return lines, event


def test_signal_that_ended_it_is_a_negative_status():
    events = Events()
    started(events, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert ended(events)[1] == Exit(1, -signal.SIGKILL)


def test_stop_ends_its_input():
    events = Events()
    process = started(events, WAITS)
    assert events.get(PATIENCE_S) == Line(1, "up", is_output=True)
    process.stop()
    assert ended(events) == ([Line(1, "down", is_output=True)], Exit(1, 0))
    process.stop()  # harmless
    process.kill()


def test_kill_ends_it_with_the_programs_that_it_started(monkeypatch):
    monkeypatch.setattr(child_process, "LAST_LINES_S", PATIENCE_S)  # else a surviving program would go unnoticed
    events = Events()
    lasts = "import signal; print('up', flush=True); signal.pause()"
    starts = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {lasts!r}])"
    process = started(events, starts)
    assert events.get(PATIENCE_S) == Line(1, "up", is_output=True)
    process.kill()
    assert ended(events) == ([], Exit(1, -signal.SIGKILL))


def test_worker_learns_that_the_watching_process_was_killed():
    """A process starts a worker and is killed; the worker writes into a pipe of the test that its input has ended."""
    reads, writes = os.pipe()
    worker = f"import os, sys; print('up', flush=True); sys.stdin.read(); os.write({writes}, b'stopped')"
    watching = (
        "import os, sys; from crawlers.cli.child_process import ChildProcess\n"
        "from crawlers.cli.child_process import Events\n"
        "events = Events()\n"
        f"os.set_inheritable({writes}, True)\n"
        "import subprocess; popen = subprocess.Popen\n"
        f"subprocess.Popen = lambda *args, **more: popen(*args, **more, pass_fds=({writes},))\n"
        f"ChildProcess(1, [sys.executable, '-c', {worker!r}], os.environ, events)\n"
        "print(events.get(60.0).text, flush=True); events.get(60.0)"
    )
    with subprocess.Popen([sys.executable, "-c", watching], stdout=subprocess.PIPE, pass_fds=(writes,)) as process:
        os.close(writes)
        assert process.stdout.readline() == b"up\n"
        process.kill()
        assert os.read(reads, 100) == b"stopped"
    os.close(reads)


def test_last_lines_of_a_process_come_before_its_end_although_they_are_shown_slowly(monkeypatch):
    monkeypatch.setattr(child_process, "LAST_LINES_S", 0.001)
    is_waiting, has_room = threading.Event(), threading.Event()

    class SlowEvents(Events):
        def put(self, event):
            if event == Line(1, "two", is_output=True):
                is_waiting.set()
                assert has_room.wait(PATIENCE_S)
            super().put(event)

    class Thread(threading.Thread):
        was_joined = False

        def join(self, timeout=None):
            assert is_waiting.wait(PATIENCE_S)
            if self.was_joined:  # so its last lines are awaited
                has_room.set()
            self.was_joined = True
            super().join(timeout)

    monkeypatch.setattr(child_process.threading, "Thread", Thread)
    events = SlowEvents()
    started(events, "print('one'); print('two')")
    assert ended(events) == ([Line(1, "one", is_output=True), Line(1, "two", is_output=True)], Exit(1, 0))


def test_end_does_not_overtake_lines_that_a_reader_is_about_to_read(monkeypatch):
    """The end is looked for while no line waits for room: before the first line, and between the two lines."""
    looks, has_looked = [], (threading.Event(), threading.Event())
    is_between = threading.Event()

    class Output:
        def __init__(self, stream):
            self._stream, self._lines = stream, 0

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self._stream.close()

        def readline(self, size):
            if self._lines:
                is_between.set()
            if self._lines < len(has_looked):
                assert has_looked[self._lines].wait(PATIENCE_S)
            self._lines += 1
            return self._stream.readline(size)

    class Popen(subprocess.Popen):
        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            self.stdout = Output(self.stdout)

    class Thread(threading.Thread):
        def join(self, timeout=None):
            looks.append(self)
            number = looks.count(self) - 1
            if number < len(has_looked) and looks[0] is self:
                has_looked[number].set()
            if number:
                super().join(PATIENCE_S)
            else:
                assert is_between.wait(PATIENCE_S)

    monkeypatch.setattr(child_process.subprocess, "Popen", Popen)
    monkeypatch.setattr(child_process.threading, "Thread", Thread)
    events = Events()
    started(events, "print('one'); print('two')")
    assert ended(events) == ([Line(1, "one", is_output=True), Line(1, "two", is_output=True)], Exit(1, 0))


def test_program_that_survives_it_and_goes_on_writing_does_not_delay_its_end_for_ever(monkeypatch):
    monkeypatch.setattr(child_process, "LAST_BYTES", 10)
    monkeypatch.setattr(child_process, "LAST_LINES_S", 0.5)

    class EndOnly(Events):
        def put(self, event):
            if isinstance(event, Exit):
                super().put(event)

    events = EndOnly()
    writes = "while True: print('line', flush=True)"
    process = started(events, f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {writes!r}])")
    try:
        assert events.get(PATIENCE_S) == Exit(1, 0)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
