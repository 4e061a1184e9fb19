"""What `make bench` runs exists."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from bench.__main__ import COMMANDS


@pytest.mark.parametrize("name", sorted({command[0] for command in COMMANDS} | {"bench.speed.newcomer"}))
def test_listed_measurement_exists(name):
    assert find_spec(name) is not None
    assert name in {command[0] for command in COMMANDS}
