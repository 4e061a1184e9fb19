"""The pages of a topic crawl as a table."""

import csv

from sqlalchemy import insert

from crawlers.reports.ranked_tables import write_topic_list
from crawlers.storage.schema.score_tables import relevance
from tests.support.topic_store import add_page, begin_topic


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_pages_are_sorted_by_similarity_with_their_scores(database, tmp_path):
    crawl_id, (a, b) = begin_topic(database, unicod=1.0)
    add_page(database, 1, a, "http://a.test/b", {}, 0.5, title="=HYPERLINK()\x01", level=2)
    add_page(database, 2, b, "http://b.test/a", {}, 1.0, title="Кодировки", fetched_at=86_400.25)
    add_page(database, 3, a, "http://a.test/a", {}, 0.5)
    with database.write() as connection:
        row = {"page_id": 2, "site_id": b, "queue": -1, "score": 2 / 3, "anchor": 1.0, "level": 1, "rank": 0.125}
        connection.execute(insert(relevance).values(row))
    path = tmp_path / "result" / "topic.pages.csv"
    assert write_topic_list(database, crawl_id, path) == 3
    first, second, third = rows(path)
    assert first == {
        "rank": "1",
        "similarity": "1.0",
        "url": "http://b.test/a",
        "title": "Кодировки",
        "level": "1",
        "score": "0.666667",
        "anchor": "1.0",
        "distance": "0.5",
        "timely_rank": "0.125",
        "read_at": "1970-01-02 00:00:00",
    }
    assert (second["url"], second["title"], second["score"], second["distance"]) == ("http://a.test/a", "", "", "")
    assert (third["rank"], third["url"], third["title"]) == ("3", "http://a.test/b", "'=HYPERLINK()\ufffd")
