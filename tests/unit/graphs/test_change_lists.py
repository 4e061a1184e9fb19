"""The lists of what changed between two crawls: counted as a whole, listed as far as is allowed."""

from collections import Counter

import pytest

from crawlers.graphs.crawl_changes import all_links, all_pages, change_lists, changed, compared_sites
from crawlers.store.reading.queries import sites_of
from tests.support.stored_crawl import later_crawl, stored_crawl


@pytest.fixture
def sites(sqlite):
    before, after = stored_crawl(sqlite), later_crawl(sqlite)
    return compared_sites(sites_of(sqlite, before), sites_of(sqlite, after))


def test_lists_are_cut_and_counts_are_not(sqlite, sites):
    whole, cut = change_lists(sqlite, sites), change_lists(sqlite, sites, most=3)
    assert (cut.pages, cut.links) == (whole.pages[:3], whole.links[:3])
    assert (cut.page_counts, cut.link_counts) == (whole.page_counts, whole.link_counts)


def test_what_is_not_kept_is_read_again(sqlite, sites):
    lists = change_lists(sqlite, sites)
    assert list(changed(all_pages(sqlite, sites), Counter())) == lists.pages
    assert list(changed(all_links(sqlite, sites), Counter())) == lists.links
