"""Checks before a crawl whether its output files can be written; the checks leave no files behind.

A file is of a kind: it has one of the endings of its kind, and what it replaces or continues begins like that kind. So
no name that a setting or an option gives can overwrite a store, a list of sites, or code.
"""

from __future__ import annotations

import errno
import os
import re
import tempfile
from pathlib import Path
from typing import NamedTuple

from crawlers.errors import ConfigError

START_BYTES = 512
_ANYTHING = re.compile(b"")
_TEXT = re.compile(rb"[^\0]*\Z")  # not an SQLite file, nor an archive or a program


class Kind(NamedTuple):
    """The endings of files, and how those begin that are not empty."""

    endings: tuple[str, ...]
    start: re.Pattern[bytes] = _TEXT
    never: tuple[str, ...] = ()  # endings of files that programs read


CSV_LOG = Kind((".csv",), re.compile(rb"time,state,"))
CSV_TABLE = Kind((".csv",))
# A text may be a list of sites, unless it begins like a table: with names of columns, or with one and CR LF.
# Exporters and compressions may be those of a user, and the ending is free: `-o pages.tsv:csv`.
FEED = Kind(
    ("",),
    re.compile(rb"""[\[{<\x80\xdb\xfb\xef\xfe\xff]|\x1f\x8b|BZh|\xfd7zXZ|[\w "'-]+(\r\n|[,;\t][\w ,;\t"'-]*\r?\n)"""),
    (".py", ".pth", ".cfg", ".toml", ".yaml", ".yml"),
)
HTML = Kind((".html", ".htm"), re.compile(rb"\s*<!doctype html", re.IGNORECASE))
JSON = Kind((".json",), re.compile(rb"\s*[\[{]"))
LOG = Kind((".log", ".jsonl"))
PARQUET = Kind((".parquet",), re.compile(b"PAR1"))
PICTURE = Kind((".svg", ".png"), re.compile(rb"<\?xml|<svg|\x89PNG"))
PROCESS_NUMBER = Kind((".pid",), re.compile(rb"\d+\s*\Z"))
PROFILE = Kind((".cprofile", ".prof", ".pstats"), re.compile(rb"[{\xfb]"))  # a dictionary of marshal
RESULT = Kind(("",), _ANYTHING)  # a name that the program chose, in a folder that it was given
WARC = Kind((".warc.gz",), re.compile(rb"\x1f\x8b\x08"))


def check_folder(folder: Path, setting: str) -> None:
    """Raise `ConfigError` that names *setting* unless files can be created in *folder*, which need not exist."""
    try:
        _try_folder(folder)
    except OSError as error:
        raise ConfigError(
            f"{setting}={folder} can't be written ({error.strerror}); make it writable or name another folder"
        ) from error


def check_file(file: Path, setting: str, kind: Kind) -> None:
    """Raise `ConfigError` that names *setting* unless *file* can be created, or is of that *kind* and can be written.

    A symbolic link is judged by the file that it leads to.
    """
    target = Path(os.path.realpath(file))
    if not target.name.lower().endswith(kind.endings):
        raise ConfigError(f"{setting}={file} must end with {' or '.join(kind.endings)}; name another file")
    if target.name.lower().endswith(kind.never):
        raise ConfigError(f"{setting}={file} must not end with {target.suffix}; name another file")
    try:
        if not target.exists():
            _try_folder(target.parent)
        elif not target.is_file():
            raise ConfigError(f"{setting}={file} exists and is not a file; name another one")
        else:
            with target.open("r+b") as stream:
                start = stream.read(START_BYTES)
            if start and not kind.start.match(start):
                raise ConfigError(f"{setting}={file} is a file of something else; move it away, or name another one")
    except OSError as error:
        raise ConfigError(
            f"{setting}={file} can't be written ({error.strerror}); make it writable or name another file"
        ) from error


def _try_folder(folder: Path) -> None:
    # Creating a file is more reliable than checking permissions: root ignores them, and /proc accepts no files.
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(existing))
    with tempfile.TemporaryFile(dir=existing):
        pass
