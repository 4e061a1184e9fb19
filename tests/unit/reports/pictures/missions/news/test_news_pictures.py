"""Iterations and days of news crawls."""

import pytest

from crawlers.missions.news.reports import news_pictures
from crawlers.missions.news.reports.news_pictures import Days, Iterations, UsefulShare
from crawlers.missions.news.stored.iterations import DAY_S
from crawlers.missions.news.stored.news_tables import IterationRow
from tests.support.missions.news.news_store import NewsStore


@pytest.fixture
def crawl(database):
    crawl = NewsStore(database)
    for number, (fit, not_fit, polls, errors, documents) in enumerate(
        [(1, 6, 2, 1, 2), (6, 2, 1, 1, 6), (9, 0, 1, 0, 9)], 1
    ):
        crawl.write(
            IterationRow(crawl.id, number, number, number + 1, fit, not_fit, polls, errors, documents, 0, documents)
        )
    return crawl


@pytest.mark.both_stores
def test_documents_are_counted_per_download_without_polls(curves, crawl):
    assert curves(UsefulShare(), crawl.id) == {"new documents per download": [0.25, 6 / 9, 1.0]}


@pytest.mark.both_stores
def test_days_without_documents_are_shown_as_well(draw, crawl, monkeypatch):
    for stored_at in (5.0, DAY_S - 1.0, 3.5 * DAY_S):
        crawl.document(f"/{stored_at}", stored_at)
    drawing = draw(Days(), crawl.id)
    assert (drawing.points, drawing.step) == ((0.0, DAY_S, 2 * DAY_S, 3 * DAY_S), DAY_S)
    assert drawing.series[0].values == (2, 0, 0, 1)
    monkeypatch.setattr(news_pictures, "MAX_DAYS", 2)
    drawing = draw(Days(), crawl.id)
    assert drawing.series[0].values == (0, 1)
    assert drawing.notes[0].parts == {"number": 2}


def test_many_iterations_share_bars(draw, crawl, monkeypatch):
    monkeypatch.setattr(news_pictures, "BARS", 2)
    drawing = draw(Iterations(), crawl.id)
    assert (drawing.points, drawing.step) == ((1, 3), 2)
    assert drawing.series[0].values == (7, 9)
    assert drawing.notes[0].parts == {"number": 2}
