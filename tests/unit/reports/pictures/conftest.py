"""Draws pictures of stored crawls."""

import pytest

from crawlers.reports.crawl_manifest import crawl_rules
from crawlers.reports.pictures.picture import PictureRequest
from crawlers.store.reading.queries import crawl_named


@pytest.fixture
def draw(database):
    """Return a function that draws a picture of the crawl with that number."""

    def drawn(picture, crawl_id, rules=None, **chosen):
        wanted = PictureRequest(crawl_named(database, str(crawl_id)), crawl_rules(rules or {}), **chosen)
        with database.read() as connection:
            drawing = picture.drawing(connection, wanted)
            assert picture.is_stored(connection, wanted) == bool(drawing.points)
        for one in drawing.series:
            assert len(one.values) == len(drawing.points)
        assert list(drawing.points) == sorted(drawing.points)
        return drawing

    return drawn


@pytest.fixture
def curves(draw):
    """Return a function that draws a picture, and returns its series by title."""

    def drawn(*arguments, **chosen):
        return {one.title: list(one.values) for one in draw(*arguments, **chosen).series}

    return drawn
