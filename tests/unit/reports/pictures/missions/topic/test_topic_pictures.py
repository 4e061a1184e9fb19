"""Curves of topic crawls, with figures worked out by hand."""

import pytest

from crawlers.missions.topic.topic_pictures import Similarity
from crawlers.missions.topic.topic_tables import RelevanceRow
from tests.support.missions.topic.topic_store import add_page, begin_topic
from tests.support.stored_rows import write_rows

READ = [(3.0, 0.25, 1.5), (1.0, 0.75, 0.0), (2.0, 0.5, 0.5)]  # when, similarity, ln TimelyRank


@pytest.fixture
def crawl_id(database):
    crawl_id, (site, other) = begin_topic(database, unicode=1.0)
    for number, (at, similarity, rank) in enumerate(READ, 1):
        place = (site, other)[number % 2]
        add_page(database, number, place, f"http://a.test/{number}", {"unicode": 1}, similarity, fetched_at=at)
        write_rows(database, RelevanceRow(number, place, -1, 0.0, 0.0, 1, rank))
    add_page(database, 9, site, "http://a.test/waiting", state=0, fetched_at=None)
    return crawl_id


def test_similarity_is_averaged_in_the_order_of_reading(draw, curves, crawl_id):
    assert draw(Similarity(), crawl_id).points == (1, 2, 3)
    assert curves(Similarity(), crawl_id) == {
        "mean of all pages so far": [0.75, 0.625, 0.5],
        "mean of the latest pages": [0.75, 0.5, 0.25],
    }
