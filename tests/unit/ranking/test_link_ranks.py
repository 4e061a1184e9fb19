"""PageRank and HITS against networkx, and where the iteration ends."""

import networkx as nx
import numpy as np
import pytest

from crawlers.ranking import link_ranks
from crawlers.ranking.link_ranks import hits, pagerank


def matrix(graph):
    return nx.to_scipy_sparse_array(graph, weight=None, dtype=float, format="csr")


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_networkx(seed):
    graph = nx.DiGraph(nx.scale_free_graph(300, seed=seed))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    found, (hubs, authorities) = hits(matrix(graph)), nx.hits(graph, max_iter=1000, tol=1e-12)
    for ours, theirs in ((found.hubs, hubs), (found.authorities, authorities)):
        assert np.linalg.norm(ours) == pytest.approx(1.0)
        assert ours / ours.sum() == pytest.approx(list(theirs.values()), abs=1e-7)
    ranks, error = pagerank(matrix(graph), 0.85, 1e-9)
    truth = nx.pagerank(graph, alpha=0.85, tol=1e-14, max_iter=1000)
    assert np.abs(ranks - list(truth.values())).sum() <= error <= 1e-9


def test_hits_of_a_small_graph_are_those_computed_by_hand():
    found = hits(matrix(nx.DiGraph([(1, 3), (1, 4), (2, 3)])))  # A A^T = [[2, 1], [1, 1]] of the nodes 1 and 2
    golden = (1 + 5**0.5) / 2
    assert found.hubs[0] / found.hubs[3] == pytest.approx(golden)
    assert found.authorities[1] / found.authorities[2] == pytest.approx(golden)
    assert found.authorities[0] == found.hubs[1] == 0.0


def test_nodes_without_links_have_no_scores_and_equal_ranks():
    empty = matrix(nx.empty_graph(4, nx.DiGraph))
    assert not np.any(hits(empty))
    assert pagerank(empty, 0.85, 1e-9).ranks.tolist() == [0.25] * 4


def test_iteration_ends_after_a_thousand_steps_if_two_communities_are_almost_equally_strong():
    graph = nx.DiGraph((-community, 1000 * community + n) for community in (1, 2) for n in range(199 + community))
    hubs = dict(zip(graph, hits(matrix(graph)).hubs, strict=True))
    assert hubs[-2] > 100 * hubs[-1]


def test_bound_says_that_steps_were_too_few(monkeypatch):
    graph = matrix(nx.DiGraph([(0, 1), (1, 0), (2, 0)]))
    monkeypatch.setattr(link_ranks, "MAX_STEPS", 3)
    assert pagerank(graph, 0.99, 1e-9).error_bound > 1e-9
