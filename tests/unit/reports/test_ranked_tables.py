"""Tables of pages by importance, PageRank or similarity."""

import csv

from sqlalchemy import insert

from crawlers.reports.ranked_tables import PAGERANK, TOP, write_ranked, write_topic_list
from crawlers.storage.importance import TopPage
from crawlers.storage.schema.score_tables import relevance
from tests.support.topic_store import add_page, begin_topic


def test_pages_have_their_rank_and_times_that_spreadsheets_read(tmp_path):
    pages = [
        TopPage(0.25, "http://a.test/", "http://a.test", "=Home", 0, 200, 1e9, 1e9 + 1, 2, 7),
        TopPage(0.125, "http://b.test/", "http://b.test", None, 1, None, 1e9, None, 0, 0),
    ]
    assert write_ranked(tmp_path / "top.csv", TOP, pages) == 2
    assert (tmp_path / "top.csv").read_text("utf-8").splitlines() == [
        "rank,importance,url,site,title,level,status,first_seen,last_seen,changes,in_degree",
        "1,0.25,http://a.test/,http://a.test,'=Home,0,200,2001-09-09 01:46:40,2001-09-09 01:46:41,2,7",
        "2,0.125,http://b.test/,http://b.test,,1,,2001-09-09 01:46:40,,0,0",
    ]


def test_pagerank_is_next_to_importance_which_may_be_unknown(tmp_path):
    page = TopPage(None, "http://a.test/", "http://a.test", "Home", 0, 200, 1e9, 1e9 + 1, 2, 7)
    assert write_ranked(tmp_path / "top.csv", (PAGERANK, *TOP), [(0.25, *page)]) == 1
    assert (tmp_path / "top.csv").read_text("utf-8").splitlines() == [
        "rank,pagerank,importance,url,site,title,level,status,first_seen,last_seen,changes,in_degree",
        "1,0.25,,http://a.test/,http://a.test,Home,0,200,2001-09-09 01:46:40,2001-09-09 01:46:41,2,7",
    ]


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
