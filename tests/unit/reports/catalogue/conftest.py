"""A crawl whose pages fill all reports."""

import pytest

from tests.support.stored_crawl import stored_crawl


@pytest.fixture
def crawl_id(database):
    """The number of the crawl."""
    return stored_crawl(database)


@pytest.fixture
def crawl_id_of_sqlite(sqlite):
    """The number of the same crawl in an SQLite store."""
    return stored_crawl(sqlite)
