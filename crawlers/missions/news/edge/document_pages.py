"""The reader of a document: never as the HTML that it was, only its text."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.routing import Route

from crawlers.missions.news.reports.document_list import Documents
from crawlers.missions.news.reports.document_reader import read_document
from crawlers.reports.catalogue.conditions import FILTERS, parsed_filters
from crawlers.reports.time_limit import TimeLimit
from crawlers.web.panel import crawl_of, number_in, panel_of
from crawlers.web.templating import render

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

SEARCH_S = 0.1  # for the copies and both neighbours together

DOCUMENTS = Documents()


def document(request: Request) -> Response:
    """Show a document, and those before and after it in the list that the filters show."""
    crawl, query = crawl_of(request), request.query_params
    given = {name: query[name] for name in FILTERS if query.get(name, "").strip()}
    filters = parsed_filters(given, DOCUMENTS.filters)
    number, version = request.path_params["number"], number_in(request, "version") or None
    if number >= 2**63 or (query.get("version") and version is None):
        raise HTTPException(404, "There is no such document.")
    is_over = TimeLimit(SEARCH_S)
    with panel_of(request).database.read() as connection:
        found = read_document(connection, crawl.id, number, version, is_over)
        if found is None:
            raise HTTPException(404, f"The crawl {crawl.name} has no document {number}, or not in this version.")
        neighbours = DOCUMENTS.neighbours(connection, crawl.id, filters, number, is_over)
    return render(
        request,
        "document.html",
        crawl=crawl,
        document=found,
        neighbours=neighbours,
        query=urlencode(given),
        versions={one.number: urlencode({**given, "version": one.number}) for one in found.versions},
    )


ROUTES = [Route("/crawls/{crawl:int}/documents/{number:int}", document)]
