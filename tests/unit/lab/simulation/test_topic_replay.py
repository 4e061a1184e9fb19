"""Replays on small webs read what can be reached; those of stored crawls are compared with real runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlers.lab.simulation.topic_replay import FetchOutcome, replay
from crawlers.missions.topic.topic_scores import LinkRelevance, TopicScores
from crawlers.missions.topic.vectors import STRATEGIES
from crawlers.ranking.link_features import WIDTH


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
        return self.targets[page]

    def similarity(self, page):
        return page / 100

    def features(self, page, target, level):
        return np.full(WIDTH, page, np.uint32)


def read(web, strategy, most=100):
    return replay(web, LinkRelevance(TopicScores(STRATEGIES[strategy])), most)


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
