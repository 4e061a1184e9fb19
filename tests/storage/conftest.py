"""A store of the quicker kind, for what is the same on both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawlers.storage.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Database]:
    """An open empty database in a file."""
    database = Database(f"sqlite:///{tmp_path / 'crawl.sqlite'}")
    yield database
    database.close()
