"""Tables of pages by importance, PageRank or similarity."""

from crawlers.reports.catalogue.score_reports import TOP, write_ranked


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
