"""The importance read from the store equals that of the order."""

import pytest

from crawlers.reports.catalogue.score_reports import best_pages
from crawlers.store.reading.importance import shares_of_site, standing, totals_of, weights_of_crawl
from tests.support.scored_store import A, B, Linked, store
from tests.support.stored_rows import read

PAGES = [
    Linked(f"{A}/", (f"{B}/", f"{A}/x", f"{A}/y"), title="Home"),
    Linked(f"{A}/x", (f"{A}/",)),
    Linked(f"{A}/y", (f"{A}/", f"{A}/y")),
    Linked(f"{B}/", (f"{A}/", f"{A}/new", f"{A}/moved")),
    Linked(f"{A}/new"),
    Linked(f"{A}/moved", moved_to=f"{A}/"),
]


@pytest.mark.both_stores
def test_shares_equal_those_of_the_order_and_sum_to_one_over_all_sites(database):
    crawl = store(database, PAGES)
    shares = {}
    for site_id in crawl.sites.values():
        shares.update(shares_of_site(database, site_id, read(totals_of, database, crawl.id)))
    assert sum(shares.values()) == pytest.approx(1.0)
    done = {page: crawl.share(url) for url, page in crawl.pages.items() if not url.endswith(("new", "moved"))}
    assert shares == pytest.approx(done)


def test_standing_has_the_cash_of_the_order(database):
    crawl = store(database, PAGES)
    for url, page in crawl.pages.items():
        found = read(standing, database, crawl.id, page)
        if url.endswith("moved"):
            assert found is None
            continue
        assert found.cash == pytest.approx(crawl.opic.cash(page))
        if crawl.opic.queue(page):
            assert found.importance == pytest.approx(crawl.share(url), abs=1e-12)
            assert found.rank[1] == 4
        else:
            assert (found.importance, found.rank) == (None, None)
    assert read(standing, database, crawl.id, crawl.pages[f"{A}/"]).rank == (1, 4)


def test_other_crawls_are_excluded(database):
    store(database, PAGES, name="first")
    crawl = store(database, [Linked(f"{A}/only", (f"{A}/only",))], name="second")
    with database.read() as connection:
        totals = totals_of(connection, crawl.id)
        weights = weights_of_crawl(connection, crawl.id, totals)
        assert [page[2] for page in best_pages(connection, totals, weights, 9)] == [f"{A}/only"]
    assert read(standing, database, crawl.id, crawl.pages[f"{A}/only"]).rank == (1, 1)


@pytest.mark.parametrize(("order", "rounds"), [("bfs", 3), ("topic", 3), ("aopic", 0)])
def test_crawls_of_other_orders_or_without_pages_have_no_importance(database, order, rounds):
    crawl = store(database, PAGES, order=order, rounds=rounds)
    assert read(totals_of, database, crawl.id) is None
    assert read(standing, database, crawl.id, crawl.pages[f"{A}/"]) is None
