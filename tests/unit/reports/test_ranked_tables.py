"""Tables of pages by importance, PageRank or similarity."""

from crawlers.reports.ranked_tables import TOP, write_ranked, write_topic_list
from crawlers.store.schema.score_tables import RelevanceRow
from tests.support.stored_rows import write_rows
from tests.support.topic_store import add_page, begin_topic


def test_pages_have_their_rank_and_times_that_spreadsheets_read(tmp_path):
    pages = [
        (0.25, "http://a.test/", "=Home", 0, 200, 1e9, 1e9 + 1, "http://a.test", 2, 7),
        (None, "http://b.test/", None, 1, None, 1e9, None, "http://b.test", 0, 0),
    ]
    assert write_ranked(tmp_path / "top.csv", TOP, pages) == 2
    assert (tmp_path / "top.csv").read_text("utf-8").splitlines() == [
        "rank,importance,url,title,level,status,found_at,requested_at,site,changes,in_degree",
        "1,0.25,http://a.test/,'=Home,0,200,2001-09-09 01:46:40,2001-09-09 01:46:41,http://a.test,2,7",
        "2,,http://b.test/,,1,,2001-09-09 01:46:40,,http://b.test,0,0",
    ]


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
