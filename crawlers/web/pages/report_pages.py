"""Reports about a crawl: tables with filters, page by page, and as files."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.routing import Route

from crawlers.reports.catalogue.computed_report import ComputedReport, sorted_by
from crawlers.reports.catalogue.crawl_report import (
    LinkReport,
    Row,
    Slice,
    cursor_text,
    parsed_cursor,
    slice_of,
)
from crawlers.reports.catalogue.exporting import FORMATS, PARQUET
from crawlers.reports.catalogue.filters import Filters, parsed_filters
from crawlers.reports.catalogue.page_steps import POSITIONS, Position, search_place
from crawlers.reports.catalogue.registry import REPORTS, reports_about
from crawlers.storage.files.parquet_files import check_parquet
from crawlers.storage.url_kinds import UrlKind
from crawlers.web.computing import AGAIN, again
from crawlers.web.downloads import file_name, sends_file, table_file
from crawlers.web.kept_results import ENTRY_BYTES, Kept, Unfinished, Weighed, value_of
from crawlers.web.panel import crawl_of, number_in, panel_of, patience_for
from crawlers.web.templating import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.reports.catalogue.computed_report import Cells, Result
    from crawlers.reports.catalogue.crawl_report import Cursor, Group, Related, Report
    from crawlers.storage.database import Database
    from crawlers.storage.queries import NamedCrawl
    from crawlers.web.panel import Panel

ROWS = 50
COUNT_S = 0.15  # for the number of rows of a report in the list of them; it is left out if that is not enough
COUNT_SHARE = 0.02  # of the time of a processor for these numbers, whoever looks at the list
COUNTED_ROWS = 1000
SEARCH_S = 0.1  # then a page shows what was found, and the browser goes on by itself
FOUND, FIRST = "found", "first"  # in the query of a search that goes on: its rows so far, and whether it began there
ROWS_OF_FILE = 10_000  # that are read at once
EXPORT_WAIT_S = 20.0  # for a result that is being computed: browsers wait longer


class Order(NamedTuple):
    """The link in the head of a column: the query by which the table is sorted, and how it is sorted now."""

    query: str
    direction: str  # of aria-sort; "": by another column


class RowCount(NamedTuple):
    """The number of rows of a report; there may be more than were counted."""

    number: int
    is_more: bool


def reports(request: Request) -> Response:
    """List the reports about a crawl, with the numbers of their rows where those are cheap."""
    crawl, panel = crawl_of(request), panel_of(request)
    counts = _counts(panel, crawl)
    groups: dict[Group, list[tuple[Report, RowCount | None]]] = {}
    for one in reports_about(crawl.mission):
        count = counts.get(one.name)
        if isinstance(one, ComputedReport) and (known := panel.results.known(_key(crawl, one, Filters()))) is not None:
            count = RowCount(len(known.value.rows), known.value.is_cut)
        groups.setdefault(one.group, []).append((one, count))
    return render(request, "reports.html", crawl=crawl, groups=list(groups.items()))


def _counts(panel: Panel, crawl: NamedCrawl) -> Mapping[str, RowCount]:
    """Return how many rows the reports of a crawl had lately, by name; without those that take long to count."""

    def compute() -> Weighed[dict[str, RowCount]]:
        counts = {}
        with panel.database.read() as connection:
            for one in reports_about(crawl.mission):
                if not isinstance(one, ComputedReport):
                    until = time.monotonic() + COUNT_S
                    steps = one.steps(connection, crawl.id, Filters(), None)
                    part = slice_of(steps, COUNTED_ROWS, partial(_is_over, until))
                    if not part.is_partial:
                        counts[one.name] = RowCount(len(part.rows), part.cursor is not None)
        return Weighed(counts, ENTRY_BYTES)

    outcome = panel.results.latest(("rows of reports", crawl.id, crawl.state), compute, COUNT_SHARE)
    return value_of(outcome) or {}


def _is_over(until: float) -> bool:
    return time.monotonic() > until


def report(request: Request) -> Response:
    """Show some rows of a report."""
    crawl, shown = crawl_of(request), _report_of(request)
    given, filters = _filters(request, shown)
    text = request.query_params.get("after", "")
    after = parsed_cursor(text, shown.cursor_ranges) if text else None
    if text and after is None:
        raise HTTPException(400, "This address is incomplete; begin with the first page of the report.")
    values = {name: text for name, text in given.items() if text.strip()}
    sort = request.query_params.get("sort", "")
    found = min(number_in(request, FOUND), ROWS - 1)
    is_first = after is None or FIRST in request.query_params
    kept = unfinished = place = None
    if isinstance(shown, ComputedReport):
        if (response := again(request, _key(crawl, shown, filters))) is not None:
            return response
        outcome = _outcome(request, crawl, shown, filters, patience_for(request, crawl).left_s)
        if isinstance(outcome, Unfinished):
            part, unfinished = Slice([], None), outcome
        else:
            part, kept = _part(outcome.value, shown, sort, after), outcome
        values |= {"sort": sort} if sort else {}
    else:
        until = time.monotonic() + SEARCH_S
        with panel_of(request).database.read() as connection:
            steps = shown.steps(connection, crawl.id, filters, after)
            part = slice_of(steps, ROWS - found, partial(_is_over, until))
            if part.is_partial and part.cursor is not None and shown.cursor_ranges[: len(POSITIONS)] == POSITIONS:
                position = Position(*part.cursor[: len(POSITIONS)])
                place = search_place(connection, crawl.id, filters, shown.states, position)
    further = {**values, "after": cursor_text(part.cursor)} if part.cursor is not None else {}
    related = [_related_address(shown.related(row.cells)) for row in part.rows]
    return render(
        request,
        "report.html",
        crawl=crawl,
        report=shown,
        part=part,
        given={name: value for name, value in values.items() if name != "sort"},
        filters=filters,
        is_first=is_first,
        following=urlencode(further),
        found=found,
        room=ROWS - found,
        searching=urlencode({**further, FOUND: found + len(part.rows), **({FIRST: 1} if is_first else {})}),
        place=place,
        formats=list(FORMATS),
        is_deletable=isinstance(shown, LinkReport),
        states=list(UrlKind),
        siblings=[one for one in reports_about(crawl.mission) if one.group is shown.group],
        query=urlencode(values),
        kept=kept,
        unfinished=unfinished,
        sort=values.get("sort", ""),
        renewal=urlencode({**values, AGAIN: "1"}),
        orders=[order_of(column.name, values) for column in shown.columns] if kept is not None else [],
        related=related if shown.has_related else [],
        has_related=shown.has_related,
        counted=[{name: _related_address(one) for name, one in shown.counted(row.cells).items()} for row in part.rows],
    )


def _outcome(
    request: Request, crawl: NamedCrawl, shown: ComputedReport, filters: Filters, wait_s: float
) -> Kept[Result] | Unfinished:
    panel = panel_of(request)

    def compute() -> Result:
        with panel.database.read() as connection:
            return shown.result(connection, crawl.id, filters)

    return panel.results.get(_key(crawl, shown, filters), compute, wait_s)


def _part(result: Result, shown: ComputedReport, sort: str, after: Cursor | None) -> Slice:
    rows = sorted_by(result.rows, shown.columns, sort)
    first = after[0] + 1 if after is not None else 0
    numbered = [Row(cells, (place,)) for place, cells in enumerate(rows[first : first + ROWS], first)]
    return Slice(numbered, numbered[-1].cursor if first + ROWS < len(rows) else None)


def _key(crawl: NamedCrawl, shown: ComputedReport, filters: Filters) -> tuple[int, str, str, Filters]:
    """Return what a kept result depends on: when a crawl ends or goes on, its results are computed again."""
    return (crawl.id, crawl.state, shown.name, filters)


def _related_address(related: Related | None) -> str:
    return f"{related.report}?{urlencode(related.filters)}" if related is not None else ""


def order_of(column: str, values: dict[str, str]) -> Order:
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
        yield from FORMATS[name](shown.columns, all_rows(panel_of(request).database, crawl.id, shown, filters))

    in_order: Sequence[Cells] = ()
    if isinstance(shown, ComputedReport):
        outcome = _outcome(request, crawl, shown, filters, EXPORT_WAIT_S)
        if isinstance(outcome, Unfinished):
            raise HTTPException(503, outcome.problem or "This report is still being computed; load the file again.")
        in_order = sorted_by(outcome.value.rows, shown.columns, request.query_params.get("sort", ""))

    return table_file(request, parts(), name, file_name(crawl, shown.name))


def all_rows(database: Database, crawl_id: int, shown: Report, filters: Filters) -> Iterator[Row]:
    """Yield all rows, a part at a time.

    No transaction is open while a client takes its time: a reader of an SQLite file lets its log of changes grow.
    """
    after: Cursor | None = None
    while True:
        with database.read() as connection:
            part = slice_of(shown.steps(connection, crawl_id, filters, after), ROWS_OF_FILE, lambda: False)
        yield from part.rows
        if part.cursor is None:
            return
        after = part.cursor


def _report_of(request: Request) -> Report:
    name = request.path_params["report"]
    if name not in REPORTS:
        raise HTTPException(404, f"There is no report {name}; there are {', '.join(REPORTS)}.")
    return REPORTS[name]


def _filters(request: Request, shown: Report) -> tuple[dict[str, str], Filters]:
    given = {name: request.query_params.get(name, "") for name in Filters._fields}
    return given, parsed_filters(given, shown.filters)


ROUTES = [
    Route("/crawls/{crawl:int}/reports", reports),
    sends_file("/crawls/{crawl:int}/reports/{report}.{format}", export),
    Route("/crawls/{crawl:int}/reports/{report}", report),
]
