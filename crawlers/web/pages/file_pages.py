"""The files of a crawl: where they are, and each of them to be saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse
from starlette.routing import Route

from crawlers.web.panel import crawl_of, panel_of
from crawlers.web.result_files import result_folder
from crawlers.web.templating import render

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def files(request: Request) -> Response:
    """Show the result files of a crawl."""
    panel, found = panel_of(request), crawl_of(request)
    folder = result_folder(panel.database, panel.folder, found.id)
    files = folder.files() if folder is not None else None
    return render(request, "files.html", crawl=found, folder=folder, results=files)


def file(request: Request) -> Response:
    """Send the result file whose name is in the query."""
    panel, found = panel_of(request), crawl_of(request)
    folder = result_folder(panel.database, panel.folder, found.id)
    path = folder.file(request.query_params.get("name", "")) if folder is not None else None
    if path is None:
        raise HTTPException(404, "The crawl has no such file.")
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


ROUTES = [Route("/crawls/{crawl:int}/files", files), Route("/crawls/{crawl:int}/file", file)]
