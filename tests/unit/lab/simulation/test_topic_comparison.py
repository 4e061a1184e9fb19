"""Crawls are compared on one collection: the pages that any of them read."""

from math import log, sqrt

import pytest

from crawlers.lab.simulation.topic_comparison import compare
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
