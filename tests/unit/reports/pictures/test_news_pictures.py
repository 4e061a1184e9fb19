"""Iterations and days of news crawls."""

import pytest
from sqlalchemy import insert, select

from crawlers.reports.pictures import news_pictures
from crawlers.reports.pictures.news_pictures import Days, Iterations, UsefulShare
from crawlers.storage.crawls import begin
from crawlers.storage.news.iterations import DAY_S
from crawlers.storage.schema.news_tables import IterationRow, document
from crawlers.storage.schema.tables import site
from crawlers.storage.site_rows import SiteRow
from tests.support.stored_rows import write_rows


@pytest.fixture
def crawl_id(database):
    begun = begin(database, "press", "news", [SiteRow(0, "http://a.test", 1, None, 0.0)], {}, 0.0)
    for number, (fit, not_fit, polls, errors, documents) in enumerate(
        [(1, 6, 2, 1, 2), (6, 2, 1, 1, 6), (9, 0, 1, 0, 9)], 1
    ):
        row = IterationRow(begun.id, number, number, number + 1, fit, not_fit, polls, errors, documents, 0, documents)
        write_rows(database, row)
    return begun.id


@pytest.mark.both_stores
def test_documents_are_counted_per_download_without_polls(curves, crawl_id):
    assert curves(UsefulShare(), crawl_id) == {"new documents per download": [0.25, 6 / 9, 1.0]}


def stored_documents(database, crawl_id, *times):
    text = {"title": "", "text": "", "authors": "[]", "extractor": "rule", "text_hash": "", "version": 1}
    with database.write() as connection:
        site_id = connection.execute(select(site.c.id).where(site.c.crawl_id == crawl_id)).scalar_one()
        rows = [
            {"page_id": number, "site_id": site_id, "url": f"http://a.test/{number}", "stored_at": at, **text}
            for number, at in enumerate(times, 1)
        ]
        connection.execute(insert(document), rows)


@pytest.mark.both_stores
def test_days_without_documents_are_shown_as_well(draw, crawl_id, database, monkeypatch):
    stored_documents(database, crawl_id, 5.0, DAY_S - 1.0, 3.5 * DAY_S)
    drawing = draw(Days(), crawl_id)
    assert (drawing.points, drawing.step) == ((0.0, DAY_S, 2 * DAY_S, 3 * DAY_S), DAY_S)
    assert drawing.series[0].values == (2, 0, 0, 1)
    monkeypatch.setattr(news_pictures, "MAX_DAYS", 2)
    drawing = draw(Days(), crawl_id)
    assert drawing.series[0].values == (0, 1)
    assert drawing.notes[0].parts == {"number": 2}


def test_many_iterations_share_bars(draw, crawl_id, monkeypatch):
    monkeypatch.setattr(news_pictures, "BARS", 2)
    drawing = draw(Iterations(), crawl_id)
    assert (drawing.points, drawing.step) == ((1, 3), 2)
    assert drawing.series[0].values == (7, 9)
    assert drawing.notes[0].parts == {"number": 2}
