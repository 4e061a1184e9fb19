"""What a mission declares: light, because commands, forms and messages read it of all missions.

A mission of the project is a package in `crawlers.missions`, whose `__init__` has its `MISSION`; that of a user is a
module that calls `add`. Their parts are named, and imported when they are used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules, resolve_name
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from crawlers.options.kinds import Setting

Part = Literal[
    "tables",  # modules with its tables
    "reports",  # modules with reports that its crawls list
    "pictures",  # modules with pictures
    "panel",  # modules with pages of the panel
    "summary",  # a function of a crawl, see `crawl_summary`
    "results",  # a function of store and crawl: how much was found, for the live display
    "history",  # a function of a page, see `url_history`
    "scores",  # likewise, see `score_history`
    "guesses",  # paths that are requested although no site names them
    "actions",  # of `scrapy sites`: `Action` by name
    "sources",  # a function of settings and a file that adds the sites of sources.yaml to the store
    "source_results",  # a function of settings that prints what was found of these, for `list --sources`
    "search",  # a module that finds what was stored by its words, see `commands.explain`
    "words",  # further texts of the panel: words that its tables have
    "lab",  # a module that adds a part of its name to `scrapy lab`, see `lab.options.LabPart`
    "local_files",  # a function of a text of its input: the files that it names
]


class OwnOrder(NamedTuple):
    """An order of pages that a mission adds; all missions can use it that give what it needs."""

    needs: str  # in words
    function: str  # named like a part; it takes the settings, and what the order needs


@dataclass(frozen=True, slots=True)
class Mission:
    """The declarations of the mission *name*."""

    name: str
    about: str = ""  # what its crawls find
    argument: str = "hosts"  # of -a: its input
    file: str = "hosts.txt"  # the usual name of that
    further: str = ""  # what people type besides
    reads_store: bool = False  # without input it crawls the sites of the store
    place: int = 99  # among the missions, in lists
    stays_within_sites: bool = False  # no link leads to a page of another site of the crawl
    gives: frozenset[str] = frozenset()  # what orders may need, in words
    orders: Mapping[str, OwnOrder] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)  # what to do instead of using an order, by its name
    #: What to do instead of using settings of earlier versions: names, with blanks between, by the sentence.
    removed: Mapping[str, str] = field(default_factory=dict)
    #: What is recorded like a setting and can't change, and the function that says how two values of it differ.
    fixed: Mapping[str, str] = field(default_factory=dict)
    after: str = ""  # what the summary of a crawl proposes at the end; {graph} stands for that command
    tables: Sequence[str] = ()  # result tables that are usual
    joined: Sequence[str] = ()  # those of them that are one for all sites
    reports: Sequence[str] = ()  # reports of the core that only crawls of such missions list
    #: Metrics with a label: name, text, label, and the stats by the values of that.
    counters: Sequence[tuple[str, str, str, Mapping[str, str]]] = ()
    parts: Mapping[Part, str] = field(default_factory=dict)  # "module" or "module:name", several with blanks between
    package: str | None = None  # of the modules; None: crawlers.missions.NAME

    @property
    def start(self) -> str:
        """The command that begins a crawl."""
        return f"scrapy crawl {self.name} -a {self.argument}={self.file}"

    def resolve(self, path: str) -> Any:
        """Return a module or function that the mission names, which is imported now. Raises `ConfigError`."""
        package = f"crawlers.missions.{self.name}" if self.package is None else self.package
        try:
            return resolve_name(f"{package}.{path}".removeprefix("."))
        except (ImportError, AttributeError) as error:
            raise ConfigError(f"the mission {self.name} names {path}, which fails: {error}; correct it") from error

    def all_parts(self, kind: Part) -> list[Any]:
        """Return the parts of a kind."""
        return [self.resolve(path) for path in self.parts.get(kind, "").split()]

    def part(self, kind: Part) -> Any:
        """Return the only part of a kind; None if there is none."""
        return next(iter(self.all_parts(kind)), None)


_ADDED: dict[str, Mission] = {}


def add(mission: Mission, settings: Iterable[Setting] = ()) -> None:
    """Let the program know a mission of the user, with *settings* of its own. Raises `ConfigError`."""
    from crawlers.options import declare  # which looks for the settings of missions itself

    if mission.name in [one.name for one in installed()]:
        raise ConfigError(f"the mission {mission.name} is installed; give yours another name")
    _ADDED[mission.name] = mission
    declare(settings)


@cache
def installed() -> list[Mission]:
    """Return the missions of the program."""
    found = iter_modules(import_module("crawlers.missions").__path__)
    return [import_module(f"crawlers.missions.{one.name}").MISSION for one in found]


def missions() -> Mapping[str, Mission]:
    """Return the missions that are installed or were added, by name."""
    known = sorted([*installed(), *_ADDED.values()], key=lambda one: (one.place, one.name))
    return {one.name: one for one in known}


def parts_of_all(kind: Part) -> list[Any]:
    """Return the parts of a kind of all missions."""
    return [part for mission in missions().values() for part in mission.all_parts(kind)]


def first_crawl(hosts: str = "example.org") -> str:
    """Return a command that crawls *hosts*, for people who look for one."""
    name = next((one.name for one in missions().values() if one.argument == "hosts"), "NAME")
    return f"scrapy crawl {name} -a hosts={hosts}"


def mission_named(name: str) -> Mission:
    """Return the mission of that name; one without declarations if it is that of a foreign spider, or was removed."""
    return missions().get(name) or Mission(name)
