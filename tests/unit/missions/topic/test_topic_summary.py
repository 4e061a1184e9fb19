"""The summary of a topic crawl."""

import pytest

from tests.support.missions.topic.topic_store import add_page, begin_topic
from tests.support.summaries import ended


@pytest.mark.both_stores
def test_topic_has_its_most_relevant_pages(database):
    crawl_id, (a, _b) = begin_topic(database, "mine", unicod=1.0)
    for number, similarity in enumerate((0.25, 1.0, 0.5, 0.75), 1):
        add_page(database, number, a, f"http://a.test/{number}", {}, similarity)
    lines = ended(database, crawl_id, "page_budget")
    assert [line for line in lines if line.startswith("Most relevant")] == [
        "Most relevant: 1.000 http://a.test/2",
        "Most relevant: 0.750 http://a.test/4",
        "Most relevant: 0.500 http://a.test/3",
    ]
