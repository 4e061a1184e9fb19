"""Importance adds up in the order in which the pages were downloaded for the first time."""

import pytest

from crawlers.reports.pictures import page_pictures
from crawlers.reports.pictures.page_pictures import Importance
from crawlers.store.schema.tables import PullRow
from tests.support.scored_store import A, B, Linked, store
from tests.support.stored_rows import write_rows

PAGES = [
    Linked(f"{A}/", (f"{B}/", f"{A}/x", f"{A}/y")),
    Linked(f"{A}/x", (f"{A}/",)),
    Linked(f"{A}/y", (f"{A}/",)),
    Linked(f"{B}/", (f"{A}/", f"{A}/new")),
    Linked(f"{A}/new"),
]
ORDER = [f"{A}/x", f"{A}/", f"{A}/x", f"{B}/", f"{A}/y"]  # one of them twice


@pytest.fixture
def crawl(database):
    crawl = store(database, PAGES)
    sites = {url: crawl.sites[url.rpartition("/")[0]] for url in ORDER}
    write_rows(database, *(PullRow(sites[url], crawl.pages[url], 0.0, 0.0) for url in ORDER))
    return crawl


def test_shares_add_up_to_all_importance(draw, crawl):
    shares = [crawl.share(url) for url in dict.fromkeys(ORDER)]
    best = sorted(shares, reverse=True)
    drawing = draw(Importance(), crawl.id)
    assert drawing.points == (0, 1, 2, 3, 4)
    assert drawing.series[0].values == pytest.approx([sum(shares[:end]) for end in range(5)])
    assert drawing.series[1].values == pytest.approx([sum(best[:end]) for end in range(5)])
    assert drawing.series[0].values[-1] == pytest.approx(1.0)


def test_many_pages_share_a_point(draw, crawl, monkeypatch):
    monkeypatch.setattr(page_pictures, "POINTS", 2)
    drawing = draw(Importance(), crawl.id)
    assert drawing.points == (0, 2, 4)
    assert drawing.series[0].values[1] == pytest.approx(crawl.share(f"{A}/x") + crawl.share(f"{A}/"))
