"""The town is a scale-free web: hubs, cross-site links that prefer their subject, and every page is reachable."""

from itertools import pairwise

import networkx
import pytest

from examples.town.plan import OLDEST, SITES, plan


def graph_of(scale):
    found = plan(scale)
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(found.pages)))
    graph.add_edges_from((source, target) for source, targets in enumerate(found.links) for target in targets)
    return found, graph


def test_the_town_is_always_the_same():
    found = plan(2)
    plan.cache_clear()
    assert plan(2) == found


@pytest.mark.parametrize("scale", [1, 4])
def test_every_page_is_reachable_from_its_home_page_within_the_site(scale):
    found, graph = graph_of(scale)
    for site in SITES:
        own = [number for number, page in enumerate(found.pages) if page.site == site]
        within = networkx.descendants(graph.subgraph(own), found.numbers[site, "/"])
        assert len(within) == len(own) - 1


def test_few_pages_of_mostly_old_sites_have_a_large_part_of_the_links():
    found, graph = graph_of(10)
    by_links = sorted(graph.nodes, key=graph.in_degree, reverse=True)
    links = [graph.in_degree(number) for number in by_links]
    assert sum(links[: len(links) // 20]) > sum(links) / 4
    assert links[len(links) // 2] <= 3
    assert sum(found.pages[number].site in OLDEST for number in by_links[:20]) >= 10
    # The tail of a power law: in-degree doubles, and the pages that have it become fewer by a steady factor.
    pages = [sum(link >= least for link in links) for least in (5, 10, 20, 40, 80)]
    assert all(1.3 < many / few < 3 for many, few in pairwise(pages))
