"""Forward push agrees with networkx, bounds its error, and follows changing links."""

from __future__ import annotations

import random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.algorithms.ranking.push_pagerank import ForwardPushPageRank
from tests.support.scale_free import copy_model, rewired
from tests.support.scored_webs import estimate, exact, l1

Web = dict[int, list[int]]

webs = st.lists(st.lists(st.integers(1, 7), max_size=5), min_size=7, max_size=7).map(
    lambda rows: dict(enumerate(rows, 1))
)


def told(web: Web) -> ForwardPushPageRank:
    push = ForwardPushPageRank()
    for page, targets in web.items():
        push.set_links(page, targets)
    return push


def of_networkx(web: Web) -> dict[int, float]:
    graph = nx.DiGraph()
    graph.add_nodes_from(web)
    graph.add_edges_from((page, target) for page, targets in web.items() for target in targets if target != page)
    return nx.pagerank(graph, alpha=0.85, tol=1e-13, max_iter=1000)


def apart(push: ForwardPushPageRank, truth: dict[int, float]) -> float:
    return sum(abs(push.rank(page) - rank) for page, rank in truth.items())


@given(webs)
def test_result_is_pagerank_with_sinks_linked_to_all_pages(web: Web) -> None:
    push = told(web)
    assert push.push(100_000) < 100_000
    assert push.push(1) == 0
    assert apart(push, of_networkx(web)) < 1e-9


@given(webs, webs, st.integers(0, 30), st.integers(0, 30))
def test_error_stays_within_its_bound(web: Web, later: Web, before: int, after: int) -> None:
    push = told(web)
    push.push(before)
    assert apart(push, of_networkx(web)) <= push.residual_l1() + 1e-9
    for page, targets in later.items():
        push.set_links(page, targets)
    push.push(after)
    assert apart(push, of_networkx(later)) <= push.residual_l1() + 1e-9


@given(webs, webs, st.integers(0, 50))
def test_changed_links_leave_no_trace(web: Web, later: Web, pushes: int) -> None:
    push = told(web)
    push.push(pushes)
    for page, targets in later.items():
        push.set_links(page, targets)
    push.push(100_000)
    assert apart(push, of_networkx(later)) < 1e-9


def test_page_with_the_largest_residual_is_pushed_first() -> None:
    push = told({1: [4], 2: [4], 3: [4]})
    assert push.residual_l1() == 2.0
    push.push(1)
    assert [push.rank(page) for page in (1, 2, 3, 4)] == [1.0, 0.0, 0.0, 0.0]
    push.push(1)
    assert [push.rank(page) for page in (1, 2, 3, 4)] == pytest.approx([1 / 2.85, 0.0, 0.0, 1.85 / 2.85])


def test_five_pushes_per_page_suffice() -> None:
    rng = random.Random(1)
    web = copy_model(2000, rng)
    push = told(web)
    push.push(10_000)
    assert l1(estimate(push.rank, 2000), exact(web)) <= 0.015
    changed = rewired(web, 0.2, rng)
    for page, targets in changed.items():
        push.set_links(page, targets)
    push.push(2000)
    assert l1(estimate(push.rank, 2000), exact(changed)) == pytest.approx(0.0, abs=0.03)
