"""Tests of the measures, compared with networkx and between runs."""

import random
import subprocess
import sys

import pytest

from crawlers.errors import ConfigError
from crawlers.graphs.analysis import analyse
from crawlers.graphs.model import MEASURES, Column, MemoryGraph


def random_graph(nodes=60, links=4, seed=1):
    rng = random.Random(seed)
    edges = [(source, sorted(rng.sample(range(1, nodes + 1), links))) for source in range(1, nodes - 3)]
    return MemoryGraph(
        [(number, f"http://a.test/{number}") for number in range(1, nodes + 2)],  # the last has no links
        [(source, [(target, rng.randrange(1, 9)) for target in targets]) for source, targets in edges],
        (),
    )


def values(graph, name):
    ((column, value_of),) = analyse(graph, [name]).items()
    assert column == Column(name, "double")
    return {row[0]: value_of(row[0]) for row in graph.nodes()}


# Two equally strong pairs that link to each other, and one separate page.
PAIRS = MemoryGraph(
    [(number, str(number)) for number in range(1, 6)],
    [(1, [(2, 9)]), (2, [(1, 1)]), (3, [(4, 1)]), (4, [(3, 1)])],
    (),
)


def test_equally_strong_communities_are_equally_good_hubs():
    assert values(PAIRS, "hub") == values(PAIRS, "authority") == {1: 0.25, 2: 0.25, 3: 0.25, 4: 0.25, 5: 0.0}


@pytest.mark.parametrize("rows", [[], [(1, "a"), (2, "b")]], ids=["empty", "without edges"])
def test_graphs_without_edges_have_values_too(rows):
    columns = analyse(MemoryGraph(rows, [], ()), MEASURES).values()
    found = {number: tuple(value_of(number) for value_of in columns) for number, _ in rows}
    assert found == {number: (0, 0, number, 1, 0.5, 0.0, 0.0) for number, _ in rows}


SCRIPT = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
from test_analysis import PAIRS, random_graph
from crawlers.graphs.analysis import analyse
from crawlers.graphs.model import MEASURES
from crawlers.graphs.export import write_graph
from crawlers.graphs.model import ExtendedGraph
for name, graph in (("pairs", PAIRS), ("random", random_graph(500, 7))):
    write_graph(ExtendedGraph(graph, analyse(graph, MEASURES)), pathlib.Path(sys.argv[2]) / name)
"""


def test_two_runs_give_identical_bytes(tmp_path, request):
    for run in ("1", "2"):
        command = [sys.executable, "-c", SCRIPT, request.path.parent, tmp_path / run]
        subprocess.run(command, check=True, env={"PYTHONHASHSEED": run, "PYTHONPATH": ":".join(sys.path)})
    for name in ("pairs.gexf", "random.gexf"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_a_graph_above_the_limit_is_refused_before_the_rest_is_read(monkeypatch):
    class Endless(MemoryGraph):
        def edges(self):
            source = 0
            while True:
                source += 1
                yield source, [(1, 1), (2, 1)]

    monkeypatch.setattr("crawlers.graphs.analysis.MAX_EDGES", 11)
    with pytest.raises(ConfigError, match=r"a\.test: more than 11 edges.*; export without measures"):
        analyse(Endless([], [], (), name="a.test"), ["hub"])


def test_an_unknown_measure_lists_the_known_ones():
    with pytest.raises(ConfigError, match="unknown measure 'beauty'; choose from in_degree, out_degree"):
        analyse(PAIRS, ["beauty"])
