"""What a setting is declared as: its kind checks a value, as it is typed or in a file, and says what may be written.

Kinds of files have endings, and how those begin that are not empty.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, ClassVar, NamedTuple


def typed(value: Any) -> str:
    """Return *value* of a setting as people type it behind -s NAME=.

    >>> typed(True), typed(None), typed(["a", "b"]), typed(1.5)
    ('1', '', 'a,b', '1.5')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return json.dumps(value) if isinstance(value, dict) else str(value)


MOST = 2**31 - 1  # of a number: what databases store as integers; as seconds 68 years


@dataclass(frozen=True, slots=True)
class Kind:
    """Anything; *says* what it is. With *or_none*, a value may be missing."""

    says: str = "A text"
    or_none: bool = False
    most_chars: ClassVar[int] = 4096  # more than a path may have (PATH_MAX of Linux)

    @property
    def description(self) -> str:
        """What may be written, for the documentation."""
        return self.says

    @property
    def choices(self) -> tuple[str, ...]:
        """The names that may be written, if there are few."""
        return ()

    def problem(self, value: Any) -> str:
        """Return what is wrong with a *value* behind NAME=, and what to write; "": nothing is."""
        return "" if self.or_none and value in (None, "", "None") else self._problem(value)

    def _problem(self, value: Any) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Text(Kind):
    """A text that matches *like*; *such* is an example."""

    like: str = ""
    such: str = ""

    def _problem(self, value: Any) -> str:
        if self.like and not re.fullmatch(self.like, str(value)):
            return f" is not {self.says[:1].lower()}{self.says[1:]}; write for example {self.such}"
        return "" if self.like or isinstance(value, str) else " is not a text; write one in quotes"


class Switch(Kind):
    """0 or 1."""

    @property
    def description(self) -> str:
        return "0 or 1"

    def _problem(self, value: Any) -> str:
        return "" if str(value).lower() in ("0", "1", "false", "true") else " must be 0 or 1"  # Scrapy takes 7 for true


@dataclass(frozen=True, slots=True)
class Number(Kind):
    """A number from *least* to *most*, both included; with *above*, larger than *least*."""

    least: float = 0
    most: float = MOST
    above: bool = False
    number: ClassVar[type[float]] = float
    noun: ClassVar[str] = "number"

    @property
    def description(self) -> str:
        return f"{self._range(self.most < MOST).capitalize()}{'; empty: None' if self.or_none else ''}"

    def _range(self, is_narrow: bool) -> str:
        first = f"a {self.noun} {'above ' if self.above else 'from ' if is_narrow else 'of '}{self.least:g}"
        if is_narrow:
            return f"{first} {'and at most' if self.above else 'to'} {self.most:.10g}"
        return first if self.above else f"{first} or more"

    def _problem(self, value: Any) -> str:
        try:
            number = math.nan if isinstance(value, bool) else self.number(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isnan(number) or (isinstance(value, float) and number != value):
            return f" is not a {self.noun}; write {self._range(self.most < MOST)}"
        if self.least <= number <= self.most and not (self.above and number == self.least):
            return ""
        return f" is out of range; write {self._range(self.most < MOST or self.most < number < math.inf)}"


class Whole(Number):
    """A whole number, likewise."""

    number = int
    noun = "whole number"


@dataclass(frozen=True, slots=True)
class Choice(Text):
    """One of the *names*, or of a registry *of* the program, "module:NAME", which checks names when they are used.

    The registry may be a function that returns the names.
    """

    says: str = "A name"
    names: tuple[str, ...] = ()
    of: str = ""
    or_file: bool = False

    @property
    def known(self) -> tuple[str, ...]:
        """All names."""
        found = resolve_name(f"crawlers.{self.of}") if self.of else self.names
        return tuple(filter(None, found() if callable(found) else found))

    @property
    def choices(self) -> tuple[str, ...]:
        return self.known

    @property
    def description(self) -> str:
        names = f" out of {', '.join(self.known)}" if self.of or self.names else ""
        return f"{self.says}{names}{', or a path' if self.or_file else ''}"

    def _problem(self, value: Any) -> str:
        if self.names and value not in self.names and not self.or_file:
            return f" is unknown; write {', '.join(self.names[:-1])} or {self.names[-1]}"
        return Text._problem(self, value)


@dataclass(frozen=True, slots=True)
class Names(Choice):
    """A list of such names, or of texts: the items have one of the *types*."""

    types: tuple[type, ...] = (str,)
    most_chars: ClassVar[int] = 100_000

    @property
    def choices(self) -> tuple[str, ...]:
        return ()  # of one name

    def _problem(self, value: Any) -> str:
        items = value.split(",") if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)) or not all(isinstance(one, self.types) for one in items):
            return ' must be a list, such as ["a", "b"]'
        texts = [str(one).strip() for one in items]
        if self.of and (unknown := sorted({*texts} - {*self.known, ""})):
            return f" has {', '.join(repr(one[:60]) for one in unknown[:3])}; choose out of: {', '.join(self.known)}"
        if self.like and not (texts and all(re.fullmatch(self.like, one) for one in texts)):
            return f" has no {self.says.lower()}; write some, such as {self.such}"
        return ""


@dataclass(frozen=True, slots=True)
class Table(Kind):
    """Values by name; with *of_texts*, only texts."""

    of_texts: bool = False
    most_chars: ClassVar[int] = 100_000

    def _problem(self, value: Any) -> str:
        try:
            found = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, Mapping):
            return ' is not an object of JSON; write {"name": value}'
        has_others = self.of_texts and not all(isinstance(one, str) for one in found.values())
        return ' has a value that is not a text; write {"name": "text"}' if has_others else ""


@dataclass(frozen=True, slots=True)
class File(Text):
    """The path of an output of a kind; None: of one that is only looked for."""

    kind: FileKind | None = None

    @property
    def description(self) -> str:
        endings = " or ".join(filter(None, self.kind.endings)) if self.kind else ""
        return f"A path that ends with {endings}" if endings else "A path"

    def _problem(self, value: Any) -> str:
        try:
            Path("" if value is None else value).exists()
        except (OSError, TypeError) as error:
            return f" can't be a file ({error.strerror if isinstance(error, OSError) else error}); name another one"
        return ""


def kind_of(example: Any) -> Kind:
    """Return the kind of a setting of Scrapy with the value *example*.

    >>> kind_of(3).problem("x")
    ' is not a whole number; write a whole number of 0 or more'
    """
    lists = ((list, tuple), lambda: Names(types=(str, int)))
    kinds = ((bool, Switch), (int, Whole), (float, Number), (dict, Table), lists, (str, Text))
    return next((kind() for types, kind in kinds if isinstance(example, types)), Kind())


_ANYTHING = re.compile(b"")
_TEXT = re.compile(rb"[^\0]*\Z")  # not an SQLite file, nor an archive or a program


class FileKind(NamedTuple):
    """The endings of files, and how those begin that are not empty."""

    endings: tuple[str, ...]
    start: re.Pattern[bytes] = _TEXT
    never: tuple[str, ...] = ()  # endings of files that programs read


CSV_LOG = FileKind((".csv",), re.compile(rb"time,state,"))
CSV_TABLE = FileKind((".csv",))
# A text may be a list of sites, unless it begins like a table: with names of columns, or with one and CR LF.
# Exporters and compressions may be those of a user, and the ending is free: `-o pages.tsv:csv`.
FEED = FileKind(
    ("",),
    re.compile(rb"""[\[{<\x80\xdb\xfb\xef\xfe\xff]|\x1f\x8b|BZh|\xfd7zXZ|[\w "'-]+(\r\n|[,;\t][\w ,;\t"'-]*\r?\n)"""),
    (".py", ".pth", ".cfg", ".toml", ".yaml", ".yml"),
)
HTML = FileKind((".html", ".htm"), re.compile(rb"\s*<!doctype html", re.IGNORECASE))
JSON = FileKind((".json",), re.compile(rb"\s*[\[{]"))
LOG = FileKind((".log", ".jsonl"))
PARQUET = FileKind((".parquet",), re.compile(b"PAR1"))
PICTURE = FileKind((".svg", ".png"), re.compile(rb"<\?xml|<svg|\x89PNG"))
PROCESS_NUMBER = FileKind((".pid",), re.compile(rb"\d+\s*\Z"))
PROFILE = FileKind((".cprofile", ".prof", ".pstats"), re.compile(rb"[{\xfb]"))  # a dictionary of marshal
RESULT = FileKind(("",), _ANYTHING)  # a name that the program chose, in a folder that it was given
WARC = FileKind((".warc.gz",), re.compile(rb"\x1f\x8b\x08"))


class Reach(Enum):
    """What a setting is about."""

    RESULTS = "results depend on it: it is part of what a crawl records of itself"
    CRAWL = "one crawl, and not what its pages are"
    MACHINE = "where a crawl runs: the panel does not offer it"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting; *help* is a phrase with the unit, and with what 0 or an empty value means, if it means something else.

    Its text in docs/details/settings.md says what else there is to know.
    """

    name: str
    default: Any
    kind: Kind
    reach: Reach = Reach.CRAWL
    help: str = ""
    group: str = ""

    def says(self, text: str) -> Setting:
        """Return the setting with its help."""
        return replace(self, help=text)

    @property
    def is_output(self) -> bool:
        """Whether it names a file, which the panel does not take."""
        return isinstance(self.kind, File)

    @property
    def default_text(self) -> str:
        """The default as it is typed."""
        return typed(self.default)


def group(title: str, *settings: Setting) -> tuple[Setting, ...]:
    """Return *settings* with the heading under which people find them."""
    return tuple(replace(one, group=title) for one in settings)


def by_name(said: Mapping[str, str]) -> dict[str, str]:
    """Return what is *said* about settings, each sentence with the names that it is about, by name.

    >>> by_name({"see the file": "A B"})
    {'A': 'see the file', 'B': 'see the file'}
    """
    return {name: sentence for sentence, names in said.items() for name in names.split()}
