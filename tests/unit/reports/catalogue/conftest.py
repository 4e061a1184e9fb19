"""A crawl whose pages fill all reports."""

import pytest

from tests.support.stored_crawl import stored_crawl


@pytest.fixture
def crawl_id(database):
    """The number of the crawl."""
    return stored_crawl(database)
