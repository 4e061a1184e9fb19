"""Positions are a function of the edges, and show which nodes belong together."""

import math
import random

import numpy as np
import pytest

from crawlers.graphs.graph_layout import SMALL, communities, force_layout, link_strengths

GROUP = 12
# Groups whose nodes link to each other, and a home page (0) to which all nodes link.


def edges_of(groups):
    inner = [
        (first + one, first + other)
        for first in range(1, groups * GROUP, GROUP)
        for one in range(GROUP)
        for other in ((one + 1) % GROUP, (one + 3) % GROUP)
    ]
    return np.array(inner + [(node, 0) for node in range(1, groups * GROUP + 1)])


EDGES = edges_of(2)
NODES = 2 * GROUP + 1
NONE = np.empty((0, 2), dtype=np.int64)
MANY = 20  # groups: so many nodes that a coarser graph is placed before
assert MANY * GROUP > 2 * SMALL


@pytest.mark.parametrize("groups", [2, MANY])
def test_equal_edges_give_equal_finite_positions_around_the_middle(groups):
    edges, nodes = edges_of(groups), groups * GROUP + 1
    places = force_layout(nodes, edges)
    assert places == force_layout(nodes, edges)
    assert len(set(places)) == nodes
    assert all(math.isfinite(x) and math.isfinite(y) for x, y in places)
    assert abs(sum(x for x, _ in places)) < nodes


@pytest.mark.parametrize("groups", [2, MANY])
def test_nodes_of_a_group_are_nearer_to_each_other_than_to_those_of_other_groups(groups):
    places = force_layout(groups * GROUP + 1, edges_of(groups))[1:]
    of_groups = [places[start : start + GROUP] for start in range(0, len(places), GROUP)]
    middles = [tuple(sum(axis) / GROUP for axis in zip(*group, strict=True)) for group in of_groups]
    for number, group in enumerate(of_groups):
        for place in group:
            assert min(range(groups), key=lambda other: math.dist(place, middles[other])) == number


def test_no_node_is_far_from_all_others():
    rng = random.Random(1)
    nodes = 30 * SMALL
    tree = [(rng.randrange(node), node) for node in range(1, nodes // 2)]  # the other half has no links
    places = force_layout(nodes, np.array(tree))
    distances = sorted(math.hypot(*place) for place in places)
    assert distances[-1] < 4 * distances[len(distances) // 2]


def test_communities_are_the_groups_numbered_from_the_largest():
    found = communities(NODES + 1, EDGES)
    assert found == communities(NODES + 1, EDGES)
    assert len(set(found[1 : 1 + GROUP])) == len(set(found[1 + GROUP : NODES])) == 1
    assert found[1] != found[1 + GROUP]
    assert found[NODES] == max(found) == 3  # a node without links is a community of its own


@pytest.mark.parametrize(("nodes", "places"), [(0, []), (1, [(0.0, 0.0)])])
def test_tiny_graphs_have_a_layout(nodes, places):
    assert force_layout(nodes, NONE) == places
    assert len(set(force_layout(5, NONE))) == 5
    assert len(set(force_layout(5 * SMALL, NONE))) == 5 * SMALL
    assert communities(nodes, NONE) == [1] * nodes


def test_a_link_to_a_page_to_which_all_link_attracts_little():
    assert link_strengths(np.array([(0, 1), (2, 1), (0, 2)]), 3).tolist() == [0.5, 0.5, 1.0]
