"""Tests of the files: names, kills, errors, two writers at a time."""

import errno
import os
import signal
import stat
import subprocess
import sys

import pytest

from crawlers.errors import ConfigError, StoreError
from crawlers.graphs.export import FORMATS, write_graph
from crawlers.graphs.model import Column, MemoryGraph

GRAPH = MemoryGraph([(1, "a", "x"), (2, "b", "y")], [(1, [(2, 1)])], (Column("title", "string"),))

# A writer that is killed at one of three places; argv: the place, the base, the format.
KILLED = """
import os, pathlib, signal, sys
from crawlers.graphs.export import write_graph

place, base, format_ = sys.argv[1:]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

class Killed:
    name = description = ""
    columns = ()

    def edges(self):
        for source in range(20_000):
            if place == "edges" and source == 15_000:
                die()
            yield source, [(source, 1)]

    def nodes(self):
        for number in range(20_000):
            if place == "nodes" and number == 15_000:
                die()
            yield number, "http://a.test/"

if place == "replace":
    pathlib.Path.replace = lambda *_: die()
write_graph(Killed(), pathlib.Path(base), format_)
"""


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("place", ["edges", "nodes", "replace"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_killed_writer_leaves_the_old_file_and_the_next_one_removes_leftovers(name, place, tmp_path):
    base = tmp_path / "a.test"
    write_graph(GRAPH, base, name)
    old = contents(tmp_path)
    command = [sys.executable, "-c", KILLED, place, base, name]
    child = subprocess.run(command, check=False, env={"PYTHONPATH": ":".join(sys.path)})
    assert child.returncode == -signal.SIGKILL
    after = contents(tmp_path)
    assert len(after) > len(old)  # otherwise this test proves nothing
    assert {file: after[file] for file in old} == old
    write_graph(GRAPH, base, name)
    assert contents(tmp_path) == old


def test_permissions_of_the_file_follow_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_graph(GRAPH, tmp_path / "a")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.gexf").stat().st_mode) == 0o640


def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "a.gexf").symlink_to(tmp_path / "elsewhere.gexf")
    write_graph(GRAPH, tmp_path / "a")
    assert (tmp_path / "a.gexf").is_symlink()
    assert (tmp_path / "elsewhere.gexf").stat().st_size > 0


def test_an_unknown_format_lists_the_known_ones(tmp_path):
    with pytest.raises(ConfigError, match=r"'svg'; choose one of: gexf, graphml, csv"):
        write_graph(GRAPH, tmp_path / "a", "svg")


def test_a_target_that_is_a_folder_is_refused(tmp_path):
    (tmp_path / "a.gexf").mkdir()
    with pytest.raises(ConfigError, match="is not a file"):
        write_graph(GRAPH, tmp_path / "a")


def test_a_full_disk_is_a_clear_error_and_leaves_nothing(tmp_path):
    class FullDisk(MemoryGraph):
        def edges(self):
            yield 1, [(1, 1)]
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(StoreError, match=r"a\.gexf: not written \(No space left"):
        write_graph(FullDisk([], []), tmp_path / "a")
    assert contents(tmp_path) == {}
