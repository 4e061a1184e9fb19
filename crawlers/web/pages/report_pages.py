"""Reports about a crawl: tables with filters, page by page, and as files."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, StreamingResponse
from starlette.routing import Route

from crawlers.reports.catalogue.computed_report import ComputedReport, sorted_by
from crawlers.reports.catalogue.crawl_report import Row, Slice, cursor_text, parsed_cursor, rows_of, slice_of
from crawlers.reports.catalogue.exporting import FORMATS, PARQUET
from crawlers.reports.catalogue.filters import Filters, parsed_filters
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.storage.files.parquet_files import check_parquet
from crawlers.web.pages.crawl_pages import crawl_of
from crawlers.web.panel import panel_of
from crawlers.web.templating import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.reports.catalogue.computed_report import Cells, Result
    from crawlers.reports.catalogue.crawl_report import Group, Related, Report
    from crawlers.storage.queries import NamedCrawl
    from crawlers.web.kept_results import Kept

ROWS = 50
COUNT_S = 0.2  # for the numbers of rows in the list of reports; others are left out
COUNTED_ROWS = 1000
SEARCH_S = 0.25  # then a page shows what was found, and the browser goes on by itself
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl",
    PARQUET: "application/vnd.apache.parquet",
}


class Order(NamedTuple):
    """The link in the head of a column: the query by which the table is sorted, and how it is sorted now."""

    query: str
    direction: str  # of aria-sort; "": by another column


def reports(request: Request) -> Response:
    """List the reports about a crawl, with the numbers of their rows where those are cheap."""
    crawl, panel = crawl_of(request), panel_of(request)
    until = time.monotonic() + COUNT_S
    groups: dict[Group, list[tuple[Report, int | None, bool]]] = {}
    with panel.database.read() as connection:
        for one in REPORTS.values():
            count, is_more = None, False
            if isinstance(one, ComputedReport):
                if (kept := panel.results.known(_key(crawl, one, Filters()))) is not None:
                    count, is_more = len(kept.result.rows), kept.result.is_cut
            elif time.monotonic() < until:
                steps = one.steps(connection, crawl.id, Filters(), None)
                part = slice_of(steps, COUNTED_ROWS, lambda: time.monotonic() > until)
                if not part.is_partial:
                    count, is_more = len(part.rows), part.cursor is not None
            groups.setdefault(one.group, []).append((one, count, is_more))
    return render(request, "reports.html", crawl=crawl, groups=list(groups.items()))


def report(request: Request) -> Response:
    """Show some rows of a report."""
    crawl, shown = crawl_of(request), _report_of(request)
    given, filters = _filters(request, shown)
    text = request.query_params.get("after", "")
    after = parsed_cursor(text, shown.cursor_length) if text else None
    if text and after is None:
        raise HTTPException(400, "This address is incomplete; begin with the first page of the report.")
    values = {name: text for name, text in given.items() if text.strip()}
    sort = request.query_params.get("sort", "")
    kept = None
    if isinstance(shown, ComputedReport):
        if "again" in request.query_params:
            _result(request, crawl, shown, filters, is_renewed=True)
            return RedirectResponse(f"{request.url.path}?{urlencode({**values, 'sort': sort})}", 303)
        kept = _result(request, crawl, shown, filters)
        rows = sorted_by(kept.result.rows, shown.columns, sort)
        first = after[0] + 1 if after is not None else 0
        numbered = [Row(cells, (place,)) for place, cells in enumerate(rows[first : first + ROWS], first)]
        part = Slice(numbered, numbered[-1].cursor if first + ROWS < len(rows) else None)
        values |= {"sort": sort} if sort else {}
    else:
        until = time.monotonic() + SEARCH_S
        with panel_of(request).database.read() as connection:
            steps = shown.steps(connection, crawl.id, filters, after)
            part = slice_of(steps, ROWS, lambda: time.monotonic() > until)
    related = [_related_address(shown.related(row.cells)) for row in part.rows]
    return render(
        request,
        "report.html",
        crawl=crawl,
        report=shown,
        part=part,
        given={name: value for name, value in values.items() if name != "sort"},
        is_first=after is None,
        following=urlencode({**values, "after": cursor_text(part.cursor)}) if part.cursor is not None else "",
        formats=list(FORMATS),
        query=urlencode(values),
        export_query=urlencode(values),
        kept=kept,
        sort=sort if kept is not None else "",
        renewal=urlencode({**values, "again": "1"}),
        orders=[_order(column.name, values) for column in shown.columns] if kept is not None else [],
        related=related if any(related) else [],
    )


def _result(
    request: Request, crawl: NamedCrawl, shown: ComputedReport, filters: Filters, *, is_renewed: bool = False
) -> Kept:
    panel = panel_of(request)

    def compute() -> Result:
        with panel.database.read() as connection:
            return shown.result(connection, crawl.id, filters)

    key = _key(crawl, shown, filters)
    return panel.results.renewed(key, compute) if is_renewed else panel.results.get(key, compute)


def _key(crawl: NamedCrawl, shown: ComputedReport, filters: Filters) -> tuple[int, str, str, Filters]:
    """Return what a kept result depends on: when a crawl ends or goes on, its results are computed again."""
    return (crawl.id, crawl.state, shown.name, filters)


def _related_address(related: Related | None) -> str:
    return f"{related.report}?{urlencode(related.filters)}" if related is not None else ""


def _order(column: str, values: dict[str, str]) -> Order:
    """Return the link that sorts by *column*: ascending first, then descending."""
    now = values.get("sort", "")
    direction = {column: "ascending", f"-{column}": "descending"}.get(now, "")
    return Order(urlencode({**values, "sort": f"-{column}" if now == column else column}), direction)


def export(request: Request) -> Response:
    """Send all rows that the filters let through as a file."""
    crawl, shown = crawl_of(request), _report_of(request)
    _, filters = _filters(request, shown)
    name = request.path_params["format"]
    if name not in FORMATS:
        raise HTTPException(404, f"There is no format {name}; there are {', '.join(FORMATS)}.")

    if name == PARQUET:
        check_parquet("Parquet")

    def parts() -> Iterator[bytes]:
        if isinstance(shown, ComputedReport):  # what the table shows, in its order
            yield from FORMATS[name](shown.columns, [Row(cells, (place,)) for place, cells in enumerate(in_order)])
            return
        with panel_of(request).database.read() as connection:
            yield from FORMATS[name](shown.columns, rows_of(shown.steps(connection, crawl.id, filters, None)))

    in_order: Sequence[Cells] = ()
    if isinstance(shown, ComputedReport):
        kept = _result(request, crawl, shown, filters)
        in_order = sorted_by(kept.result.rows, shown.columns, request.query_params.get("sort", ""))

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
    Route("/crawls/{crawl:int}/reports", reports),
    Route("/crawls/{crawl:int}/reports/{report}.{format}", export),
    Route("/crawls/{crawl:int}/reports/{report}", report),
]
