"""The list of crawls, and each crawl: how far it is, its workers, its log, and what they are asked for.

The files that it wrote into its result folder are shown as far as that is below the folder of the panel.
"""

from __future__ import annotations

import json
import stat
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.items import SiteLimits
from crawlers.options.kinds import typed
from crawlers.reports.crawl_manifest import manifest_of, setting_lines
from crawlers.reports.live_display import counts_of_crawl, crawl_overview, crawls_overview
from crawlers.store.reading.crawl_results import unavailable_sites
from crawlers.store.reading.crawl_settings import recorded_folder, successor
from crawlers.store.reading.crawls import FINISHED
from crawlers.store.schema.tables import crawl as crawl_table
from crawlers.store.schema.tables import site
from crawlers.store.streaming import among
from crawlers.store.worker_rows import ACTIVE, PAUSE, STOP
from crawlers.web.downloads import file_name, saved_as, sends_file
from crawlers.web.pages.picture_pages import stored_pictures
from crawlers.web.pages.start_pages import command_of, hosts_line, typed_command
from crawlers.web.panel import changes, crawl_of, number_in, panel_of, render
from crawlers.web.starting import end_of_log
from crawlers.workers.worker_table import (
    SITES,
    busiest,
    nobody_works,
    set_control,
    site_rows,
    sites_with_workers,
    worker_columns,
    worker_notes,
    worker_row,
    workers_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Connection
    from starlette.datastructures import FormData
    from starlette.requests import Request

    from crawlers.reports.catalogue.report import TimeLimit
    from crawlers.reports.live_display import CrawlOverview
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl
    from crawlers.web.cached_results import Outcome
    from crawlers.web.panel import Panel
    from crawlers.web.starting import Job
    from crawlers.workers.worker_table import SiteLine

MAX_FILES = 2000
# No other files are sent: the folder may be that of the project, which has settings with passwords.
ENDINGS = (".gexf", ".graphml", ".csv", ".svg", ".parquet")
DATASET_ENDING = ".parquet"  # of a folder with a graph of all sites


def limits_of(
    connection: Connection, crawl_id: int, names: Sequence[str], options: Mapping[str, Mapping[str, str]]
) -> list[SiteLimits]:
    """Return the limits of the sites called *names*, in this order, without those that the store has no more.

    *options* are the further fields of their lines in the list of sites, by site.
    """
    limits = (site.c.site, site.c.parallel, site.c.max_level, site.c.delay_s, site.c.start_url)
    named = select(*limits, site.c.folder, site.c.aliases).where(site.c.crawl_id == crawl_id, among(site.c.site, names))
    found = {}
    for one in connection.execute(named):
        aliases = tuple((one.aliases or "").split())
        found[one.site] = SiteLimits(*one[:5], one.folder or "", aliases, options.get(one.site, {}))
    return [found[name] for name in names if name in found]


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
        since = connection.execute(select(crawl_table.c.started_at).where(crawl_table.c.id == crawl_id)).scalar_one()
    root, path = panel_folder.resolve(), folder.resolve()
    if not path.is_relative_to(root):
        return ResultFolder(str(folder), path, False, since, later)
    return ResultFolder(path.relative_to(root).as_posix(), path, True, since, later)


def _paths(folder: Path) -> list[Path]:
    """Return what is in *folder*, and in datasets in it; links to folders elsewhere are not followed."""
    return sorted([*folder.glob("*"), *folder.glob(f"*{DATASET_ENDING}/**/*{DATASET_ENDING}")])


_FILE_ROUTES = [Route("/crawls/{crawl:int}/files", files), Route("/crawls/{crawl:int}/file", file)]


ACTIONS = {"pause": PAUSE, "go-on": None, "stop": STOP}
CRAWLS_AT_ONCE = 20
SHOWN_SITES = 200  # of those that wait
SHOWN_PICTURES = 3
MAX_LIMITS = 1000  # lines of hosts.txt in a manifest
BUSY_SHARE = 0.01  # of the time of a processor for counting the URLs of a crawl at work, whoever watches it
TOLD_S = 24 * 3600.0  # for which the list tells that a process has failed
FILES_SHARE = 0.1  # of the time of a processor for counting the files of a crawl, whoever watches it
IDLE_SHARE = 0.002  # of one that changes only when people delete rows of it


def crawls(request: Request) -> Response:
    """Show crawls, the latest first, and processes of this panel that failed."""
    panel, before = panel_of(request), number_in(request, "before")
    patience = panel.results.patience()
    recent = time.time() - TOLD_S
    failed = [
        ending for ending in _endings(panel, patience) if ending.status != 0 and (ending.ended_at or 0.0) > recent
    ]
    found = crawls_overview(panel.database, CRAWLS_AT_ONCE + 1, before)
    shown = [with_counts(panel, one, patience) for one in found[:CRAWLS_AT_ONCE]]
    earlier = shown[-1].id if len(found) > len(shown) else None
    return render(request, "crawls.html", crawls=shown, failed=failed, earlier=earlier, is_latest=not before)


def work(request: Request) -> Response:
    """Show the workers of a crawl, what each site waits for, and the last lines of its log."""
    panel, found = panel_of(request), crawl_of(request)
    workers = workers_of(panel.database, found.id)
    patience = panel.results.patience()
    outcome = _sites(panel, found.id, patience)
    now, sites, number = outcome.value or (0.0, [], 0)
    shown = sorted(workers.workers, key=lambda one: (one.state != ACTIVE, -one.number))
    return render(
        request,
        "work.html",
        crawl=found,
        idle="" if workers.active else nobody_works(found, workers),
        worker_columns=worker_columns(workers),
        workers=[worker_row(one, workers) for one in shown],
        notes=worker_notes(workers),
        site_columns=SITES,
        sites=site_rows(sites, now, workers.dead),
        more_sites=number - len(sites),
        outcome=outcome,
        ending=next((ending for ending in _endings(panel, patience) if ending.crawl_id == found.id), None),
        log=end_of_log(panel.folder, found.id),
    )


def _endings(panel: Panel, patience: TimeLimit) -> Sequence[Job]:
    """Return how the latest processes of crawls ended, as was known lately: scrapyd may need seconds to tell."""
    return panel.results.get("endings", panel.starter.endings, patience.left_s, share=BUSY_SHARE).value or ()


def _sites(panel: Panel, crawl_id: int, patience: TimeLimit) -> Outcome[tuple[float, list[SiteLine], int]]:
    """Return the time of the server, what the busiest sites of a crawl waited for then, and the number of all.

    This was so lately, if there are many URLs.
    """

    def compute() -> tuple[float, list[SiteLine], int]:
        now, sites = sites_with_workers(panel.database, crawl_id)
        return now, busiest(sites, SHOWN_SITES), len(sites)

    return panel.results.get(("sites at work", crawl_id), compute, patience.left_s, share=BUSY_SHARE)


def manifest(request: Request) -> Response:
    """Show what determined the results of a crawl: its seeds, settings and versions."""
    found = crawl_of(request)
    stored = manifest_of(panel_of(request).database, found.id)
    command = command_of(found.mission, stored)
    return render(
        request,
        "manifest.html",
        crawl=found,
        manifest=stored,
        settings=setting_lines(stored),
        changed={name: typed(value) for name, value in stored.get("changed_settings", {}).items()},
        limits=_limits(request, found, stored, MAX_LIMITS),
        most=MAX_LIMITS,
        command=typed_command(command, found.name),
        names_left_out=command.left_out,
    )


def manifest_file(request: Request) -> Response:
    """Send the same as a file."""
    found = crawl_of(request)
    of_crawl = {"crawl": found.name, "number": found.id, "mission": found.mission}
    stored = manifest_of(panel_of(request).database, found.id)
    seeds = stored.get("seeds", ())
    limits = {
        "site_count": len(seeds),
        "sites_with_limits": _limits(request, found, stored, MAX_LIMITS),  # hosts.txt of the panel has all
    }
    text = json.dumps(of_crawl | stored | limits, indent=2, ensure_ascii=False)
    content = f"{text}\n".encode("utf-8", "backslashreplace")  # half characters, as JSON writes them
    return Response(content, media_type="application/json", headers=saved_as(f"manifest-{found.id}.json"))


def hosts_file(request: Request) -> Response:
    """Send the listed sites of a crawl with their limits, as a file hosts.txt; see `hosts_line` about start URLs."""
    found = crawl_of(request)
    lines = _limits(request, found, manifest_of(panel_of(request).database, found.id))
    headers = saved_as(f"{file_name(found, 'hosts')}.txt")
    return Response("".join(f"{line}\n" for line in lines), media_type="text/plain; charset=utf-8", headers=headers)


def _limits(request: Request, found: NamedCrawl, stored: dict[str, Any], most: int | None = None) -> list[str]:
    """Return lines of hosts.txt about the first *most* sites that were listed, with the limits in force."""
    # Half characters of a command name no site of the store, whose driver refuses them.
    seeds = [name.encode("utf-8", "replace").decode() for name in stored.get("seeds", [])[:most]]
    with panel_of(request).database.read() as connection:
        limits = limits_of(connection, found.id, seeds, stored.get("site_options", {}))
        return [hosts_line(one) for one in limits]


def control(request: Request, _form: FormData) -> Response:
    """Ask the workers of a crawl to pause, to go on or to stop; a crawl that was stopped goes on in new ones."""
    panel, found, action = panel_of(request), crawl_of(request), request.path_params["action"]
    if action not in ACTIONS:
        raise HTTPException(404)
    if action == "go-on" and found.state != FINISHED and not crawl_overview(panel.database, found.id).workers:
        return _resume(request, panel, found)
    set_control(panel.database, found.id, ACTIONS[action])
    return RedirectResponse(f"/crawls/{found.id}", 303)


def _resume(request: Request, panel: Panel, found: NamedCrawl) -> Response:
    command = command_of(found.mission, manifest_of(panel.database, found.id))
    try:
        outcome = panel.starter.start(found.name, command, {})
    except ConfigError as error:
        return crawl(request, str(error), 422)
    if isinstance(outcome, str):
        return crawl(request, outcome, 422)
    return RedirectResponse(f"/crawls/{outcome}", 303)


def crawl(request: Request, problem: str = "", status: int = 200) -> Response:
    """Show one crawl, and a *problem* of what was asked for."""
    panel, found = panel_of(request), crawl_of(request)
    patience = panel.results.patience()
    overview = with_counts(panel, crawl_overview(panel.database, found.id), patience)
    names: Sequence[str] = ()
    if not overview.workers and overview.state != FINISHED:  # it can go on
        names = command_of(found.mission, manifest_of(panel.database, found.id)).left_out
    is_part = "hx-request" in request.headers  # of a page that has its pictures already
    folder = None if is_part else result_folder(panel.database, panel.folder, found.id)
    results = None
    if folder is not None:  # which may have the graphs of 100,000 sites
        key = ("files", found.id, found.state)
        results = panel.results.get(key, folder.files, patience.left_s, share=FILES_SHARE).value
    with panel.database.read() as connection:
        problems = unavailable_sites(connection, found.id, with_certificates=True)
    return render(
        request,
        "crawl.html",
        status,
        crawl=found,
        problems=problems,
        overview=overview,
        problem=problem,
        names_left_out=names,
        pictures=() if is_part else stored_pictures(request)[:SHOWN_PICTURES],
        folder=folder,
        results=results,
    )


def with_counts(panel: Panel, overview: CrawlOverview, patience: TimeLimit) -> CrawlOverview:
    """Return *overview* with its counts, which may be some moments old; without them while they are computed."""
    is_idle = not overview.workers
    counts = panel.results.get(
        ("counts", overview.id, overview.state, is_idle),
        partial(counts_of_crawl, panel.database, overview.id, overview.mission, with_deleted=is_idle),
        patience.left_s,
        share=IDLE_SHARE if is_idle else BUSY_SHARE,
    )
    return overview._replace(counts=counts.value)


ROUTES = [
    *_FILE_ROUTES,
    Route("/", crawls),
    Route("/crawls/{crawl:int}", crawl),
    Route("/crawls/{crawl:int}/work", work),
    Route("/crawls/{crawl:int}/manifest", manifest),
    Route("/crawls/{crawl:int}/manifest.json", manifest_file),
    sends_file("/crawls/{crawl:int}/hosts.txt", hosts_file),
    changes("/crawls/{crawl:int}/{action}", control),
]
