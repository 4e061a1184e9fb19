"""Files that the panel sends: their types, their names, and their turns; large ones are written to the disk first.

One of them is a graph as one HTML file that opens without a network: data, sigma.js and our script are inside, and its
policy allows these scripts by their hashes, and no others.
"""

from __future__ import annotations

import base64
import hashlib
import json
import tempfile
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from crawlers.files.atomic import check_parquet
from crawlers.files.csv_tables import clean
from crawlers.reports.catalogue.renderers import FORMATS, PARQUET
from crawlers.web.panel import known, panel_of, template

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence

    from starlette.requests import Request

    from crawlers.graphs.crawl_map import GraphMap
    from crawlers.reports.catalogue.report import Cells, Column
    from crawlers.store.reading.queries import NamedCrawl

STATIC = Path(__file__).parent / "static"
SCRIPTS = ("vendor/graphology.min.js", "vendor/sigma.min.js", "graph_map.js")
STYLE = "graph_map.css"


def standalone_graph(graph: GraphMap) -> str:
    """Return the file that shows *graph*; equal graphs give equal files."""
    scripts = [_read(name) for name in SCRIPTS]
    style = _read(STYLE)
    allowed = " ".join(map(_hash, scripts))
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    return template("standalone_graph.html").render(
        graph=graph,
        policy=policy,
        style=Markup(style),  # noqa: S704 - files of ours
        scripts=[Markup(script) for script in scripts],  # noqa: S704 - files of ours
        data=Markup(graph_json(graph)),  # noqa: S704 - escaped in `graph_json`
    )


def _read(name: str) -> str:
    return (STATIC / name).read_text("utf-8").strip()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def graph_json(graph: GraphMap) -> str:
    """Return nodes and edges as JSON in which no text can end the script element, for `graph_map.js`."""
    nodes = [(clean(node.label), clean(node.title), *node[2:-1]) for node in graph.nodes]  # without the group
    text = json.dumps({"nodes": nodes, "edges": graph.edges}, separators=(",", ":"), ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


READ_BYTES = 1 << 16
TABLE_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl",
    PARQUET: "application/vnd.apache.parquet",
}
GRAPH_TYPES = {"gexf": "application/gexf+xml", "graphml": "application/graphml+xml"}


def sends_file(path: str, endpoint: Callable[[Request], Response]) -> Route:
    """Return the route of *endpoint*, which makes a file as soon as it is its turn.

    A file may take minutes. Those that wait for their turn keep no thread and no connection to the store, so that all
    other requests are answered meanwhile.
    """

    async def in_turn(request: Request) -> Response:
        async with panel_of(request).turns:
            if await request.is_disconnected():
                return Response(status_code=400)  # which nobody reads
            return await run_in_threadpool(endpoint, request)

    return Route(path, in_turn, name=endpoint.__name__)


def table_parts(columns: Sequence[Column], rows: Iterable[Cells], format_: str) -> Iterator[bytes]:
    """Yield a table as a file. Raises `HTTPException` or `ConfigError` at once if the panel can't write the format."""
    write = known(FORMATS, "format", format_)
    if format_ == PARQUET:
        check_parquet("Parquet")
    return write(columns, rows)


def table_file(
    request: Request, columns: Sequence[Column], rows: Iterable[Cells], format_: str, name: str
) -> StreamingResponse:
    """Return a table as a file called *name*, whose parts are read one by one, in turn with other files."""
    parts = table_parts(columns, rows, format_)

    async def in_turns() -> AsyncIterator[bytes]:
        while True:
            async with panel_of(request).turns:
                part = await run_in_threadpool(next, parts, b"")
            if not part:
                return
            yield part

    return StreamingResponse(in_turns(), media_type=TABLE_TYPES[format_], headers=saved_as(f"{name}.{format_}"))


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
