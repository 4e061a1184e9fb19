"""The list of crawls, and each crawl: how far it is, its workers, its log, and what they are asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.inputs.crawl_command import command_of
from crawlers.reports.crawl_manifest import manifest_of
from crawlers.reports.crawl_overview import crawl_overview, crawls_overview
from crawlers.reports.worker_table import Deadline, nobody_works, site_table_rows, worker_notes, worker_rows
from crawlers.settings import WORKER_DEADLINE_SECONDS
from crawlers.storage.crawls import FINISHED
from crawlers.storage.queries import crawl_named
from crawlers.storage.worker_queries import dead_workers, set_control, sites_with_workers, workers_of
from crawlers.storage.workers import ACTIVE, PAUSE, STOP
from crawlers.web.forms import changes
from crawlers.web.panel import panel_of
from crawlers.web.panel_log import end_of_log
from crawlers.web.start_form import typed_command
from crawlers.web.starting import Begun
from crawlers.web.templating import render

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

    from crawlers.storage.queries import NamedCrawl
    from crawlers.web.panel import Panel

ACTIONS = {"pause": PAUSE, "go-on": None, "stop": STOP}
SHOWN_SITES = 200  # of those that wait


def crawl_of(request: Request) -> NamedCrawl:
    """Return the crawl whose number is in the path. Raises `HTTPException` if there is none."""
    number = request.path_params["crawl"]
    try:
        found = crawl_named(panel_of(request).database, str(number))
    except ConfigError:
        found = None
    if found is None or found.id != number:
        raise HTTPException(404, f"There is no crawl {number} in the store.")
    return found


def crawls(request: Request) -> Response:
    """Show all crawls, the latest first, and processes of this panel that failed."""
    panel = panel_of(request)
    failed = [ending for ending in panel.starter.endings() if ending.status]
    return render(request, "crawls.html", crawls=crawls_overview(panel.database), failed=failed)


def crawl(request: Request) -> Response:
    """Show one crawl."""
    return _page(request, crawl_of(request), "")


def work(request: Request) -> Response:
    """Show the workers of a crawl, what each site waits for, and the last lines of its log."""
    panel, found = panel_of(request), crawl_of(request)
    workers = workers_of(panel.database, found.id)
    dead = dead_workers(panel.database, workers)
    deadline = Deadline(WORKER_DEADLINE_SECONDS, dead)
    now, sites = sites_with_workers(panel.database, found.id)
    shown = sorted(workers.workers, key=lambda one: (one.state != ACTIVE, -one.number))
    return render(
        request,
        "work.html",
        crawl=found,
        idle="" if any(one.state == ACTIVE for one in workers.workers) else nobody_works(found),
        workers=worker_rows(workers, deadline, shown) if shown else [],
        notes=worker_notes(workers, deadline),
        sites=site_table_rows(sites, now, dead)[: SHOWN_SITES + 1] if sites else [],
        more_sites=max(0, len(sites) - SHOWN_SITES),
        log=end_of_log(panel.folder, found.name),
        endings=[ending for ending in panel.starter.endings() if ending.name == found.name],
    )


def manifest(request: Request) -> Response:
    """Show what determined the results of a crawl: its seeds, settings and versions."""
    found = crawl_of(request)
    stored = manifest_of(panel_of(request).database, found.id)
    return render(
        request,
        "manifest.html",
        crawl=found,
        manifest=stored,
        command=typed_command(command_of(found.mission, stored), found.name),
    )


def manifest_file(request: Request) -> Response:
    """Send the same as a file."""
    found = crawl_of(request)
    stored = {"crawl": found.name, "number": found.id, "mission": found.mission}
    text = json.dumps(stored | manifest_of(panel_of(request).database, found.id), indent=2, ensure_ascii=False)
    headers = {"content-disposition": f'attachment; filename="manifest-{found.id}.json"'}
    return Response(text + "\n", media_type="application/json", headers=headers)


def control(request: Request, _form: FormData) -> Response:
    """Ask the workers of a crawl to pause, to go on or to stop; a crawl that was stopped goes on in new ones."""
    panel, found, action = panel_of(request), crawl_of(request), request.path_params["action"]
    if action not in ACTIONS:
        raise HTTPException(404)
    if action == "go-on" and not _workers(panel, found.id) and found.state != FINISHED:
        return _resume(request, panel, found)
    set_control(panel.database, found.id, ACTIONS[action])
    return RedirectResponse(f"/crawls/{found.id}", 303)


def _resume(request: Request, panel: Panel, found: NamedCrawl) -> Response:
    command = command_of(found.mission, manifest_of(panel.database, found.id))
    try:
        outcome = panel.starter.start(found.name, command, {})
    except ConfigError as error:
        return _page(request, found, str(error), 422)
    if not isinstance(outcome, Begun):
        return _page(request, found, outcome.message, 422)
    return RedirectResponse(f"/crawls/{outcome.crawl_id}", 303)


def _page(request: Request, found: NamedCrawl, problem: str, status: int = 200) -> Response:
    panel = panel_of(request)
    overview = crawl_overview(panel.database, found.id)._replace(workers=_workers(panel, found.id))
    return render(
        request,
        "crawl.html",
        status,
        crawl=found,
        overview=overview,
        problem=problem,
    )


def _workers(panel: Panel, crawl_id: int) -> int:
    """Return the number of active workers whose processes live."""
    found = workers_of(panel.database, crawl_id)
    return sum(one.state == ACTIVE for one in found.workers) - len(dead_workers(panel.database, found))


ROUTES = [
    Route("/", crawls),
    Route("/crawls/{crawl:int}", crawl),
    Route("/crawls/{crawl:int}/work", work),
    Route("/crawls/{crawl:int}/manifest", manifest),
    Route("/crawls/{crawl:int}/manifest.json", manifest_file),
    changes("/crawls/{crawl:int}/{action}", control),
]
