"""URLs of paginated lists, calendars and archives are recognised."""

import pytest

from crawlers.missions.news.urls.url_classifier import is_archive


@pytest.mark.parametrize(
    "path",
    [
        "/?page=2", "/news?p=3", "/sport/page/12/", "/sport/page-12.html", "/2026/", "/2026/11", "/2026/11/20/",
        "/2026-11-20", "/20261120/", "/archive/", "/archive.php?date=2026-11-20", "/archiv/2026", "/news/archive/x/y",
        "/list?offset=40&x=1", "/en/p2", "/News/PAGE/2", "/?Page=2", "/a/b/c/d/2026/11/20/",
        "/x;jsessionid=1?a=1;page=2",
    ],
)  # fmt: skip
def test_urls_of_pagination_calendars_and_archives_are_recognised(path):
    assert is_archive(f"http://paper.example{path}")


@pytest.mark.parametrize(
    "path",
    ["", "/", "/news/", "/story.php?id=12", "/2026/11/20/a-storm-came", "/2026/11/20/12345/", "/page",
     "/paged-out", "/tag/2026-election",
     "/news/12345", "/?q=page", "/archives-are-open-again", "/archive/a/b/c", "/page/2/x",
     # longer than the part of a URL that is examined
     "/" + "a/" * 5000, "/?" + "a=1&" * 60 + "page=2", "/archive/" + "a" * 300],
)  # fmt: skip
def test_urls_of_other_pages_are_not_recognised(path):
    assert not is_archive(f"http://paper.example{path}")
