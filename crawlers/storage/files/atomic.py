"""Replaces files, and folders of files, atomically.

The content is written to a hidden file beside the target, which replaces the target when it is complete. So readers
of the target find the old file or the complete new one, even after a kill or a power failure. The hidden file of
a killed writer is used by the next writer of the same target. Two writers of one target do not disturb
each other; the last one wins. During a write, the folder needs space for both files.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import contextmanager, suppress
from itertools import count
from shutil import rmtree
from typing import IO, TYPE_CHECKING

from crawlers.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUFFER_BYTES = 1 << 18
OLD = ".old"  # of a folder that is just being replaced
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


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder to write to, which replaces the folder *target* if the block ends without an error.

    Whoever writes a file into it must flush that to the disk (fsync). A folder can't replace another one in a single
    step, so for an instant there is no *target*; a kill leaves the old folder, none, or the complete new one.
    """
    target = target.resolve()
    try:
        part, lock = _open_part_folder(target)
    except OSError as error:
        raise ConfigError(f"{target}: can't be written ({error.strerror}); choose another folder") from error
    try:
        yield part
        if target.exists():
            target.replace(part.with_suffix(OLD))
        part.replace(target)
        rmtree(part.with_suffix(OLD), ignore_errors=True)
    except BaseException as error:
        rmtree(part, ignore_errors=True)
        if isinstance(error, OSError):
            remedy = "free some space" if error.errno in FULL else "make its folder writable"
            raise StoreError(f"{target}: not written ({error.strerror}); {remedy} and repeat") from error
        raise
    finally:
        os.close(lock)


def _open_part_folder(target: Path) -> tuple[Path, int]:
    """Return an empty folder that no other writer has, and the descriptor that locks it."""
    if target.exists() and not target.is_dir():
        raise ConfigError(f"{target}: exists and is not a folder; choose another name")
    target.parent.mkdir(parents=True, exist_ok=True)
    for number in count():
        part = target.with_name(f".{target.name}.{number}.part")
        part.mkdir(exist_ok=True)
        descriptor = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        if _is_ours(descriptor, part):
            rmtree(part.with_suffix(OLD), ignore_errors=True)
            for left in part.iterdir():
                rmtree(left)
            return part, descriptor
        os.close(descriptor)
    raise AssertionError("unreachable")


def _open_part(target: Path) -> tuple[Path, IO[bytes]]:
    """Return a file that no other writer has: the one that a killed writer left, or a new one."""
    if target.exists() and not target.is_file():
        raise ConfigError(f"{target}: exists and is not a file; choose another name")
    target.parent.mkdir(parents=True, exist_ok=True)
    for number in count():
        part = target.with_name(f".{target.name}.{number}.part")
        # os.open, unlike tempfile, lets the umask decide who may read the result.
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        if _is_ours(descriptor, part):
            os.ftruncate(descriptor, 0)
            return part, os.fdopen(descriptor, "wb", buffering=BUFFER_BYTES)
        os.close(descriptor)
    raise AssertionError("unreachable")


def _is_ours(descriptor: int, part: Path) -> bool:
    """Lock the file, and return whether it is locked and still *part*: another writer may have renamed it just now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks: two writers of one target at the same time are not told apart
    try:
        return os.path.samestat(os.fstat(descriptor), part.stat())
    except FileNotFoundError:
        return False
