"""Checks before a crawl whether its output files can be written; the checks leave no files behind."""

from __future__ import annotations

import errno
import os
import tempfile
from typing import TYPE_CHECKING

from crawlers.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def check_folder(folder: Path, setting: str) -> None:
    """Raise `ConfigError` that names *setting* unless files can be created in *folder*, which need not exist."""
    try:
        _try_folder(folder)
    except OSError as error:
        raise ConfigError(
            f"{setting}={folder} can't be written ({error.strerror}); make it writable or name another folder"
        ) from error


def check_file(file: Path, setting: str) -> None:
    """Raise `ConfigError` that names *setting* unless *file* can be appended to or created."""
    try:
        if file.exists():
            file.open("ab").close()
        else:
            _try_folder(file.parent)
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
