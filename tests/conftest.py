"""Fixtures for the services that tests of several rooms need; and the same hypothesis examples on every run."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, settings

from crawlers.storage.database import Database
from tests.support.services import fresh_database, running_postgresql

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A hundred processes start here and would each compile the program, in containers that set this.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

settings.register_profile("suite", derandomize=True, deadline=None)  # a busy machine is slow, not wrong
# `make mutants` wants to know whether an example fails, and not the smallest one that does.
settings.register_profile("mutants", settings.get_profile("suite"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("suite")


@pytest.fixture(scope="session")
def postgresql_socket() -> Iterator[Path]:
    """The folder of the socket of the session's own server."""
    with running_postgresql() as socket:
        yield socket


@pytest.fixture
def postgresql_url(postgresql_socket: Path) -> Iterator[str]:
    """The URL of an empty PostgreSQL database of the test's own."""
    with fresh_database(postgresql_socket) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of both kinds in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'crawl.sqlite'}"
    return str(request.getfixturevalue("postgresql_url"))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """An open empty database, of both kinds in turn."""
    database = Database(database_url)
    yield database
    database.close()
