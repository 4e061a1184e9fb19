"""Reports about a crawl: tables with filters, page by page, and as files."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse
from starlette.routing import Route

from crawlers.reports.catalogue.crawl_report import cursor_text, parsed_cursor, rows_of, slice_of
from crawlers.reports.catalogue.exporting import FORMATS
from crawlers.reports.catalogue.filters import Filters, parsed_filters
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.web.pages.crawl_pages import crawl_of
from crawlers.web.panel import panel_of
from crawlers.web.templating import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.reports.catalogue.crawl_report import Report
    from crawlers.storage.queries import NamedCrawl

ROWS = 50
SEARCH_S = 0.25  # then a page shows what was found, and the browser goes on by itself
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


def report(request: Request) -> Response:
    """Show some rows of a report."""
    crawl, shown = crawl_of(request), _report_of(request)
    given, filters = _filters(request, shown)
    text = request.query_params.get("after", "")
    after = parsed_cursor(text, shown.cursor_length) if text else None
    if text and after is None:
        raise HTTPException(400, "This address is incomplete; begin with the first page of the report.")
    until = time.monotonic() + SEARCH_S
    with panel_of(request).database.read() as connection:
        steps = shown.steps(connection, crawl.id, filters, after)
        part = slice_of(steps, ROWS, lambda: time.monotonic() > until)
    values = {name: text for name, text in given.items() if text.strip()}
    return render(
        request,
        "report.html",
        crawl=crawl,
        report=shown,
        reports=REPORTS.values(),
        part=part,
        given=values,
        is_first=after is None,
        following=urlencode({**values, "after": cursor_text(part.cursor)}) if part.cursor is not None else "",
        formats=list(FORMATS),
        query=urlencode(values),
    )


def export(request: Request) -> Response:
    """Send all rows that the filters let through as a file."""
    crawl, shown = crawl_of(request), _report_of(request)
    _, filters = _filters(request, shown)
    name = request.path_params["format"]
    if name not in FORMATS:
        raise HTTPException(404, f"There is no format {name}; there are {', '.join(FORMATS)}.")

    def parts() -> Iterator[bytes]:
        with panel_of(request).database.read() as connection:
            yield from FORMATS[name](shown.columns, rows_of(shown.steps(connection, crawl.id, filters, None)))

    headers = {"content-disposition": f'attachment; filename="{_file_name(crawl, shown)}.{name}"'}
    return StreamingResponse(parts(), media_type=MEDIA_TYPES[name], headers=headers)


def _report_of(request: Request) -> Report:
    name = request.path_params["report"]
    if name not in REPORTS:
        raise HTTPException(404, f"There is no report {name}; there are {', '.join(REPORTS)}.")
    return REPORTS[name]


def _filters(request: Request, shown: Report) -> tuple[dict[str, str], Filters]:
    given = {name: request.query_params.get(name, "") for name in Filters._fields}
    return given, parsed_filters(given, shown.filters)


def _file_name(crawl: NamedCrawl, shown: Report) -> str:
    letters = (letter if letter.isascii() and letter.isalnum() else "-" for letter in crawl.name)
    return f"{''.join(letters)[:60]}-{crawl.id}-{shown.name}"


ROUTES = [
    Route("/crawls/{crawl:int}/reports/{report}.{format}", export),
    Route("/crawls/{crawl:int}/reports/{report}", report),
]
