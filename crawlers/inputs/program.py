"""The program that the user typed, for commands that messages suggest."""

from __future__ import annotations

import re
import sys
from pathlib import Path

NAME = "crawlers"  # see `crawlers.__main__`
_MISSION = re.compile(r"\bscrapy crawl (\w+) -a (?:hosts|sources|topic)=")
_COMMAND = re.compile(
    r"\bscrapy (crawl\b ?|(?=(?:graph|report|explain|web|sites|workers|lab|shell|fetch|parse|view|check|bench)\b))"
)


def program() -> str:
    """Return `crawlers` if the user typed that, which finds the settings in any folder, and otherwise `scrapy`."""
    return NAME if Path(sys.argv[0]).stem == NAME else "scrapy"


def suggested(message: str) -> str:
    """Return *message*, which names commands of `scrapy`, with those of the program that the user typed.

    With `crawlers`, `scrapy crawl news -a sources=sources.yaml` is `crawlers news sources.yaml`.
    """
    if program() != NAME:
        return message
    return _COMMAND.sub(f"{NAME} ", _MISSION.sub(rf"{NAME} \1 ", message))
