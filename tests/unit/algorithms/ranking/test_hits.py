"""HITS against networkx, and what counts as a link."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.ranking.hits import MAX_STEPS, hits

graphs = st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=6), max_size=10)


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_networkx(seed):
    graph = nx.DiGraph(nx.scale_free_graph(300, seed=seed))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    scores = hits({page: list(graph[page]) for page in graph})
    hubs, authorities = nx.hits(graph, max_iter=1000, tol=1e-12)
    assert scores.steps < MAX_STEPS
    for ours, theirs in ((scores.hubs, hubs), (scores.authorities, authorities)):
        total = sum(ours.values())
        assert sum(value**2 for value in ours.values()) == pytest.approx(1.0)
        assert all(value / total == pytest.approx(theirs[page], abs=1e-7) for page, value in ours.items())


def test_scores_of_a_small_graph_are_those_computed_by_hand():
    scores = hits({1: [3, 4], 2: [3]})  # A A^T = [[2, 1], [1, 1]]
    golden = (1 + 5**0.5) / 2
    assert scores.hubs[1] / scores.hubs[2] == pytest.approx(golden)
    assert scores.authorities[3] / scores.authorities[4] == pytest.approx(golden)
    assert scores.authorities[1] == scores.hubs[3] == 0.0


def test_steps_are_counted_up_to_the_first_without_a_change():
    assert hits({1: [2]}).steps == 2


@given(graphs)
def test_links_of_a_page_to_itself_and_parallel_links_do_not_count(links):
    tidy = {source: sorted(set(targets) - {source}) for source, targets in links.items()}
    ours, theirs = hits(links), hits(tidy)
    assert set(ours.authorities) == set(ours.hubs) == {page for source in links for page in (source, *links[source])}
    for page, value in theirs.authorities.items():
        assert ours.authorities[page] == pytest.approx(value, abs=1e-6)


@given(graphs)
def test_scores_are_shares_and_steps_are_bounded(links):
    scores = hits(links)
    assert scores.steps <= MAX_STEPS
    assert all(0.0 <= value <= 1.0 + 1e-12 for part in scores[:2] for value in part.values())


def test_iteration_ends_after_a_thousand_steps_if_two_communities_are_almost_equally_strong():
    links = {community: [f"{community}{number}" for number in range(200 + community)] for community in (0, 1)}
    scores = hits(links)
    assert scores.steps == MAX_STEPS == 1000
    assert scores.hubs[1] > 100 * scores.hubs[0]
