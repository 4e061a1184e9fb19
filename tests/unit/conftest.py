"""A store of the quicker kind, for what is the same on both."""

from __future__ import annotations

from shutil import copy
from typing import TYPE_CHECKING

import pytest

from crawlers.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a store with its tables, which takes long to make."""
    path = tmp_path_factory.mktemp("store") / "empty.sqlite"
    Database(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def sqlite(empty_store: Path, tmp_path: Path) -> Iterator[Database]:
    """An open empty database in a file."""
    database = Database(f"sqlite:///{copy(empty_store, tmp_path / 'crawl.sqlite')}")
    yield database
    database.close()
