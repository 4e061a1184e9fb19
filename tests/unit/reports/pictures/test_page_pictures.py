"""Levels and HTTP states, with figures counted by hand.

Importance adds up in the order in which the pages were downloaded for the first time.
"""

import pytest

from crawlers.items import State
from crawlers.reports.pictures import page_pictures
from crawlers.reports.pictures.page_pictures import BARS, HttpStates, Importance, Levels, _step
from crawlers.store.schema.tables import PullRow
from tests.support.scored_store import A, B, Linked, store
from tests.support.stored_crawl import stored_crawl
from tests.support.stored_pages import add_page, begin_crawl
from tests.support.stored_rows import write_rows


def test_levels_count_the_urls_by_what_became_of_them(draw, curves, database):
    crawl_id = stored_crawl(database)
    assert curves(Levels(), crawl_id) == {
        "pages": [31, 33, 30, 30, 10],
        "redirects": [0, 2, 1, 0, 0],
        "errors and responses that are not pages": [0, 0, 2, 0, 0],
        "not requested": [0, 0, 1, 1, 1],
        "waiting": [0, 0, 0, 0, 0],
    }
    assert curves(Levels(), crawl_id, site="a.test")["pages"] == [1, 3, 0, 0, 0]
    assert draw(Levels(), crawl_id).points == (0, 1, 2, 3, 4)


def test_many_levels_share_bars(draw, database, monkeypatch):
    monkeypatch.setattr(page_pictures, "BARS", 2)
    drawing = draw(Levels(), stored_crawl(database))
    assert (drawing.points, drawing.step) == ((0, 3), 3)
    assert drawing.series[0].values == (31 + 33 + 30, 30 + 10)
    assert drawing.notes[0].parts == {"number": 3}


@pytest.mark.both_stores
def test_responses_are_counted_by_class_and_time(draw, database):
    crawl_id, (site, other) = begin_crawl(database)
    responses = [(100.2, 200, State.DONE), (100.9, 301, State.MOVED), (103.0, 404, State.REFUSED)]
    responses += [(104.9, 503, State.FAILED)]
    responses += [(None, None, state) for state in (State.FAILED, State.WAITING, State.REJECTED)]
    for number, (at, status, state) in enumerate(responses, 10):
        url = f"http://a.test/{number}"
        add_page(database, number, site, url, fetched_at=at, status=status, state=int(state), state_at=at or 104.1)
    add_page(database, 1, other, "http://b.test/", fetched_at=102.5, status=200)
    _, (of_another_crawl, _) = begin_crawl(database, "another")
    add_page(database, 5, of_another_crawl, "http://a.test/", fetched_at=101.5, status=200)
    drawing = draw(HttpStates(), crawl_id)
    assert (drawing.points, drawing.step) == ((100, 101, 102, 103, 104), 1)
    assert {one.title[:3]: one.values for one in drawing.series} == {
        "2xx": (1, 0, 1, 0, 0),
        "3xx": (1, 0, 0, 0, 0),
        "4xx": (0, 0, 0, 1, 0),
        "5xx": (0, 0, 0, 0, 1),
        "no ": (0, 0, 0, 0, 1),
    }
    assert draw(HttpStates(), crawl_id, site="b.test").points == (102,)


@pytest.mark.parametrize("span", [0.0, 1.0, 117.9, 118.1, 3600.0, 86_400.0, 1e7, 1e9])
def test_bars_are_few_and_round(span):
    step = _step(span)
    assert 1 + (span + step) // step <= BARS
    assert step == 1 or 60 % step == 0 or 3600 % step == 0 or 86_400 % step == 0 or step % 86_400 == 0


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
