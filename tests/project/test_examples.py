"""The examples in docstrings are correct."""

import doctest
import importlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in ("crawlers", "examples", "bench")
    for path in (ROOT / folder).rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


def test_examples_are_found():
    assert len(MODULES) > 50


def test_examples_are_correct():
    results = {name: doctest.testmod(importlib.import_module(name)) for name in MODULES}
    assert [name for name, result in results.items() if result.failed or not result.attempted] == []
