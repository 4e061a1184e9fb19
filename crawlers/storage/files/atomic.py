"""Replaces files atomically.

The content is written to a hidden file beside the target, which replaces the target when it is complete. So readers
of the target find the old file or the complete new one, even after a kill or a power failure. The hidden file of
a killed writer is removed when the same target is written next. Two writers of one target do not disturb
each other; the last one wins. During a write, the folder needs space for both files.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import secrets
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from crawlers.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUFFER_BYTES = 1 << 18
TOKEN = "[0-9a-f]" * 12  # glob pattern of the part between the name and ".part"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write to, which replaces *target* if the block ends without an error."""
    target = target.resolve()  # a symbolic link is kept
    try:
        part, stream = _open_part(target)
    except OSError as error:
        raise ConfigError(f"{target}: can't be written ({error.strerror}); choose another folder") from error
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            part.replace(target)
    except BaseException as error:
        with suppress(OSError):  # the folder may be lost
            part.unlink()
        if isinstance(error, OSError):
            remedy = "free some space" if error.errno in FULL else "make its folder writable"
            raise StoreError(f"{target}: not written ({error.strerror}); {remedy} and repeat") from error
        raise


def _open_part(target: Path) -> tuple[Path, IO[bytes]]:
    if target.exists() and not target.is_file():
        raise ConfigError(f"{target}: exists and is not a file; choose another name")
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target)
    while True:
        part = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
        # os.open, unlike tempfile, lets the umask decide who may read the result.
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with suppress(OSError):  # on a file system without locks, no process can lock the file, so none removes it
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return part, os.fdopen(descriptor, "wb", buffering=BUFFER_BYTES)
        os.close(descriptor)  # removed as a leftover between its creation and its locking


def _remove_leftovers(target: Path) -> None:
    """Remove the files of killed writers of *target*; a running writer holds a lock on its file."""
    for part in target.parent.glob(f".{glob.escape(target.name)}.{TOKEN}.part"):
        with suppress(OSError), part.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()
