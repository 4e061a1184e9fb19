"""What `make bench` runs, and what code and documentation name, exists; its table tells a measurement that failed."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from bench.__main__ import MEASUREMENTS, Measurement, rows_of

ROOT = Path(__file__).resolve().parents[3]
NAMING = [
    path
    for folder in ("bench", "crawlers", "docs", "tests")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".md", ".json") and path != Path(__file__)
]


@pytest.mark.parametrize("measurement", MEASUREMENTS, ids=lambda one: " ".join(one.command))
def test_listed_measurement_exists(measurement):
    assert find_spec(measurement.command[0]) is not None
    assert measurement.figures


def test_measurements_that_are_named_exist():
    named = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in NAMING
        for name in re.findall(r"\bbench(?:\.[a-z_]+)+\b(?![./])", path.read_text("utf-8"))
    }
    assert len({name for _, name in named}) > 20
    assert [one for one in sorted(named) if find_spec(one[1]) is None] == []


def test_figures_are_those_of_the_last_line():
    measured = Measurement(("x",), {"a.b": ("speed", "x"), "c": ("differences", "")})
    assert rows_of(measured, 0, 'a table\n{"a": {"b": 1.2345}, "c": 0}\n') == [
        ("speed", "1.23", "x"),
        ("differences", "0", ""),
    ]


@pytest.mark.parametrize("output", ["", "a table\n", '{"c": 1}', "[]"])
def test_measurement_without_figures_failed(output):
    measured = Measurement(("x",), {"a": ("speed", "x")})
    assert rows_of(measured, 3, output) == [("x", "failed", "exit status 3, see bench-out")]
