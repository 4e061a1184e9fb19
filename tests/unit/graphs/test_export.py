"""Graphs have the importance of pages if the crawl computed it, and on request when they were seen.

Tests of the files: names, kills, errors, two writers at a time.
"""

import errno
import os
import signal
import stat
import subprocess
import sys

import networkx
import pytest
from sqlalchemy import update

from crawlers.errors import ConfigError, StoreError
from crawlers.graphs.crawl_map import MemoryGraph
from crawlers.graphs.export import FORMATS, ResultFiles, write_graph
from crawlers.graphs.model import Column
from crawlers.reports.site_results import write_site_results
from crawlers.store.reading.queries import crawl_numbered, sites_of
from crawlers.store.schema.tables import page
from tests.support.scored_store import A, B, Linked, store
from tests.support.stored_rows import execute

PAGES = [
    Linked(f"{A}/", (f"{B}/", f"{A}/1", f"{A}/2", f"{A}/new")),
    Linked(f"{A}/1", (f"{A}/",), body="same"),
    Linked(f"{A}/2", (f"{A}/",), body="same"),
    Linked(f"{B}/", (f"{A}/",)),
    Linked(f"{A}/new"),
]


def written(database, folder, crawl_id, measures=()):
    wanted = ResultFiles(["gexf", "graphml", "csv"], measures, None, ())
    crawl = crawl_numbered(database, crawl_id)
    list(write_site_results(database, crawl, sites_of(database, crawl_id), folder, wanted))
    return networkx.read_gexf(folder / "a.test.gexf")


@pytest.mark.both_stores
def test_duplicates_share_the_sum_of_their_importance(database, tmp_path):
    crawl = store(database, PAGES)
    graph = written(database, tmp_path, crawl.id)
    found = {node["label"]: node["importance"] for _, node in graph.nodes(data=True)}
    importance = {url: crawl.share(url) for url in crawl.pages}
    expected = {f"{A}/": importance[f"{A}/"], f"{A}/1": importance[f"{A}/1"] + importance[f"{A}/2"]}
    assert found == pytest.approx(expected, abs=1e-12)
    in_graphml = networkx.read_graphml(tmp_path / "a.test.graphml")
    assert {node["label"]: node["importance"] for _, node in in_graphml.nodes(data=True)} == found
    head, first, *_ = (tmp_path / "a.test.nodes.csv").read_text().splitlines()
    assert head.endswith(",duplicates,importance")
    assert first.endswith(f",{found[f'{A}/']}")


def test_measures_follow_the_importance_column(database, tmp_path):
    crawl = store(database, PAGES)
    written(database, tmp_path, crawl.id, ["pagerank"])
    assert (tmp_path / "a.test.nodes.csv").read_text().splitlines()[0].endswith(",importance,pagerank")


def test_node_was_first_and_last_seen_at_the_times_of_its_pages_which_are_written_on_request(database, tmp_path):
    crawl = store(database, PAGES)
    for path, (found_at, fetched_at) in {"/": (0, 60), "/1": (120, 180), "/2": (90, 3600)}.items():
        times = {"found_at": found_at, "fetched_at": fetched_at}
        execute(database, update(page).where(page.c.url == A + path).values(times))
    nodes = written(database, tmp_path, crawl.id, ["last_seen", "pagerank", "first_seen"]).nodes.values()
    assert {of["label"]: (of["first_seen"], of["last_seen"]) for of in nodes} == {
        f"{A}/": ("1970-01-01T00:00:00Z", "1970-01-01T00:01:00Z"),
        f"{A}/1": ("1970-01-01T00:01:30Z", "1970-01-01T01:00:00Z"),  # of both duplicates
    }
    assert all("pagerank" in of for of in nodes)
    nodes = written(database, tmp_path, crawl.id).nodes.values()
    assert not any({"first_seen", "last_seen"} & of.keys() for of in nodes)


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
