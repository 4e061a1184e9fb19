"""The program that the user typed, and the command that runs a crawl, for what messages suggest.

A worker is told by the command that started it with others, or by itself when it begins again, in variables of its
environment.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlers import __version__
from crawlers.mission import missions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlers.items import SiteLimits

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


class CrawlOrigin(NamedTuple):
    """Where a crawl comes from: its command, the software and settings in force, and the processes that run it."""

    versions: Mapping[str, str]  # of further software, by name
    command: CrawlCommand
    settings: Mapping[str, Any] = MappingProxyType({})  # in force: those that people may choose
    of_spider: Sequence[str] = ()  # names of those that the spider changes
    processes: int = 1  # which begin it together; the first one claims a part of its sites
    rejoins: int | None = None  # the number of the only crawl that this process may work on: it did so before

    def manifest(self, settings: Mapping[str, Any], seeds: Sequence[SiteLimits]) -> dict[str, Any]:
        """Return what is stored of a crawl of *seeds* by which it can be repeated, as JSON; *settings* determine it."""
        return {
            "versions": {
                "crawlers": __version__,
                **self.versions,
                "python": sys.version.split()[0],
                "platform": platform.platform(),
            },
            "settings": {**settings},
            "further_settings": {name: value for name, value in self.settings.items() if name not in settings},
            "of_spider": [*self.of_spider],
            "seeds": [limits.site for limits in seeds],
            "site_options": {one.site: {**one.options} for one in seeds if one.options},
            "command": {
                "arguments": {**self.command.arguments},
                "settings": {**self.command.settings},
                "left_out": [*self.command.left_out],
            },
        }


PLACE = "CRAWLERS_WORKER"
SUMMARY = "CRAWLERS_SUMMARY"
CRAWL = "CRAWLERS_CRAWL"


class WorkerPlace(NamedTuple):
    """The place of a worker among those of one command on this machine.

    Its standard input is a pipe of that command: when it ends, the worker stops gracefully.
    """

    number: int  # from 1 on; a worker that takes the place of a dead one has the same number
    workers: int  # of the command
    summary: Path  # where the worker that ends the crawl writes the summary, which the command shows

    def environment(self) -> dict[str, str]:
        """Return the variables that tell a worker its place."""
        return {PLACE: f"{self.number}/{self.workers}", SUMMARY: str(self.summary)}


def worker_place(environment: Mapping[str, str] = os.environ) -> WorkerPlace | None:
    """Return the place of this process; None if it was not started by a command for several workers.

    >>> worker_place({"CRAWLERS_WORKER": "2/4", "CRAWLERS_SUMMARY": "summary.txt"}).number
    2
    >>> worker_place({}) is None
    True
    """
    if PLACE not in environment:
        return None
    number, _, workers = environment[PLACE].partition("/")
    return WorkerPlace(int(number), int(workers), Path(environment[SUMMARY]))


def crawl_to_join(environment: Mapping[str, str] = os.environ) -> int | None:
    """Return the number of the crawl that this process joins, and of which it begins no successor; None: any.

    >>> crawl_to_join({"CRAWLERS_CRAWL": "3"}), crawl_to_join({})
    (3, None)
    """
    return int(environment[CRAWL]) if CRAWL in environment else None
