"""Tests of the measures, compared with networkx and between runs."""

from __future__ import annotations

import random
import subprocess
import sys

import networkx as nx
import pytest
from scipy.stats import kendalltau
from sqlalchemy import text

from crawlers.errors import ConfigError
from crawlers.graphs.analysis import DIGITS, ENOUGH, StoredPageRank, analyse
from crawlers.graphs.crawl_map import MemoryGraph
from crawlers.graphs.model import MEASURES, Column
from crawlers.items import State
from crawlers.reports.catalogue.score_reports import best_pages
from tests.support.scale_free import copy_model
from tests.support.scored_store import A, B, Linked, store
from tests.support.stored_rows import execute


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


NEAR = 10.0 ** (1 - DIGITS)


def expected(edges, pages, damping=0.85):
    graph = nx.DiGraph()
    graph.add_nodes_from(pages)
    graph.add_edges_from((source, target) for source, target in edges if source != target)
    return nx.pagerank(graph, alpha=damping, tol=1e-14, max_iter=1000)


def top(database, crawl, number=99, damping=0.85, sites=()):
    return {
        url: rank for rank, _, url, *_ in listed(database, StoredPageRank(database, crawl.id, damping), number, sites)
    }


def listed(database, ranks, number, sites=()):
    with database.read() as connection:
        return list(best_pages(connection, None, ranks.best(connection, number, sites), number))


@pytest.mark.both_stores
@pytest.mark.parametrize("damping", [0.85, 0.5])
def test_crawl_of_any_mission_has_the_ranks_of_networkx(database, damping):
    web = copy_model(80, random.Random(3))
    name = {page: f"{(A, B)[page % 2]}/{page}" for page in web}
    pages = [Linked(name[page], tuple(name[target] for target in targets)) for page, targets in web.items()]
    store(database, pages, name="another")
    crawl = store(database, pages, order="bfs", mission="sitegraph")
    ranks = StoredPageRank(database, crawl.id, damping)
    assert len(ranks) == 80
    assert ranks.error_bound < ENOUGH
    truth = expected(((name[a], name[b]) for a, targets in web.items() for b in targets), name.values(), damping)
    first = listed(database, ranks, 20)
    true = [truth[page[2]] for page in first]
    assert [page[0] for page in first] == pytest.approx(true, rel=NEAR)
    assert kendalltau(true, sorted(truth.values(), reverse=True)[:20]).statistic == pytest.approx(1.0)
    assert {page[1] for page in first} == {None}
    assert sum(top(database, crawl, damping=damping).values()) == pytest.approx(1.0, abs=80 * NEAR)


@pytest.mark.both_stores
def test_redirects_are_followed_and_self_links_ignored(database):
    pages = [
        Linked(f"{A}/", (f"{A}/moved", f"{A}/x", f"{A}/moved", f"{A}/circle")),
        Linked(f"{A}/x", (f"{A}/x", f"{A}/", f"{A}/back")),
        Linked(f"{B}/", (f"{A}/", f"{A}/x")),
        Linked(f"{A}/moved", moved_to=f"{A}/further"),
        Linked(f"{A}/further", moved_to=f"{B}/"),
        Linked(f"{A}/back", moved_to=f"{A}/x"),
        Linked(f"{A}/circle", moved_to=f"{A}/again"),
        Linked(f"{A}/again", moved_to=f"{A}/circle"),
    ]
    crawl = store(database, pages)
    home, x, other = (one.url for one in pages[:3])
    edges = [(home, other), (home, x), (x, home), (other, home), (other, x)]
    assert top(database, crawl) == pytest.approx(expected(edges, (home, x, other)), rel=NEAR)


def test_waiting_pages_have_a_rank_but_are_not_listed_and_rejected_ones_have_none(database):
    pages = [
        Linked(f"{A}/", (f"{A}/wait", f"{A}/away", f"{A}/x")),
        Linked(f"{A}/x", (f"{A}/",)),
        Linked(f"{A}/wait"),
        Linked(f"{A}/away"),
    ]
    crawl = store(database, pages)
    execute(database, text(f"UPDATE page SET state = {int(State.REJECTED)} WHERE id = {crawl.pages[f'{A}/away']}"))
    home, x, wait = (one.url for one in pages[:3])
    truth = expected([(home, wait), (home, x), (x, home)], (home, x, wait))
    assert top(database, crawl) == pytest.approx({home: truth[home], x: truth[x]}, rel=NEAR)


def test_list_can_be_limited_to_sites_while_ranks_are_those_of_the_crawl(database):
    pages = [Linked(f"{A}/", (f"{B}/",)), Linked(f"{B}/", (f"{A}/", f"{A}/x")), Linked(f"{A}/x", ())]
    crawl = store(database, pages)
    everywhere = top(database, crawl)
    assert top(database, crawl, sites=[crawl.sites[B]]) == {f"{B}/": everywhere[f"{B}/"]}


def test_steps_are_limited_if_the_bound_can_not_be_reached(database, monkeypatch):
    monkeypatch.setattr("crawlers.ranking.link_ranks.MAX_STEPS", 3)
    ring = [Linked(f"{A}/{page}", (f"{A}/{(page + 1) % 5}",)) for page in range(5)]
    ranks = StoredPageRank(database, store(database, [*ring, Linked(f"{A}/in", (f"{A}/0",))]).id, 0.999)
    assert ranks.error_bound > ENOUGH
    assert len(listed(database, ranks, 9)) == 6
