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
    part, descriptor = _open_part(target, os.O_RDWR | os.O_CREAT)
    try:
        with _store_errors(target), os.fdopen(descriptor, "wb", buffering=BUFFER_BYTES) as stream:
            stream.truncate(0)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            part.replace(target)
    except BaseException:
        with suppress(OSError):  # the folder may be lost
            part.unlink()
        raise


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder to write to, which replaces the folder *target* if the block ends without an error.

    Whoever writes a file into it must flush that to the disk (fsync). A folder can't replace another one in a single
    step, so for an instant there is no *target*; a kill leaves the old folder, none, or the complete new one.
    """
    target = target.resolve()
    part, lock = _open_part(target, os.O_RDONLY | os.O_DIRECTORY)
    old = part.with_suffix(OLD)
    try:
        with _store_errors(target):
            rmtree(old, ignore_errors=True)
            for left in part.iterdir():
                rmtree(left)
            yield part
            if target.exists():
                target.replace(old)
            part.replace(target)
            rmtree(old, ignore_errors=True)
    except BaseException:
        rmtree(part, ignore_errors=True)
        raise
    finally:
        os.close(lock)


@contextmanager
def _store_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        remedy = "free some space" if error.errno in FULL else "make its folder writable"
        raise StoreError(f"{target}: not written ({error.strerror}); {remedy} and repeat") from error


def _open_part(target: Path, flags: int) -> tuple[Path, int]:
    """Return a file or folder that no other writer has, and its descriptor: a killed writer's, or a new one."""
    is_folder = bool(flags & os.O_DIRECTORY)
    if target.exists() and not (target.is_dir() if is_folder else target.is_file()):
        raise ConfigError(f"{target}: exists and is not a {'folder' if is_folder else 'file'}; choose another name")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        for number in count():
            part = target.with_name(f".{target.name}.{number}.part")
            if is_folder:
                part.mkdir(exist_ok=True)
            # os.open, unlike tempfile, lets the umask decide who may read the result.
            descriptor = os.open(part, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
            if _is_ours(descriptor, part):
                return part, descriptor
            os.close(descriptor)
    except OSError as error:
        raise ConfigError(f"{target}: can't be written ({error.strerror}); choose another folder") from error
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
