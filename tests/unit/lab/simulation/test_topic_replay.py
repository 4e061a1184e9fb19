"""Replays on small webs: the best page comes first, and unread pages do not affect the others."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crawlers.algorithms.ranking.link_features import WIDTH
from crawlers.algorithms.ranking.link_relevance import LinkRelevance
from crawlers.algorithms.ranking.topic_scores import TopicScores
from crawlers.algorithms.topic.vectors import STRATEGIES
from crawlers.lab.simulation.topic_replay import FetchOutcome, replay

READ = FetchOutcome(True)


@dataclass
class Web:
    """Return pages with their sites; those without a response were never read."""

    sites: dict[int, int]
    targets: dict[int, dict[int, float]]
    roots: list[int]
    answers: dict[int, FetchOutcome] = field(default_factory=dict)

    def site(self, page):
        return self.sites.get(page)

    def outcome(self, page):
        return self.answers.get(page, READ if page in self.targets else None)

    def links(self, page):
        return self.targets[page]

    def similarity(self, page):
        return page / 100

    def features(self, page, target, level):
        return np.full(WIDTH, page, np.uint32)


def read(web, strategy, most=100):
    return replay(web, LinkRelevance(TopicScores(STRATEGIES[strategy])), most)


def one_site(targets, roots=(1,), **answers):
    pages = {*targets, *(page for links in targets.values() for page in links), *answers.get("answers", ())}
    return Web(dict.fromkeys(pages, 1), targets, list(roots), **answers)


def test_link_with_the_highest_score_is_followed_first():
    web = one_site({1: {2: 0.1, 3: 0.9, 4: 0.5}, 2: {}, 3: {5: 0.7}, 4: {}, 5: {}})
    assert read(web, "anchor") == ([1, 3, 5, 4, 2], 0)
    assert read(web, "breadth") == ([1, 2, 3, 4, 5], 0)
    assert read(web, "anchor", 2) == ([1, 3], 0)


def test_ties_go_to_the_site_with_the_fewest_pages_read():
    sites = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3}
    web = Web(sites, {1: {2: 0, 3: 0, 4: 0, 5: 0, 6: 0}, **{page: {} for page in range(2, 7)}}, [1])
    assert read(web, "anchor").read == [1, 4, 6, 2, 5, 3]


def test_forbidden_page_does_not_count_as_a_turn_of_its_site():
    sites = {1: 1, 2: 2, 3: 2, 4: 3}
    targets = {1: {2: 1.0, 3: 0, 4: 0}, 3: {}, 4: {}}
    assert read(Web(sites, targets, [1], {2: FetchOutcome(False, was_requested=False)}), "anchor").read == [1, 3, 4]
    assert read(Web(sites, targets, [1], {2: FetchOutcome(False)}), "anchor").read == [1, 4, 3]


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


@settings(deadline=None, derandomize=True)
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


@settings(deadline=None, derandomize=True)
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
