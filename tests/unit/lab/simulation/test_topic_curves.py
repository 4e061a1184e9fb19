"""Curves of a topic crawl equal their definitions at every point."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.lab.simulation.topic_comparison import coverage_curve, similarity_curve, top


@given(st.lists(st.floats(0, 1), max_size=30))
def test_similarity_at_a_point_is_the_mean_so_far(similarities):
    curve = similarity_curve(similarities, range(-1, 40))
    assert [point for point, _ in curve] == list(range(1, len(similarities) + 1))
    for point, mean in curve:
        assert mean == pytest.approx(sum(similarities[:point]) / point)


@given(st.lists(st.integers(0, 9), max_size=30), st.sets(st.integers(0, 9)))
def test_coverage_at_a_point_is_the_share_found_so_far(pages, important):
    curve = coverage_curve(pages, important, range(-1, 40))
    assert [point for point, _ in curve] == list(range(1, len(pages) + 1))
    for point, share in curve:
        assert share == (len(set(pages[:point]) & important) / len(important) if important else 0.0)


def test_top_pages_are_sorted_by_value_and_then_by_number():
    scores = {"d": 0.5, "c": 0.5, "a": 0.1, "b": 0.9, "e": 0.0}
    assert top(scores, 2) == ["b", "c"]
    assert top(scores, 10) == ["b", "c", "d", "a"], "a score of 0 is no importance"
    assert top({}, 3) == []
