"""Every engine of a frontier, and a site open on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts.engines import Engine, HeldSqlEngine, MemoryEngine, SqlEngine
from tests.contracts.site import Site
from tests.support.services import store_kinds

if TYPE_CHECKING:
    from collections.abc import Iterator


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests of the engines in memory and on the kinds of stores of the test."""
    kinds = store_kinds(metafunc)
    for name in ("engine", "held", "limited"):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, kinds if name == "limited" else ["memory", *kinds], indirect=True)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine in turn."""
    kind = request.param
    engine = MemoryEngine() if kind == "memory" else SqlEngine(request.getfixturevalue(f"{kind}_url"))
    yield engine
    engine.close()


@pytest.fixture
def durable(database_url: str) -> Iterator[SqlEngine]:
    """Each engine that survives its process."""
    engine = SqlEngine(database_url)
    yield engine
    engine.close()


@pytest.fixture
def sql_engine(database_url: str) -> Iterator[HeldSqlEngine]:
    """Each engine that survives its process, which writes when it is told to."""
    engine = HeldSqlEngine(database_url)
    yield engine
    engine.close()


@pytest.fixture
def site(engine: Engine) -> Site:
    """A site without limits on concurrent requests."""
    return Site(engine, parallel=100)
