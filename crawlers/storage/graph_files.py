"""Writes graphs to files by the name of a format, so that a file is never seen half written.

The text goes to a hidden file beside the target, which replaces the target when it is complete: whoever
opens the target, even after a kill or a power failure, finds the old file or the whole new one. A killed
writer's hidden file is removed when the same target is written next; two writers of one target don't
disturb each other, the last one wins. While writing, the folder holds up to twice the size of the file.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import secrets
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol

from crawlers.errors import ConfigError, StoreError
from crawlers.storage.gexf import write_gexf
from crawlers.storage.graph_csv import write_csv
from crawlers.storage.graphml import write_graphml

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator
    from pathlib import Path

    from crawlers.storage.graph_model import Graph, GraphSize

BUFFER_BYTES = 1 << 18
TOKEN = "[0-9a-f]" * 12  # as a pattern: what stands between the name and ".part"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class Writer(Protocol):
    """Writes a graph: to *out*, with *edges* as scratch space, or as a second file."""

    def __call__(
        self, graph: Graph, out: IO[bytes], edges: IO[bytes], date: datetime.date | None = None
    ) -> GraphSize: ...


class GraphFormat(NamedTuple):
    """A format: its writer and what its file names end with."""

    write: Writer
    ending: str
    edges_ending: str | None = None  # of the second file, in formats of two


FORMATS = {
    "gexf": GraphFormat(write_gexf, ".gexf"),
    "graphml": GraphFormat(write_graphml, ".graphml"),
    "csv": GraphFormat(write_csv, ".nodes.csv", ".edges.csv"),
}


def graph_format(name: str) -> GraphFormat:
    """Return the format called *name*; raise ConfigError if there is none."""
    try:
        return FORMATS[name]
    except KeyError:
        raise ConfigError(f"unknown graph format {name!r}: use one of {', '.join(FORMATS)}") from None


def graph_paths(base: Path, name: str) -> list[Path]:
    """Return the files that the format *name* makes of *base*, a path without ending.

    >>> from pathlib import Path
    >>> [path.name for path in graph_paths(Path("result/a.test_8600"), "csv")]
    ['a.test_8600.nodes.csv', 'a.test_8600.edges.csv']
    """
    format_ = graph_format(name)
    return [base.with_name(base.name + end) for end in (format_.ending, format_.edges_ending) if end]


def write_graph(graph: Graph, base: Path, name: str = "gexf", date: datetime.date | None = None) -> GraphSize:
    """Write *graph* in the format *name* to the files `graph_paths` tells, making the folder if need be.

    Of the two files of CSV each is replaced at once, first the edges, directly after them the nodes.
    Raises ConfigError if a file can't be made, StoreError if the disk fills up; the old files are
    untouched then.
    """
    paths = graph_paths(base, name)
    with ExitStack() as stack:
        out = stack.enter_context(replacing(paths[0]))
        edges = stack.enter_context(replacing(paths[1]) if len(paths) > 1 else _scratch(paths[0].parent))
        return graph_format(name).write(graph, out, edges, date)


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """Give a file to write to, which takes the place of *target* if the block ends without an error."""
    target = target.resolve()  # a symbolic link stays one
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
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL:
            raise StoreError(f"{target}: not written ({error.strerror}); make room and repeat") from error
        raise


@contextmanager
def _scratch(folder: Path) -> Iterator[IO[bytes]]:
    """Give a file without a name, which vanishes with the process."""
    with tempfile.TemporaryFile(dir=folder, buffering=BUFFER_BYTES) as stream:
        yield stream


def _open_part(target: Path) -> tuple[Path, IO[bytes]]:
    if target.exists() and not target.is_file():
        raise ConfigError(f"{target}: is there and is not a file; choose another name")
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(target)
    while True:
        part = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
        # os.open, unlike tempfile, lets the umask decide who may read the result.
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with suppress(OSError):  # a file system without locks: nobody can lock it, so nobody removes it
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return part, os.fdopen(descriptor, "wb", buffering=BUFFER_BYTES)
        os.close(descriptor)  # taken for a leftover between its making and its locking


def _remove_leftovers(target: Path) -> None:
    """Remove what killed writers of *target* left: a living one holds a lock."""
    for part in target.parent.glob(f".{glob.escape(target.name)}.{TOKEN}.part"):
        with suppress(OSError), part.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()
