"""A document as people read it."""

import pytest
from sqlalchemy import insert

from crawlers.missions.news.reports.document_history import read_document
from crawlers.missions.news.stored.news_tables import content_rule
from crawlers.reports.catalogue.index_walk import value_steps
from tests.support.missions.news.news_store import NewsStore
from tests.support.stored_rows import execute

NEVER, AT_ONCE = (lambda: False), (lambda: True)


@pytest.fixture
def news(database):
    return NewsStore(database)


def read(news, number, version=None, is_over=NEVER):
    with news.database.read() as connection:
        return read_document(connection, news.id, number, version, is_over)


@pytest.mark.both_stores
def test_versions_can_be_read(news):
    number = news.document("/a", 50.0, title="First", text="Old.", published_at=1.0)
    news.document("/a", 60.0, title="Second", text="New.", again=number, published="2026-11-22", published_at=2.0)
    latest, old = read(news, number), read(news, number, 1)
    assert [(one.version, one.title, one.stored_at) for one in latest.versions] == [
        (2, "Second", 60.0),
        (1, "First", 50.0),
    ]
    assert (latest.row.title, latest.paragraphs, latest.row.version) == ("Second", ["New."], 2)
    assert (old.row.title, old.paragraphs, old.row.version, old.versions) == ("First", ["Old."], 1, latest.versions)
    assert (old.row.published, old.row.published_at) == (None, 1.0)
    assert read(news, number, 3) is read(news, 99) is None
    assert read(NewsStore(news.database, "other"), number) is None


def test_copies_are_found_whatever_their_number(news, monkeypatch):
    monkeypatch.setattr("crawlers.reports.catalogue.index_walk.ROWS_AT_ONCE", 2)
    monkeypatch.setattr(value_steps, "__defaults__", (2,))
    number = news.document("/a", 5000.0)
    for at in range(9):
        news.page(f"/none{at}", 5000.0 + at, reason=f"same_text {number}1")
    news.page("/copy", 5100.0, reason=f"nearly_same_text {number}")
    found = read(news, number)
    assert (found.copies, found.is_searched) == ([("http://one.example/copy", f"nearly_same_text {number}")], True)


def test_search_for_copies_ends_in_time(news, monkeypatch):
    steps = [([], object())] * 9
    monkeypatch.setattr("crawlers.missions.news.reports.document_history.value_steps", lambda *_, **__: iter(steps))
    found = read(news, news.document("/a", 50.0), is_over=AT_ONCE)
    assert (found.copies, found.is_searched) == ([], False)


def test_selectors_of_the_domain_are_shown(news):
    rule = {"domain": "one.example", "part": "text", "selector": "div.body"}
    execute(news.database, insert(content_rule), rule)
    assert read(news, news.document("/a", 50.0)).parts == [("text", "div.body")]
