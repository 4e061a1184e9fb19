"""What a spider wants of a crawl."""

import pytest

from crawlers.crawl.spec import CrawlSpec
from crawlers.store.sites.site_opening import SiteRow
from crawlers.urls.scope import Scope

ROWS = {
    "met": SiteRow(1, "http://sport.a.example", 1, None, 0.0),
    "listed": SiteRow(2, "http://www.a.example", 1, None, 0.0, "http://www.a.example/"),
    "elsewhere": SiteRow(3, "http://b.example", 1, None, 0.0),
    "root": SiteRow(4, "http://feeds.example", 1, None, 0.0),
}


@pytest.mark.parametrize(
    ("scope", "kept"), [("all", set(ROWS)), ("a.example", {"met", "root"}), ("sites", None), (None, None)]
)
def test_unlisted_sites_go_on_by_the_scope_of_today(scope, kept):
    made = None if scope is None else Scope(scope, ["http://a.example"])
    keeps = CrawlSpec("news", roots=["http://feeds.example/rss"], scope=made).keeping()
    assert kept == (None if keeps is None else {name for name, row in ROWS.items() if keeps(row)})
