"""Every engine of a frontier, and a site open on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contracts.engines import Engine, HeldSqlEngine, MemoryEngine, SqlEngine
from tests.contracts.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Each engine in turn."""
    engine: Engine
    if request.param == "memory":
        engine = MemoryEngine()
    elif request.param == "sqlite":
        engine = SqlEngine(request.getfixturevalue("sqlite_url"))
    else:
        engine = SqlEngine(request.getfixturevalue("postgresql_url"))
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
