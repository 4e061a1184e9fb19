"""The examples in docstrings are correct."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in ("crawlers", "examples", "bench")
    for path in (ROOT / folder).rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


def test_examples_are_found():
    assert len(MODULES) > 50


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_are_correct(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted
    assert not results.failed
