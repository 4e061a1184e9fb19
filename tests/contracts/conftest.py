"""Every engine of a frontier, and a site open on it."""

import pytest

from tests.contracts.engines import HeldSqlEngine, MemoryEngine, SqlEngine
from tests.contracts.site import Site
from tests.support.services import store_kinds


def pytest_generate_tests(metafunc):
    """Run tests of the engines in memory and on the kinds of stores of the test."""
    kinds = store_kinds(metafunc)
    for name in ("engine", "held", "limited"):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, kinds if name == "limited" else ["memory", *kinds], indirect=True)


@pytest.fixture
def engine(request):
    """Each engine in turn."""
    kind = request.param
    engine = MemoryEngine() if kind == "memory" else SqlEngine(request.getfixturevalue(f"{kind}_url"))
    yield engine
    engine.close()


@pytest.fixture
def durable(database_url):
    """Each engine that survives its process."""
    engine = SqlEngine(database_url)
    yield engine
    engine.close()


@pytest.fixture
def sql_engine(database_url):
    """Each engine that survives its process, which writes when it is told to."""
    engine = HeldSqlEngine(database_url)
    yield engine
    engine.close()


@pytest.fixture
def site(engine):
    """A site without limits on concurrent requests."""
    return Site(engine, parallel=100)
