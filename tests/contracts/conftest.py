"""The store of a frontier, and a site open on it."""

import pytest

from tests.contracts.site import Site
from tests.support.frontier_engine import Engine


@pytest.fixture
def engine(database):
    return Engine(database)


@pytest.fixture
def site(engine):
    """A site without limits on concurrent requests."""
    return Site(engine, parallel=100)
