"""Replaces files, and folders of files, atomically; checks before a crawl whether that will be possible; names them.

The content is written to a hidden file beside the target, which replaces the target when it is complete. So readers
of the target find the old file or the complete new one, even after a kill or a power failure. The hidden file of
a killed writer is used by the next writer of the same target. Two writers of one target do not disturb
each other; the last one wins. During a write, the folder needs space for both files.

The checks leave no files behind. A file is of a kind: it has one of the endings of its kind, and what it replaces or
continues begins like that kind. So no name that a setting or an option gives can overwrite a store, a list of sites, or
code. A site's results have a name, and so have the files that each worker of a crawl has for itself.
"""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from shutil import rmtree
from typing import IO, TYPE_CHECKING
from urllib.parse import quote

from crawlers.errors import ConfigError, StoreError
from crawlers.options import SETTINGS
from crawlers.options.kinds import File
from crawlers.urls.keys import url_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawlers.options.kinds import FileKind

START_BYTES = 512


def check_parquet(setting: str) -> None:
    """Raise a `ConfigError` that names *setting* if Parquet files can't be written on this system."""
    if find_spec("pyarrow") is None:
        raise ConfigError(f"{setting} needs pyarrow, which is not installed; run pip install pyarrow")


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
    return identity_of(part) == identity_of(descriptor)


def identity_of(file: Path | int) -> tuple[int, int] | None:
    """Return what tells a file, given by its path or descriptor, from one that replaces it; None: it is gone."""
    try:
        status = os.stat(file)  # noqa: PTH116 - it may be a descriptor
    except OSError:
        return None
    return status.st_dev, status.st_ino


PACKED = (".gz", ".bz2", ".xz", ".zst")
MAX_STEM = 200  # a file name has 255 bytes at most, and a suffix


def file_stem(site: str, sites: Collection[str] = (), folder: str = "") -> str:
    """Return the file name, without extension, for *site*, given as `urls.site_of` returns it.

    It is the host, followed by `_port` if the site has a port. An https site also gets the suffix `_https` if *sites*,
    all sites of the crawl, contains the same host and port with http. Underscores of the host are doubled, so that
    no two sites share a name; an IPv6 address has `-` in place of `:` and the prefix `ipv6_`. The *folder* (/a/b/) in
    which the crawl stayed follows behind `+`, which hosts can't contain, with `+` between its parts.

    >>> file_stem("http://a.example:81", folder="/docs/v1/")
    'a.example_81+docs+v1'
    >>> file_stem("http://apache2.test:8600"), file_stem("https://a.example", ["http://a.example"])
    ('apache2.test_8600', 'a.example_https')
    """
    scheme, _, authority = site.partition("://")
    host, _, port = authority.partition(":")
    if authority.startswith("["):
        address, _, port = authority[1:].partition("]")
        host, port = "ipv6_" + address.replace(":", "-"), port[1:]
    else:
        host = host.replace("_", "__")
    stem = f"{host}_{port}" if port else host
    if folder:
        stem = "+".join([stem, *(quote(part, safe="%") for part in folder[1:-1].split("/"))])
    if len(stem) > MAX_STEM:
        stem = f"{stem[: MAX_STEM - 20]}_{url_key(stem) & (1 << 64) - 1:016x}"
    return f"{stem}_https" if scheme == "https" and f"http://{authority}" in sites else stem


def of_worker(name: str, number: int) -> str:
    """Return the name, path or URI of a file with the number of a worker, before its ending.

    >>> of_worker("out.d/crawl.warc.gz", 17), of_worker("file:///tmp/pages.csv", 2), of_worker("pages", 2)
    ('out.d/crawl.17.warc.gz', 'file:///tmp/pages.2.csv', 'pages.2')
    """
    folder, slash, last = name.rpartition("/")
    stem, _, ending = last.rpartition(".")
    if f".{ending}" in PACKED and "." in stem:
        stem, _, kind = stem.rpartition(".")
        ending = f"{kind}.{ending}"
    return f"{folder}{slash}{stem}.{number}.{ending}" if stem else f"{folder}{slash}{last}.{number}"
