"""Crawls are compared on one collection: the pages that any of them read.

Curves of a topic crawl equal their definitions at every point.
"""

from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.lab.simulation.topic_comparison import compare, coverage_curve, similarity_curve, top
from crawlers.missions.topic.vectors import Topic

DOCUMENTS = {1: {"unicod": 1, "font": 1}, 2: {"unicod": 2}, 3: {"font": 1}, 4: {"unicod": 9}}
LINKS = [(1, 2), (3, 2), (3, 1), (2, 4), (1, 4), (3, 4)]
READ = {"first": [1, 2], "second": [3, 2]}


def compared(important=1):
    return compare(Topic({"unicod": 1.0}), READ, lambda: iter(DOCUMENTS.items()), LINKS, important)


def test_similarities_use_the_terms_of_all_pages_read():
    rare = 1 + log(3 / 2)  # both terms are on two of three pages; the unread page does not count
    assert compared().similarities == pytest.approx({1: rare / sqrt(2 * rare**2), 2: 1.0, 3: 0.0})


def test_authorities_and_hubs_are_those_of_the_links_between_pages_read():
    comparison = compared()
    assert (comparison.authorities, comparison.hubs, comparison.nearest) == ([2], [3], [2])


def test_curves_show_the_results_of_each_crawl_by_number_of_pages():
    first, second = compared().curves([1, 2, 9]).values()
    assert dict(first.similarity) == pytest.approx({1: 1 / sqrt(2), 2: (1 + 1 / sqrt(2)) / 2})
    assert (first.authorities, first.hubs) == ([(1, 0.0), (2, 1.0)], [(1, 0.0), (2, 0.0)])
    assert second.similarity == [(1, 0.0), (2, 0.5)]
    assert (second.hubs, second.nearest) == ([(1, 1.0), (2, 1.0)], [(1, 0.0), (2, 1.0)])


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
