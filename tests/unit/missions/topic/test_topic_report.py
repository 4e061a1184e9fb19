"""The table of the pages of a topic, and the summary of its crawl."""

import pytest

from crawlers.missions.topic.topic_report import write_topic_list
from crawlers.missions.topic.topic_tables import RelevanceRow
from tests.support.missions.topic.topic_store import add_page, begin_topic
from tests.support.stored_rows import write_rows
from tests.support.summaries import ended


def test_pages_are_sorted_by_similarity_with_their_scores(database, tmp_path):
    crawl_id, (a, b) = begin_topic(database, unicod=1.0)
    add_page(database, 1, a, "http://a.test/b", {}, 0.5, title="=HYPERLINK()\x01", level=2)
    add_page(database, 2, b, "http://b.test/a", {}, 1.0, title="Кодировки", fetched_at=86_400.25)
    add_page(database, 3, a, "http://a.test/a", {}, 0.5)
    write_rows(database, RelevanceRow(2, b, -1, 2 / 3, 1.0, 1, 0.125))
    path = tmp_path / "result" / "topic.pages.csv"
    assert write_topic_list(database, crawl_id, path) == 3
    assert path.read_text("utf-8").splitlines() == [
        "rank,similarity,url,title,level,score,anchor,distance,timely_rank,read_at",
        "1,1.0,http://b.test/a,Кодировки,1,0.666667,1.0,0.5,0.125,1970-01-02 00:00:00",
        "2,0.5,http://a.test/a,,1,,,,,1970-01-01 00:00:01",
        "3,0.5,http://a.test/b,'=HYPERLINK()\ufffd,2,,,,,1970-01-01 00:00:01",
    ]


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
