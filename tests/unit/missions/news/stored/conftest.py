"""A stored news crawl of two sites."""

import pytest

from tests.support.missions.news.news_store import NewsStore


@pytest.fixture
def crawl(database):
    return NewsStore(database)
