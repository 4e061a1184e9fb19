"""The program that the user typed, and the command that runs a crawl, for what messages suggest."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlers.mission import missions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "crawlers"  # see `crawlers.__main__`
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
    for mission in missions().values():
        message = message.replace(f"scrapy crawl {mission.name} -a {mission.argument}=", f"{NAME} {mission.name} ")
    return _COMMAND.sub(f"{NAME} ", message)


class CrawlCommand(NamedTuple):
    """`scrapy crawl SPIDER -a NAME=VALUE … -s NAME=VALUE …`."""

    spider: str
    arguments: Mapping[str, str]
    settings: Mapping[str, str]
    left_out: Sequence[str] = ()  # names of further settings that were given, whose values are not kept

    def words(self) -> list[str]:
        """Return the words behind `scrapy`.

        >>> CrawlCommand("broad", {"hosts": "hosts.txt"}, {"SCOPE": "all"}).words()
        ['crawl', 'broad', '-a', 'hosts=hosts.txt', '-s', 'SCOPE=all']
        """
        arguments = (("-a", f"{name}={value}") for name, value in self.arguments.items())
        settings = (("-s", f"{name}={value}") for name, value in self.settings.items())
        return ["crawl", self.spider, *(word for pair in (*arguments, *settings) for word in pair)]


def command_of(mission: str, manifest: Mapping[str, Any]) -> CrawlCommand:
    """Return the command by which a crawl of *mission* began, from its *manifest*."""
    command = manifest["command"]
    return CrawlCommand(mission, command["arguments"], command["settings"], command["left_out"])


class CrawlOrigin(NamedTuple):
    """Where a crawl comes from: its command, the software and settings in force, and the processes that run it."""

    versions: Mapping[str, str]  # of further software, by name
    command: CrawlCommand
    settings: Mapping[str, Any] = MappingProxyType({})  # in force: those that people may choose
    of_spider: Sequence[str] = ()  # names of those that the spider changes
    processes: int = 1  # which begin it together; the first one claims a part of its sites
    rejoins: int | None = None  # the number of the only crawl that this process may work on: it did so before
