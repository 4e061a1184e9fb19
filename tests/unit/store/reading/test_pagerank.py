"""PageRank of stored links equals that of networkx."""

import random

import networkx as nx
import pytest
from scipy.stats import kendalltau
from sqlalchemy import text

from crawlers.items import State
from crawlers.reports.catalogue.score_reports import best_pages
from crawlers.store.reading.pagerank import DIGITS, ENOUGH, StoredPageRank
from tests.support.scale_free import copy_model
from tests.support.scored_store import A, B, Linked, store
from tests.support.stored_rows import execute

NEAR = 10.0 ** (1 - DIGITS)


def expected(edges, pages, damping=0.85):
    graph = nx.DiGraph()
    graph.add_nodes_from(pages)
    graph.add_edges_from((source, target) for source, target in edges if source != target)
    return nx.pagerank(graph, alpha=damping, tol=1e-14, max_iter=1000)


def top(database, crawl, number=99, damping=0.85, sites=()):
    return {
        url: rank for rank, _, url, *_ in listed(database, StoredPageRank(database, crawl.id, damping), number, sites)
    }


def listed(database, ranks, number, sites=()):
    with database.read() as connection:
        return list(best_pages(connection, None, ranks.best(connection, number, sites), number))


@pytest.mark.both_stores
@pytest.mark.parametrize("damping", [0.85, 0.5])
def test_crawl_of_any_mission_has_the_ranks_of_networkx(database, damping):
    web = copy_model(80, random.Random(3))
    name = {page: f"{(A, B)[page % 2]}/{page}" for page in web}
    pages = [Linked(name[page], tuple(name[target] for target in targets)) for page, targets in web.items()]
    store(database, pages, name="another")
    crawl = store(database, pages, order="bfs", mission="sitegraph")
    ranks = StoredPageRank(database, crawl.id, damping)
    assert len(ranks) == 80
    assert ranks.error_bound < ENOUGH
    truth = expected(((name[a], name[b]) for a, targets in web.items() for b in targets), name.values(), damping)
    first = listed(database, ranks, 20)
    true = [truth[page[2]] for page in first]
    assert [page[0] for page in first] == pytest.approx(true, rel=NEAR)
    assert kendalltau(true, sorted(truth.values(), reverse=True)[:20]).statistic == pytest.approx(1.0)
    assert {page[1] for page in first} == {None}
    assert sum(top(database, crawl, damping=damping).values()) == pytest.approx(1.0, abs=80 * NEAR)


@pytest.mark.both_stores
def test_redirects_are_followed_and_self_links_ignored(database):
    pages = [
        Linked(f"{A}/", (f"{A}/moved", f"{A}/x", f"{A}/moved", f"{A}/circle")),
        Linked(f"{A}/x", (f"{A}/x", f"{A}/", f"{A}/back")),
        Linked(f"{B}/", (f"{A}/", f"{A}/x")),
        Linked(f"{A}/moved", moved_to=f"{A}/further"),
        Linked(f"{A}/further", moved_to=f"{B}/"),
        Linked(f"{A}/back", moved_to=f"{A}/x"),
        Linked(f"{A}/circle", moved_to=f"{A}/again"),
        Linked(f"{A}/again", moved_to=f"{A}/circle"),
    ]
    crawl = store(database, pages)
    home, x, other = (one.url for one in pages[:3])
    edges = [(home, other), (home, x), (x, home), (other, home), (other, x)]
    assert top(database, crawl) == pytest.approx(expected(edges, (home, x, other)), rel=NEAR)


def test_waiting_pages_have_a_rank_but_are_not_listed_and_rejected_ones_have_none(database):
    pages = [
        Linked(f"{A}/", (f"{A}/wait", f"{A}/away", f"{A}/x")),
        Linked(f"{A}/x", (f"{A}/",)),
        Linked(f"{A}/wait"),
        Linked(f"{A}/away"),
    ]
    crawl = store(database, pages)
    execute(database, text(f"UPDATE page SET state = {int(State.REJECTED)} WHERE id = {crawl.pages[f'{A}/away']}"))
    home, x, wait = (one.url for one in pages[:3])
    truth = expected([(home, wait), (home, x), (x, home)], (home, x, wait))
    assert top(database, crawl) == pytest.approx({home: truth[home], x: truth[x]}, rel=NEAR)


def test_list_can_be_limited_to_sites_while_ranks_are_those_of_the_crawl(database):
    pages = [Linked(f"{A}/", (f"{B}/",)), Linked(f"{B}/", (f"{A}/", f"{A}/x")), Linked(f"{A}/x", ())]
    crawl = store(database, pages)
    everywhere = top(database, crawl)
    assert top(database, crawl, sites=[crawl.sites[B]]) == {f"{B}/": everywhere[f"{B}/"]}


def test_steps_are_limited_if_the_bound_can_not_be_reached(database, monkeypatch):
    monkeypatch.setattr("crawlers.ranking.link_ranks.MAX_STEPS", 3)
    ring = [Linked(f"{A}/{page}", (f"{A}/{(page + 1) % 5}",)) for page in range(5)]
    ranks = StoredPageRank(database, store(database, [*ring, Linked(f"{A}/in", (f"{A}/0",))]).id, 0.999)
    assert ranks.error_bound > ENOUGH
    assert len(listed(database, ranks, 9)) == 6
