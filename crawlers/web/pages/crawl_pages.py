"""The list of crawls, and each crawl: how far it is, and what its workers are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.reports.crawl_overview import crawl_overview, crawls_overview
from crawlers.storage.queries import crawl_named
from crawlers.storage.worker_queries import set_control
from crawlers.storage.workers import PAUSE, STOP
from crawlers.web.forms import changes
from crawlers.web.panel import panel_of
from crawlers.web.templating import render

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.storage.queries import NamedCrawl

ACTIONS = {"pause": PAUSE, "go-on": None, "stop": STOP}


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
    """Show all crawls, the latest first."""
    return render(request, "crawls.html", crawls=crawls_overview(panel_of(request).database))


def crawl(request: Request) -> Response:
    """Show one crawl."""
    found = crawl_of(request)
    overview = crawl_overview(panel_of(request).database, found.id)
    return render(request, "crawl.html", crawl=found, overview=overview, reports=REPORTS.values())


def control(request: Request, _form: FormData) -> Response:
    """Ask the workers of a crawl to pause, to go on or to stop."""
    found, action = crawl_of(request), request.path_params["action"]
    if action not in ACTIONS:
        raise HTTPException(404)
    set_control(panel_of(request).database, found.id, ACTIONS[action])
    return RedirectResponse(f"/crawls/{found.id}", 303)


ROUTES = [
    Route("/", crawls),
    Route("/crawls/{crawl:int}", crawl),
    changes("/crawls/{crawl:int}/{action}", control),
]
