"""What a table is: columns with names, kinds and meanings. Terminals, files, pages and the reference are made of it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from crawlers.files.cells import Value

Cells = tuple["Value", ...]


class Kind(Enum):
    """What the cells of a column hold, which decides how they look; None is an empty cell of each kind."""

    TEXT = "text"
    URL = "URL"
    NUMBER = "number"  # whole, such as a level
    COUNT = "count"  # of things that have a sum
    DECIMAL = "decimal"
    BYTES = "bytes"
    SECONDS = "seconds"  # a duration
    TIME = "time"  # seconds since 1970
    STATE = "state"  # of a URL or a site: a word that is translated
    REASON = "reason"  # a stored reason, of which people read the sentence
    SAID = "sentences"  # a tuple of `Said`, which are translated
    TITLE = "title"  # of the document whose number is the first cell of the row
    RULE = "rule"  # for URLs of the site in the first cell of the row


NUMERIC = frozenset({Kind.NUMBER, Kind.COUNT, Kind.DECIMAL, Kind.BYTES, Kind.SECONDS})

SUMMED = frozenset({Kind.COUNT, Kind.BYTES})


class Column(NamedTuple):
    """A column of a table."""

    name: str  # in files
    title: str  # for people, in English: translations are found by it
    kind: Kind = Kind.TEXT
    value: Any = None  # the expression of SQL that is read, if the cells are computed by the database
    about: str = ""  # what it means, if its title does not say everything
