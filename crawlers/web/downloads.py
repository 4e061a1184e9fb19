"""Files that the panel sends: their types, their names, and large ones, which are written to the disk first."""

from __future__ import annotations

import tempfile
from functools import partial
from typing import IO, TYPE_CHECKING

from starlette.responses import StreamingResponse

from crawlers.reports.catalogue.exporting import PARQUET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawlers.storage.queries import NamedCrawl

READ_BYTES = 1 << 16
TABLE_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl",
    PARQUET: "application/vnd.apache.parquet",
}
GRAPH_TYPES = {"gexf": "application/gexf+xml", "graphml": "application/graphml+xml"}


def saved_as(name: str) -> dict[str, str]:
    """Return the headers with which browsers save a response under *name*, in ASCII."""
    return {"content-disposition": f'attachment; filename="{name}"'}


def written_file(write: Callable[[IO[bytes]], object], media_type: str, name: str) -> StreamingResponse:
    """Return the file called *name* that *write* writes, to a temporary file first.

    So clients that take their time keep no connection to the store. The file has no name on the disk, and is gone when
    it was sent, or when the panel ends.
    """
    out = tempfile.TemporaryFile()  # noqa: SIM115 - `_parts` closes it
    try:
        write(out)
    except BaseException:
        out.close()
        raise
    return StreamingResponse(_parts(out), media_type=media_type, headers=saved_as(name))


def graph_file(write: Callable[[IO[bytes], IO[bytes]], object], format_: str, name: str) -> StreamingResponse:
    """Return the file called *name* that *write* writes: a graph, and its edges as a second, temporary file."""
    with tempfile.TemporaryFile() as edges:
        return written_file(lambda out: write(out, edges), GRAPH_TYPES[format_], name)


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        yield from iter(partial(file.read, READ_BYTES), b"")


def file_name(crawl: NamedCrawl, name: str) -> str:
    """Return the name of a file about a crawl, without its format; it has letters, digits and hyphens."""
    letters = (letter if letter.isascii() and letter.isalnum() else "-" for letter in crawl.name)
    return f"{''.join(letters)[:60]}-{crawl.id}-{name}"
