"""The command that runs a crawl: its spider, the arguments of that, and settings."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlers.options import OFFERED
from crawlers.options.typed_values import typed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
    """Return the command by which a crawl of *mission* began, from its *manifest*.

    What plain Scrapy or an earlier version stored names its seeds only; then all settings that it recorded are given
    which are not the defaults of today.
    """
    command = manifest.get("command")
    if command is not None:
        return CrawlCommand(mission, command["arguments"], command["settings"], command.get("left_out", ()))
    recorded = {name: typed(value) for name, value in manifest.get("settings", {}).items()}
    changed = {name: text for name, text in recorded.items() if name in OFFERED and text != OFFERED[name].default_text}
    return CrawlCommand(mission, {"hosts": ",".join(manifest.get("seeds", ()))}, changed)


class CrawlOrigin(NamedTuple):
    """Where a crawl comes from."""

    versions: Mapping[str, str]  # of further software, by name
    command: CrawlCommand
    settings: Mapping[str, Any] = MappingProxyType({})  # in force: those that people may choose
    of_spider: Sequence[str] = ()  # names of those that the spider changes
