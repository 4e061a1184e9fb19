"""The program that the user typed, for commands that messages suggest."""

from __future__ import annotations

import sys
from pathlib import Path

NAME = "crawlers"  # see `crawlers.__main__`


def program() -> str:
    """Return `crawlers` if the user typed that, which finds the settings in any folder, and otherwise `scrapy`."""
    return NAME if Path(sys.argv[0]).stem == NAME else "scrapy"
