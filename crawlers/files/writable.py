"""Checks before a crawl whether its output files can be written; the checks leave no files behind.

A file is of a kind: it has one of the endings of its kind, and what it replaces or continues begins like that kind. So
no name that a setting or an option gives can overwrite a store, a list of sites, or code.
"""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError
from crawlers.options import SETTINGS
from crawlers.options.kinds import File

if TYPE_CHECKING:
    from crawlers.options.file_kinds import FileKind

START_BYTES = 512


def check_folder(folder: Path, setting: str) -> None:
    """Raise `ConfigError` that names *setting* unless files can be created in *folder*, which need not exist."""
    try:
        _try_folder(folder)
    except OSError as error:
        raise ConfigError(
            f"{setting}={folder} can't be written ({error.strerror}); make it writable or name another folder"
        ) from error


def check_file(file: Path, setting: str, kind: FileKind) -> None:
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


def check_setting_file(name: str, path: str) -> None:
    """Raise `ConfigError` unless *path* can be the file that the setting *name* declares, as in `check_file`."""
    kind = SETTINGS[name].kind
    assert isinstance(kind, File)
    assert kind.kind is not None
    check_file(Path(path), name, kind.kind)


def _try_folder(folder: Path) -> None:
    # Creating a file is more reliable than checking permissions: root ignores them, and /proc accepts no files.
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(existing))
    with tempfile.TemporaryFile(dir=existing):
        pass
