"""The most important pages as a table."""

from crawlers.reports.ranked_tables import PAGERANK, TOP, write_ranked
from crawlers.storage.importance import TopPage


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
