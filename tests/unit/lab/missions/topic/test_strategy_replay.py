"""Replays on small webs read what can be reached; those of stored crawls are compared with real runs."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlers.missions.topic.strategy_replay import (
    FetchOutcome,
    Replay,
    StoredLink,
    compare,
    coverage_curve,
    similarity_curve,
    top,
)
from crawlers.missions.topic.topic_scores import LinkRelevance, TopicScores
from crawlers.missions.topic.vectors import STRATEGIES, Topic


@dataclass
class Web:
    """Pages with their sites; those without links to others were never read."""

    sites: dict[int, int]
    targets: dict[int, dict[int, float]]
    roots: list[int]

    def site(self, page):
        return self.sites.get(page)

    def outcome(self, page):
        return FetchOutcome(True) if page in self.targets else None

    def links(self, page):
        return {to: StoredLink(value, f"http://h/{to}", "") for to, value in self.targets[page].items()}

    def similarity(self, page):
        return page / 100


def read(web, strategy, most=100):
    return Replay(web, LinkRelevance(TopicScores(STRATEGIES[strategy]))).run(most)


webs = st.integers(2, 12).flatmap(
    lambda size: st.builds(
        Web,
        st.fixed_dictionaries({page: st.integers(1, 3) for page in range(1, size + 1)}),
        st.dictionaries(
            st.integers(1, size),
            st.dictionaries(st.integers(1, size), st.sampled_from([0.0, 0.3, 0.3, 0.8]), max_size=5),
        ),
        st.just([1]),
    )
)


@given(webs, st.sampled_from(list(STRATEGIES)))
def test_every_reachable_page_is_read_once_or_skipped(web, strategy):
    found, unknown = read(web, strategy)
    reached, ways = {1}, [1]
    while ways:
        new = set(web.targets.get(ways.pop(), ())) - reached
        reached |= new
        ways += new
    assert sorted(found) == sorted(reached & set(web.targets))
    assert unknown == len(reached - set(web.targets))


@given(webs)
def test_breadth_reads_level_by_level(web):
    levels, ways = {1: 0}, [1]
    for page in ways:  # which grows: the nearest pages first
        for target in web.targets.get(page, ()):
            if target not in levels:
                levels[target] = levels[page] + 1
                ways.append(target)
    order = [levels[page] for page in read(web, "breadth").read]
    assert order == sorted(order)


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
