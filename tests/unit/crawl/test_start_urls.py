"""The URLs of a crawl to which no page has led are added."""

from crawlers.items import SiteLimits
from tests.support.opened_crawl import NOW, SITE


def test_start_pages_and_roots_are_leased_first(opened):
    crawl = opened({"sites": [SiteLimits(SITE, start_url=f"{SITE}/ru/")], "roots": [f"{SITE}/map"]})
    assert [crawl.lease().url, crawl.lease().url] == [f"{SITE}/ru/", f"{SITE}/map"]
    assert crawl.crawl.leasing.next(NOW) is None
