"""What a mission declares: light, because commands, forms and messages read it of all missions.

A mission is a package in `crawlers.missions`, whose `__init__` has its `MISSION`. The rest is named, and imported when
it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules, resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class OwnOrder(NamedTuple):
    """An order of pages that a mission adds; all missions can use it that give what it needs."""

    needs: str  # in words
    function: str  # "module:name" in the package of the mission; it takes the settings, and what the order needs


@dataclass(frozen=True, slots=True)
class Mission:
    """The declarations of the mission *name*, which the command *start* begins."""

    name: str
    start: str
    gives: frozenset[str] = frozenset()  # what orders may need, in words
    orders: Mapping[str, OwnOrder] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)  # what to do instead of using an order, by its name
    #: What is recorded like a setting and can't change, and the function that says how two values of it differ.
    fixed: Mapping[str, str] = field(default_factory=dict)
    schema: str = ""  # the module with its tables
    reports: Sequence[str] = ()  # modules with reports
    pictures: Sequence[str] = ()  # modules with pictures
    summary: str = ""  # a function of a crawl, see `crawl_summary`
    results: str = ""  # a function of store and crawl: how much was found, for the live display
    history: str = ""  # a function of a page, see `url_history`
    scores: str = ""  # likewise, see `score_history`
    links: str = ""  # a function of a connection and a crawl: what it knew of links at first; None: as others
    guesses: str = ""  # paths that are requested although no site names them
    panel: Sequence[str] = ()  # modules with pages of the panel
    actions: str = ""  # of `scrapy sites`: `Action` by name
    sources: str = ""  # a function of settings and a file that adds the sites of sources.yaml to the store
    source_results: str = ""  # a function of settings that prints what was found of these, for `list --sources`
    search: str = ""  # a function that finds what was stored by its words, see `commands.explain`
    lab: str = ""  # its module in `crawlers.lab`, with a part of the laboratory of this name
    words: str = ""  # further texts of the panel: words that its tables have
    local_files: str = ""  # a function of a text of its input: the files that it names
    after: str = ""  # what the summary of a crawl proposes at the end; {graph} stands for that command
    tables: Sequence[str] = ()  # result tables that are usual
    joined: Sequence[str] = ()  # those of them that are one for all sites

    def part(self, name: str) -> Any:
        """Return the part "module:name", or module, of the mission, which is imported now."""
        return resolve_name(f"crawlers.missions.{self.name}.{name}")


@cache
def missions() -> Mapping[str, Mission]:
    """Return the missions that are installed, by name."""
    names = sorted(found.name for found in iter_modules(import_module("crawlers.missions").__path__))
    return {name: import_module(f"crawlers.missions.{name}").MISSION for name in names}


def mission_named(name: str) -> Mission:
    """Return the mission of that name; one without declarations if it is that of a foreign spider, or was removed."""
    return missions().get(name) or Mission(name, "")
