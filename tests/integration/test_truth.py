"""The graph of a crawl equals the graph that tests/support/demo_truth.py computes independently."""

import networkx as nx
import pytest

from crawlers.files.atomic import file_stem
from crawlers.inputs.setting_readers import normalization
from crawlers.items import State
from crawlers.urls.resolution import resolve
from tests.support.crawl_web import WatchedWeb
from tests.support.demo_truth import ALL_TAGS, truth
from tests.support.opened_crawl import project_settings
from tests.support.running import Crawl

SITES = ("library", "faculty", "mirror")
SCALE = 2


NORMALIZATION = normalization(project_settings())


def normalize(url):
    return resolve(url, "", NORMALIZATION).normalized


@pytest.fixture(scope="module")
def large():
    with WatchedWeb(SITES, scale=SCALE) as served:
        yield served


@pytest.fixture(scope="module")
def crawl(large, tmp_path_factory):
    folder = tmp_path_factory.mktemp("true")
    with Crawl(folder / "crawl", large.hosts(), LINK_TAGS=",".join(ALL_TAGS)) as crawl:
        assert crawl.run().status == 0
        return crawl


@pytest.fixture(scope="module", params=SITES)
def site(request):
    return request.param


@pytest.fixture(scope="module")
def true(large, site):
    return truth(site, large.web.origins, SCALE, normalize=normalize)


@pytest.fixture(scope="module")
def graph(large, crawl, site, true):
    """Return the graph as written, with each group named by its first member, because the variant may differ."""
    read = nx.read_gexf(crawl.result / f"{file_stem(large.origins[site])}.gexf")
    first = {url: group[0] for group in true.groups for url in group}
    names = {node: first[normalize(label)] for node, label in read.nodes("label")}
    assert len(set(names.values())) == len(names)
    return nx.relabel_nodes(read, names)


def rows(crawl, large, site, state, *columns):
    return crawl.query(
        f"SELECT {', '.join(columns)} FROM page p JOIN site s ON s.id = p.site_id LEFT JOIN page m "
        f"ON m.id = p.moved_to WHERE s.site = '{large.origins[site]}' AND p.state = {int(state)}"
    )


def test_pages_and_their_levels_are_the_true_ones(crawl, large, site, true):
    found = rows(crawl, large, site, State.DONE, "p.url", "p.level")
    assert {normalize(url): level for url, level in found} == true.pages
    assert len(found) == len(true.pages)


def test_nodes_are_the_true_ones_with_their_levels_and_duplicates(graph, true):
    assert dict(graph.nodes("level")) == true.nodes
    assert dict(graph.nodes("duplicates")) == {group[0]: len(group) - 1 for group in true.groups}
    assert {status for _, status in graph.nodes("status")} == {200}


def test_edges_are_the_true_ones_with_their_numbers(graph, true):
    assert {(a, b): round(weight) for a, b, weight in graph.edges(data="weight")} == true.edges
    assert dict(graph.nodes("in_degree")) == dict(graph.in_degree())
    assert dict(graph.nodes("out_degree")) == dict(graph.out_degree())


def test_redirects_end_where_they_truly_end(crawl, large, site, true):
    moved = {normalize(a): normalize(b) for a, b in rows(crawl, large, site, State.MOVED, "p.url", "m.url")}
    failed = {normalize(url) for (url,) in rows(crawl, large, site, State.FAILED, "p.url")}

    def end(url):
        passed = set()
        while url in moved and url not in passed:
            passed.add(url)
            url = moved[url]
        return url

    assert {url: end(url) for url in moved if end(url) in true.pages} == true.moved
    assert {url for url in [*moved, *failed] if end(url) not in true.pages} - set(true.off_site) == (
        set(true.loops) | {url for url in moved if end(url) in true.refused}
    )


def test_a_redirect_costs_no_click(crawl, large, site):
    pairs = rows(crawl, large, site, State.MOVED, "p.level", "m.level", "p.hops", "m.hops")
    assert all(target <= source for source, target, _, _ in pairs)
    assert site == "library" or any(a == b and hops < m_hops for a, b, hops, m_hops in pairs)


def test_refused_pages_are_those_that_the_site_refuses(crawl, large, site, true):
    refused = {normalize(url): status for url, status in rows(crawl, large, site, State.REFUSED, "p.url", "p.status")}
    assert {url: status for url, status in refused.items() if url not in true.off_site} == true.refused
    assert not rows(crawl, large, site, State.WAITING, "p.url")


def test_links_that_leave_the_site_are_the_true_ones(crawl, large, site, true):
    found = crawl.query(
        "SELECT DISTINCT u.url FROM external_link e JOIN external_url u ON u.id = e.url_id "
        "JOIN link_context c ON c.id = e.context_id JOIN page p ON p.id = e.page_id JOIN site s "
        f"ON s.id = p.site_id WHERE s.site = '{large.origins[site]}' AND c.tag != 'redirect'"
    )
    abroad = {url for url in true.external if not url.startswith(large.origins[site] + "/")}
    assert {url for (url,) in found} == abroad
    assert len(abroad) > 10
