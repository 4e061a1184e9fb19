"""What tests of the core take from the missions that are installed: none of them names one.

Tests about a mission, and what they alone need, lie in a folder `missions/NAME`: whoever removes the mission removes
these, too. Other tests that need a mission say which with `needs`; documents and the demo show `EVERY` one. A module
`for_core` in `tests/support/missions/NAME` has its `GIVEN`, `LEARNING` and `add_rows`.
"""

from importlib import import_module
from pathlib import Path

import pytest

from crawlers.mission import missions

FOLDER = Path(__file__).parent / "missions"


def for_core():
    """Return the modules `for_core` of the installed missions."""
    names = [name for name in missions() if (FOLDER / name / "for_core.py").is_file()]
    return [import_module(f"tests.support.missions.{name}.for_core") for name in names]


def needs(*names):
    """Return the mark of a test that is left out unless all these missions are installed."""
    return pytest.mark.skipif(not {*names} <= {*missions()}, reason=f"a mission of {', '.join(names)} is not installed")


EVERY = needs("sitegraph", "extlinks", "news", "topic", "broad")
