"""Runs Scrapy commands in processes, as users do, and reads their output.

Starting Python and importing the program takes ten times as long as most commands in tests. So processes are forked
from a server that has imported the program (`loaded`), one server per process of pytest. A fresh process takes two
seconds more; it is exactly what a user starts, with another hash seed. Of two crawls that must be equal, one is fresh.

Nothing here sleeps for a fixed time: `until` polls a condition of another process, with a timeout.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import runpy
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import chdir
from itertools import count
from multiprocessing import connection, forkserver
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
LOADED = "tests.support.loaded"
PATIENCE_S = 120.0  # far longer than any step takes, even on a busy machine
LOOK_EVERY_S = 0.001

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([LOADED])
_numbers = count(1)


def until(condition, what, timeout_s=PATIENCE_S):
    """Wait for *condition*; raise a TimeoutError that names *what* did not happen."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} did not happen within {timeout_s:g} s")
        time.sleep(LOOK_EVERY_S)


class Ended(NamedTuple):
    """The result of a command; a negative status is the signal that ended it."""

    status: int
    output: str
    log: str  # standard error: Scrapy's log and our messages

    def done(self) -> Ended:
        """Return the result of a command that must succeed; if it failed, fail with its log."""
        assert self.status == 0, self.log
        return self

    @property
    def errors(self):
        """Return the messages for the user: one sentence, or several lines if several lines of a file are wrong."""
        return re.findall(r"^Error: .*(?:\n(?!Error: |\d{4}-\d\d-\d\d ).+)*", self.log, re.MULTILINE)


class Run:
    """A process of `scrapy` with *arguments* in *folder*, in which warnings are errors.

    *before* is called in the new process before the command starts. The output is kept beside the folder.
    """

    def __init__(self, folder, arguments, *, is_fresh=False, before=None):
        said = folder.with_name(f"{folder.name}.said")
        said.mkdir(exist_ok=True)
        number = next(_numbers)
        self._output, self._log = said / f"{number}.out", said / f"{number}.err"
        self._output.touch()
        self._log.touch()
        start = subprocess_of if is_fresh else Fork
        self._process = start(_Command(folder, tuple(arguments), self._output, self._log, before))
        self.pid = self._process.pid

    @property
    def is_running(self):
        return self._process.poll() is None

    @property
    def log(self):
        return self._log.read_text("utf-8")

    @property
    def log_bytes(self):
        return self._log.stat().st_size

    def signal(self, number):
        self._process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)

    def wait(self, timeout_s=PATIENCE_S):
        """Wait for the end; kill the process if it takes longer than *timeout_s*."""
        try:
            status = self._process.wait(timeout_s)
        except BaseException:
            self.kill()
            self._process.wait(PATIENCE_S)
            raise
        return Ended(status, self._output.read_text("utf-8"), self.log)

    def until(self, condition, what):
        """Wait for *condition* or the end of the process; return whether the condition became true first."""
        came = False

        def is_over():
            nonlocal came
            came = condition()
            return came or not self.is_running

        until(is_over, what)
        return came


class _Command(NamedTuple):
    folder: Path
    arguments: tuple[str, ...]
    output: Path
    log: Path
    before: Callable[[], None] | None

    @property
    def environment(self):
        return {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "tests.support.settings"}


def subprocess_of(command):
    """Start a fresh process."""
    with command.output.open("wb") as output, command.log.open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "scrapy", *command.arguments],
            cwd=command.folder,
            env=command.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=log,
            start_new_session=True,
            preexec_fn=command.before,
        )


class Fork:
    """A process forked from the server, with the required methods of `subprocess.Popen`."""

    def __init__(self, command):
        with chdir(ROOT):  # where the server, if it is started now, finds the modules to load
            forkserver.ensure_running()
        self._lock = threading.Lock()  # a status can be read once
        self._process = _context.Process(target=_become, args=(command, command.environment))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self):
        with self._lock:
            return self._process.exitcode

    def wait(self, timeout):
        connection.wait([self._process.sentinel], timeout)
        status = self.poll()
        if status is None:
            raise subprocess.TimeoutExpired("scrapy", timeout)
        return status

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)


def _become(command, environment):
    """Run `python -W error -m scrapy` in this process."""
    assert LOADED in sys.modules, "the server could not import the modules of commands, so it is useless"
    os.setsid()
    os.chdir(command.folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate((Path(os.devnull), command.output, command.log)):
        opened = os.open(path, os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    sys.warnoptions[:] = ["error"]
    warnings.resetwarnings()
    warnings.simplefilter("error")
    sys.argv[1:] = command.arguments
    sys.orig_argv[:] = [sys.executable, "-W", "error", "-m", "scrapy", *command.arguments]  # to begin it again
    sys.path.insert(0, str(command.folder))
    if command.before is not None:
        command.before()
    runpy.run_module("scrapy", run_name="__main__", alter_sys=True)
