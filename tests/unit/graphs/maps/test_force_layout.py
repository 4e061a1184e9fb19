"""Positions are a function of the edges, and show which nodes belong together."""

import math

import pytest

from crawlers.graphs.maps.communities import communities
from crawlers.graphs.maps.force_layout import force_layout, link_strengths

GROUP = 12
# Two groups whose nodes link to each other, and a home page (0) to which all nodes link.
EDGES = [
    (first + one, first + other)
    for first in (1, 1 + GROUP)
    for one in range(GROUP)
    for other in ((one + 1) % GROUP, (one + 3) % GROUP)
] + [(node, 0) for node in range(1, 2 * GROUP + 1)]
NODES = 2 * GROUP + 1


def test_equal_edges_give_equal_finite_positions_around_the_middle():
    places = force_layout(NODES, EDGES)
    assert places == force_layout(NODES, EDGES)
    assert len(set(places)) == NODES
    assert all(math.isfinite(x) and math.isfinite(y) for x, y in places)
    assert abs(sum(x for x, _ in places)) < NODES


def test_nodes_of_a_group_are_nearer_to_each_other_than_to_those_of_the_other_group():
    places = force_layout(NODES, EDGES)
    first, second = (places[start : start + GROUP] for start in (1, 1 + GROUP))
    middles = [tuple(sum(axis) / GROUP for axis in zip(*group, strict=True)) for group in (first, second)]
    for own, other, group in ((0, 1, first), (1, 0, second)):
        assert all(math.dist(place, middles[own]) < math.dist(place, middles[other]) for place in group)


def test_communities_are_the_groups_numbered_from_the_largest():
    found = communities(NODES + 1, EDGES)
    assert found == communities(NODES + 1, EDGES)
    assert len(set(found[1 : 1 + GROUP])) == len(set(found[1 + GROUP : NODES])) == 1
    assert found[1] != found[1 + GROUP]
    assert found[NODES] == max(found) == 3  # a node without links is a community of its own


@pytest.mark.parametrize(("nodes", "places"), [(0, []), (1, [(0.0, 0.0)])])
def test_tiny_graphs_have_a_layout(nodes, places):
    assert force_layout(nodes, []) == places
    assert len(force_layout(5, [])) == 5
    assert communities(nodes, []) == [1] * nodes


def test_a_link_to_a_page_to_which_all_link_attracts_little():
    assert link_strengths([(0, 1), (2, 1), (0, 2)], 3).tolist() == [0.5, 0.5, 1.0]
