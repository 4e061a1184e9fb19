"""The files that a crawl wrote into its result folder, as far as that is below the folder of the panel."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse
from starlette.routing import Route

from crawlers.store.reading.crawl_settings import recorded_folder, successor
from crawlers.store.schema.tables import crawl
from crawlers.web.panel import crawl_of, panel_of
from crawlers.web.templating import render

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.store.database import Database

MAX_FILES = 2000
# No other files are sent: the folder may be that of the project, which has settings with passwords.
ENDINGS = (".gexf", ".graphml", ".csv", ".svg", ".parquet")
DATASET_ENDING = ".parquet"  # of a folder with a graph of all sites


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


class ResultFile(NamedTuple):
    """A file, by its path below the result folder."""

    name: str
    size_bytes: int
    written_at: float  # seconds since 1970


class ListedFiles(NamedTuple):
    """The result files of a crawl."""

    files: list[ResultFile]
    is_cut: bool  # there are more files


class ResultFolder(NamedTuple):
    """Where a crawl wrote its results."""

    name: str  # relative to the folder of the panel, or absolute if it is elsewhere
    path: Path  # without links
    is_here: bool  # it is below the folder of the panel
    since: float  # seconds since 1970: files that were last written before are those of an earlier crawl of its name
    successor: int | None  # the number of a later crawl that wrote to the same folder; then the files are its own

    def files(self) -> ListedFiles:
        """Return the files of the crawl, by name: this reads the whole folder."""
        found: list[ResultFile] = []
        for path in _paths(self.path) if self.is_here else ():
            if (one := self._known(path)) is None:
                continue
            if len(found) == MAX_FILES:
                return ListedFiles(found, is_cut=True)
            found.append(one)
        return ListedFiles(found, is_cut=False)

    def file(self, name: str) -> Path | None:
        """Return the path of the file that `files` calls *name*; None: the crawl has no such file."""
        path = self.path / name
        return None if self._known(path) is None else path

    def _known(self, path: Path) -> ResultFile | None:
        """Return what is known of a file that the crawl wrote; None if it is another one, or was removed meanwhile."""
        try:
            status, (*folders, name) = path.lstat(), path.relative_to(self.path).parts
            if not self.is_here or self.successor is not None or path.resolve() != path:  # of a link, or with ".."
                return None
        except (OSError, RuntimeError, ValueError):  # of no file, of a loop of links, or of a file elsewhere
            return None
        ending = DATASET_ENDING if folders and folders[0].endswith(DATASET_ENDING) else ENDINGS
        is_result = name.endswith(ending) and (not folders or ending == DATASET_ENDING)
        if not is_result or not stat.S_ISREG(status.st_mode) or status.st_mtime < self.since:
            return None
        return ResultFile(path.relative_to(self.path).as_posix(), status.st_size, status.st_mtime)


def result_folder(database: Database, panel_folder: Path, crawl_id: int) -> ResultFolder | None:
    """Return the folder in which a crawl wrote its results; None if it has not written any."""
    with database.read() as connection:
        folder = recorded_folder(connection, crawl_id)
        if folder is None:
            return None
        later = successor(connection, crawl_id, folder)
        since = connection.execute(select(crawl.c.started_at).where(crawl.c.id == crawl_id)).scalar_one()
    root, path = panel_folder.resolve(), folder.resolve()
    if not path.is_relative_to(root):
        return ResultFolder(str(folder), path, False, since, later)
    return ResultFolder(path.relative_to(root).as_posix(), path, True, since, later)


def _paths(folder: Path) -> list[Path]:
    """Return what is in *folder*, and in datasets in it; links to folders elsewhere are not followed."""
    return sorted([*folder.glob("*"), *folder.glob(f"*{DATASET_ENDING}/**/*{DATASET_ENDING}")])


ROUTES = [Route("/crawls/{crawl:int}/files", files), Route("/crawls/{crawl:int}/file", file)]
