"""The importance read from the store equals that of the order."""

import pytest

from crawlers.storage.importance import shares_of_site, standing, top_pages, totals_of
from tests.support.scored_store import A, B, Linked, store

PAGES = [
    Linked(f"{A}/", (f"{B}/", f"{A}/x", f"{A}/y"), title="Home"),
    Linked(f"{A}/x", (f"{A}/",)),
    Linked(f"{A}/y", (f"{A}/", f"{A}/y")),
    Linked(f"{B}/", (f"{A}/", f"{A}/new", f"{A}/moved")),
    Linked(f"{A}/new"),
    Linked(f"{A}/moved", moved_to=f"{A}/"),
]


def totals(database, crawl_id):
    with database.read() as connection:
        return totals_of(connection, crawl_id)


def top(database, crawl_id, *arguments):
    return list(top_pages(database, crawl_id, totals(database, crawl_id), *arguments))


def urls(database, *arguments):
    return [page.url for page in top(database, *arguments)]


@pytest.mark.both_stores
def test_shares_equal_those_of_the_order_and_sum_to_one_over_all_sites(database):
    crawl = store(database, PAGES)
    shares = {}
    for site_id in crawl.sites.values():
        shares.update(shares_of_site(database, site_id, totals(database, crawl.id)))
    assert sum(shares.values()) == pytest.approx(1.0)
    read = {page for url, page in crawl.pages.items() if not url.endswith(("new", "moved"))}
    assert shares == pytest.approx(
        {crawl.pages[url]: crawl.share(url) for url in crawl.pages if crawl.pages[url] in read}
    )


def test_standing_has_the_cash_of_the_order(database):
    crawl = store(database, PAGES)
    with database.read() as connection:
        for url, page in crawl.pages.items():
            found = standing(connection, crawl.id, page)
            if url.endswith("moved"):
                assert found is None
                continue
            assert found.cash == pytest.approx(crawl.opic.cash(page))
            if crawl.opic.queue(page):
                assert found.importance == pytest.approx(crawl.share(url), abs=1e-12)
                assert found.rank[1] == 4
            else:
                assert (found.importance, found.rank) == (None, None)
        first = standing(connection, crawl.id, crawl.pages[f"{A}/"])
        assert first.rank == (1, 4)


def test_other_crawls_are_excluded(database):
    store(database, PAGES, name="first")
    crawl = store(database, [Linked(f"{A}/only", (f"{A}/only",))], name="second")
    assert urls(database, crawl.id, 9) == [f"{A}/only"]
    with database.read() as connection:
        assert standing(connection, crawl.id, crawl.pages[f"{A}/only"]).rank == (1, 1)


@pytest.mark.parametrize(("order", "rounds"), [("bfs", 3), ("topic", 3), ("aopic", 0)])
def test_crawls_of_other_orders_or_without_pages_have_no_importance(database, order, rounds):
    crawl = store(database, PAGES, order=order, rounds=rounds)
    with database.read() as connection:
        assert totals_of(connection, crawl.id) is None
        assert standing(connection, crawl.id, crawl.pages[f"{A}/"]) is None
