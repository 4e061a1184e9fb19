"""The kinds of files that the program writes: their endings, and how those begin that are not empty."""

from __future__ import annotations

import re
from typing import NamedTuple

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
