"""A worker waits for its store with growing pauses, for a limited time."""

import os
import sys
from threading import Event

import pytest

from crawlers.cli.rejoining import begin_again, wait_for_store
from crawlers.errors import ConfigError
from crawlers.inputs.worker_place import CRAWL


def test_store_that_does_not_come_back_in_time_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="does not exist"):
        wait_for_store(f"sqlite:///{tmp_path / 'crawl.sqlite'}", 0.0, Event())


def test_the_same_command_begins_again_and_knows_its_crawl(monkeypatch):
    begun = []
    monkeypatch.setattr(os, "execve", lambda *command: begun.append(command))
    monkeypatch.setattr(sys, "orig_argv", ["python", "-W", "error", "-m", "scrapy", "crawl", "sitegraph"])
    monkeypatch.setattr("logging.shutdown", lambda: None)
    monkeypatch.setenv(CRAWL, "")
    begin_again(7)
    path, command, variables = begun[0]
    assert path == sys.executable
    assert command == [sys.executable, "-W", "error", "-m", "scrapy", "crawl", "sitegraph"]
    assert variables[CRAWL] == "7"
