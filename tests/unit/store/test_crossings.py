"""Cross-site links of a crawl count as external in site graphs and in the web fragment."""

import pytest

from crawlers.graphs.site_graph import SiteGraph
from crawlers.graphs.web_fragment import Inward, Outward, count_fragment
from crawlers.urls.domains import host_group
from tests.support.scored_store import A, B, Linked, store

PAGES = [
    Linked(f"{A}/", (f"{B}/", f"{B}/", f"{B}/new", f"{A}/x", f"{A}/off", f"{A}/around", f"{A}/new")),
    Linked(f"{A}/x", (f"{B}/", f"{A}/"), body="same"),
    Linked(f"{A}/y", (f"{B}/", f"{A}/"), body="same"),
    Linked(f"{A}/off", moved_to=f"{B}/"),
    Linked(f"{A}/around", moved_to=f"{A}/off"),
    Linked(f"{A}/new"),
    Linked(f"{B}/", (f"{A}/off",)),
    Linked(f"{B}/new"),
]


def test_site_graph_counts_pages_of_other_sites_as_external(database):
    crawl = store(database, PAGES)
    graph = SiteGraph(database, crawl.sites[A], "a.test")
    assert list(graph.edges()) == [(1, [(2, 1)]), (2, [(1, 2)])]
    home, same = graph.nodes()
    # Two pages of the other site, and a redirect to it with two links.
    assert (home.url, home.out_degree, home.in_degree, home.external_links) == (f"{A}/", 1, 1, 3)
    assert (same.url, same.duplicates, same.external_links) == (f"{A}/x", 1, 1)


@pytest.mark.both_stores
def test_fragment_counts_distinct_pages_and_links_between_sites(database):
    crawl = store(database, PAGES)
    counts = count_fragment(database, crawl.id, host_group)
    assert (counts.sites, counts.accompanying) == (["a.test", "b.test"], range(3, 3))
    # Home has three links to two pages; one of the equal pages counts, and the redirect is a link.
    assert list(counts.pairs) == [(1, 2, 2, 5), (2, 1, 1, 1)]
    assert counts.inward == [Inward(1, 1, 1, f"{A}/off"), Inward(1, 2, 5, f"{B}/")]
    assert counts.outward == [Outward(2, 1, 2), Outward(1, 0, 1)]
