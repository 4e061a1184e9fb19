"""A worker waits for its store with growing pauses, for a limited time."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from crawlers.cli.rejoining import LONGEST_WAIT_S, begin_again, wait_for_store
from crawlers.errors import ConfigError
from crawlers.inputs.worker_place import CRAWL
from crawlers.storage.database import Database

if TYPE_CHECKING:
    from pathlib import Path


def test_store_that_comes_back_is_awaited(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'crawl.sqlite'}"
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 8:
            Database(url).close()

    wait_for_store(url, 3600.0, sleep)
    assert len(pauses) == 8
    assert pauses[-1] > pauses[0]
    assert max(pauses) <= LONGEST_WAIT_S


def test_store_that_does_not_come_back_in_time_is_an_error(tmp_path: Path) -> None:
    pauses: list[float] = []
    with pytest.raises(ConfigError, match="does not exist"):
        wait_for_store(f"sqlite:///{tmp_path / 'crawl.sqlite'}", 0.0, pauses.append)
    assert pauses == []


def test_the_same_command_begins_again_and_knows_its_crawl(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[Any, ...]] = []
    monkeypatch.setattr(os, "execv", lambda *command: begun.append(command))
    monkeypatch.setattr(sys, "orig_argv", ["python", "-W", "error", "-m", "scrapy", "crawl", "sitegraph"])
    monkeypatch.setattr("logging.shutdown", lambda: None)
    monkeypatch.setenv(CRAWL, "")
    begin_again(7)
    assert begun == [(sys.executable, [sys.executable, "-W", "error", "-m", "scrapy", "crawl", "sitegraph"])]
    assert os.environ[CRAWL] == "7"
