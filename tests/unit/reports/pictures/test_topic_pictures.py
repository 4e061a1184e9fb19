"""Curves of topic crawls, with figures worked out by hand."""

import pytest

from crawlers.missions.topic import topic_pictures
from crawlers.missions.topic.topic_pictures import Importance, Similarity
from crawlers.store.schema.score_tables import RelevanceRow
from crawlers.store.schema.tables import PullRow
from tests.support.scored_store import A, B, Linked, store
from tests.support.stored_rows import write_rows
from tests.support.topic_store import add_page, begin_topic

READ = [(3.0, 0.25, 1.5), (1.0, 0.75, 0.0), (2.0, 0.5, 0.5)]  # when, similarity, ln TimelyRank


@pytest.fixture
def crawl_id(database):
    crawl_id, (site, other) = begin_topic(database, unicode=1.0)
    for number, (at, similarity, rank) in enumerate(READ, 1):
        place = (site, other)[number % 2]
        add_page(database, number, place, f"http://a.test/{number}", {"unicode": 1}, similarity, fetched_at=at)
        write_rows(database, RelevanceRow(number, place, -1, 0.0, 0.0, 1, rank))
    add_page(database, 9, site, "http://a.test/waiting", state=0, fetched_at=None)
    return crawl_id


def test_similarity_is_averaged_in_the_order_of_reading(draw, curves, crawl_id):
    assert draw(Similarity(), crawl_id).points == (1, 2, 3)
    assert curves(Similarity(), crawl_id) == {
        "mean of all pages so far": [0.75, 0.625, 0.5],
        "mean of the latest pages": [0.75, 0.5, 0.25],
    }


# Importance, which adds up in the order in which the pages were downloaded for the first time


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
    monkeypatch.setattr(topic_pictures, "POINTS", 2)
    drawing = draw(Importance(), crawl.id)
    assert drawing.points == (0, 2, 4)
    assert drawing.series[0].values[1] == pytest.approx(crawl.share(f"{A}/x") + crawl.share(f"{A}/"))
