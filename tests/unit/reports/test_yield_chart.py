"""Pictures are refused before the work begins, not after it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from crawlers.errors import ConfigError
from crawlers.reports.yield_chart import check


def test_without_matplotlib_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="needs matplotlib, which is not installed; pip install matplotlib"):
        check(Path("a.svg"))


def test_only_formats_that_are_drawn_are_taken():
    with pytest.raises(ConfigError, match=r"pictures are \.svg or \.png"):
        check(Path("a.jpeg"))
