"""A forked command behaves like a fresh process."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess

import pytest

from tests.support.processes import Ended, Run
from tests.support.sites.server import Web

both = pytest.mark.parametrize("is_fresh", [False, True], ids=["forked", "fresh"])


@both
def test_command_runs_in_its_folder_to_its_end(tmp_path, is_fresh):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "own.py").write_text("import warnings\nwarnings.warn('old')\n", "utf-8")
    listed = Run(folder, ("list",), is_fresh=is_fresh).wait()
    assert (listed.status, listed.log) == (0, "")
    assert listed.output.split() == ["broad", "extlinks", "news", "sitegraph", "topic"]
    warned = Run(folder, ("list", "-s", "SPIDER_LOADER_CLASS=own.Loader"), is_fresh=is_fresh).wait()
    assert (warned.status, warned.log.splitlines()[-1]) == (1, "UserWarning: old")
    assert [path.name for path in folder.iterdir() if path.is_file()] == ["own.py"]


@both
def test_command_receives_signals_and_runs_a_function_before(tmp_path, is_fresh):
    async def stall(exchange):
        await asyncio.Event().wait()

    with Web(stalls=stall) as web:
        arguments = ("crawl", "sitegraph", "-a", f"hosts={web.hosts()}")
        run = Run(tmp_path, arguments, is_fresh=is_fresh, before=ignore_hangup)
        assert run.until(lambda: web["stalls"].requests != [], "the first request")
        run.signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(0.0)
        assert run.wait().status == -signal.SIGKILL  # after the timeout
        assert not run.is_running
        run.kill()


def ignore_hangup():
    assert os.getsid(0) == os.getpid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_errors_are_sentences_with_their_further_lines():
    log = "2026-11-22 07:13:43 [a] INFO: Error: x\nError: one\n  more\n2026-11-22 07:13:44 [a] INFO: b\nError: two\n"
    assert Ended(2, "", log).errors == ["Error: one\n  more", "Error: two"]
