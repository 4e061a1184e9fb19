"""Reports about a crawl: tables with filters, page by page, and as files."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.reports.catalogue.conditions import FILTERS, Filters, parsed_filters
from crawlers.reports.catalogue.index_walk import PageReport, Position
from crawlers.reports.catalogue.registry import REPORTS, reports_about
from crawlers.reports.catalogue.renderers import FORMATS
from crawlers.reports.catalogue.report import (
    ComputedReport,
    Row,
    Step,
    TimeLimit,
    Total,
    cursor_text,
    in_order,
    is_whole,
    parsed_cursor,
    rows_of,
    slice_of,
    total,
)
from crawlers.store.reading.url_counts import UrlKind
from crawlers.web.cached_results import Outcome
from crawlers.web.downloads import file_name, sends_file, table_file
from crawlers.web.panel import AGAIN, again, crawl_of, known, number_in, panel_of, patience_for, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.reports.catalogue.report import Cells, Cursor, Group, Kinds, Related, Report, Result
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl
    from crawlers.web.panel import Panel

ROWS = 50
COUNT_S = 0.15  # for the number of rows of a report in the list of them; it is left out if that is not enough
COUNT_SHARE = 0.02  # of the time of a processor for these numbers, whoever looks at the list
COUNTED_ROWS = 1000
SEARCH_S = 0.1  # then a page shows what was found, and the browser goes on by itself
SORT_S = 20.0  # for finding the rows that are sorted by another column
TOTAL_S = 60.0  # for counting all rows
FOUND, FIRST = "found", "first"  # in the query of a search that goes on: its rows so far, and whether it began there
ROWS_OF_FILE = 10_000  # that are read at once
EXPORT_WAIT_S = 20.0  # for a result that is being computed: browsers wait longer


class Order(NamedTuple):
    """The link in the head of a column: the query by which the table is sorted, and how it is sorted now."""

    query: str
    direction: str  # of aria-sort; "": by another column


def reports(request: Request) -> Response:
    """List the reports about a crawl, with the numbers of their rows where those are cheap."""
    crawl, panel = crawl_of(request), panel_of(request)
    counts = _counts(panel, crawl)
    groups: dict[Group, list[tuple[Report, Total | None]]] = {}
    for one in reports_about(crawl.mission):
        count = counts.get(one.name)
        if isinstance(one, ComputedReport) and (whole := panel.results.known(_key(crawl, one, Filters()))) is not None:
            count = Total(len(whole.rows), (), whole.is_cut)
        groups.setdefault(one.group, []).append((one, count))
    return render(request, "reports.html", crawl=crawl, groups=list(groups.items()))


def _counts(panel: Panel, crawl: NamedCrawl) -> Mapping[str, Total]:
    """Return how many rows the reports of a crawl had lately, by name; without those that take long to count."""

    def compute() -> dict[str, Total]:
        counts = {}
        with panel.database.read() as connection:
            for one in reports_about(crawl.mission):
                if not isinstance(one, ComputedReport):
                    steps = one.steps(connection, crawl.id, Filters(), None)
                    part = slice_of(steps, COUNTED_ROWS, TimeLimit(COUNT_S))
                    if not part.is_partial:
                        counts[one.name] = Total(len(part.rows), (), part.cursor is not None)
        return counts

    return panel.results.get(("rows of reports", crawl.id, crawl.state), compute, share=COUNT_SHARE).value or {}


def report(request: Request) -> Response:
    """Show some rows of a report."""
    crawl, shown = crawl_of(request), _report_of(request)
    given, filters = _filters(request, shown)
    sort = request.query_params.get("sort", "")
    needs_all = is_whole(shown, sort)
    after = cursor_in(request, (int,) if needs_all else shown.cursor_kinds)
    with_sort = {"sort": sort} if sort else {}
    values = {name: text for name, text in given.items() if text.strip()} | with_sort
    found = min(number_in(request, FOUND), ROWS - 1)
    is_first = after is None or FIRST in request.query_params
    if (response := again(request, _key(crawl, shown, filters))) is not None:
        return response
    outcome: Outcome[Result] | None = None
    place = None
    if needs_all:
        outcome = _outcome(request, crawl, shown, filters, patience_for(request, crawl).left_s)
        part = Step([], None)
        if outcome.value is not None:
            part = part_of(in_order(shown, outcome.value, sort), after)
    else:
        with panel_of(request).database.read() as connection:
            steps = shown.steps(connection, crawl.id, filters, after)
            part = slice_of(steps, ROWS - found, TimeLimit(SEARCH_S))
            if part.is_partial and part.cursor is not None and isinstance(shown, PageReport):
                position = Position(*part.cursor[: len(Position._fields)])
                place = shown.search_place(connection, crawl.id, filters, position)
    further = {**values, "after": cursor_text(part.cursor)} if part.cursor is not None else {}
    return render(
        request,
        "report.html",
        crawl=crawl,
        report=shown,
        part=part,
        given={name: value for name, value in values.items() if name != "sort"},
        filters=filters,
        known={name: one for name, one in FILTERS.items() if name in shown.filters},
        is_first=is_first,
        following=urlencode(further),
        found=found,
        room=ROWS - found,
        searching=urlencode({**further, FOUND: found + len(part.rows), **({FIRST: 1} if is_first else {})}),
        place=place,
        formats=list(FORMATS),
        states=list(UrlKind),
        siblings=[one for one in reports_about(crawl.mission) if one.group is shown.group],
        query=urlencode(values),
        outcome=outcome,
        sort=sort,
        renewal=urlencode({**values, AGAIN: "1"}),
        total=_total(request, crawl, shown, filters, outcome) if "total" in request.query_params else None,
        counting=urlencode({**values, "total": "1"}),
        orders=[order_of(column.name, values) for column in shown.columns],
        related=[_related_address(shown.related(row.cells)) for row in part.rows] if shown.has_related else [],
        counted=[{name: _related_address(one) for name, one in shown.counted(row.cells).items()} for row in part.rows],
    )


def _outcome(request: Request, crawl: NamedCrawl, shown: Report, filters: Filters, wait_s: float) -> Outcome[Result]:
    panel = panel_of(request)

    def compute() -> Result:
        with panel.database.read() as connection:
            result = shown.result(connection, crawl.id, filters, TimeLimit(SORT_S))
        if result.is_cut and len(result.rows) < shown.most:
            raise ConfigError(f"It takes too long to find all rows of {shown.name} and to sort them; set filters.")
        return result

    return panel.results.get(_key(crawl, shown, filters), compute, wait_s)


def cursor_in(request: Request, kinds: Kinds) -> Cursor | None:
    """Return the cursor in the query, after which a page begins; None: it is the first one. Raises `HTTPException`."""
    text = request.query_params.get("after", "")
    after = parsed_cursor(text, kinds) if text else None
    if text and after is None:
        raise HTTPException(400, "This address is incomplete; begin with the first page of the report.")
    return after


def part_of(rows: Sequence[Cells], after: Cursor | None) -> Step:
    """Return those of *rows* that a page shows."""
    first = after[0] + 1 if after is not None else 0
    numbered = [Row(cells, (place,)) for place, cells in enumerate(rows[first : first + ROWS], first)]
    return Step(numbered, numbered[-1].cursor if first + ROWS < len(rows) else None)


def _total(
    request: Request, crawl: NamedCrawl, shown: Report, filters: Filters, whole: Outcome[Result] | None
) -> Outcome[Total]:
    """Return the number of rows and the sums of their columns, of the *whole* report if that is computed."""
    if whole is not None and whole.value is not None:
        return Outcome(whole.at, total(shown.columns, whole.value.rows, is_cut=whole.value.is_cut), is_missing=False)
    panel = panel_of(request)

    def compute() -> Total:
        is_over = TimeLimit(TOTAL_S)
        with panel.database.read() as connection:
            steps = shown.steps(connection, crawl.id, filters, None)
            rows = takewhile(lambda _: not is_over(), rows_of(steps))
            found = total(shown.columns, (row.cells for row in rows))
        return found._replace(is_cut=is_over())

    return panel.results.get(("total", *_key(crawl, shown, filters)), compute, share=COUNT_SHARE)


def _key(crawl: NamedCrawl, shown: Report, filters: Filters) -> tuple[int, str, str, Filters]:
    """Return what a cached result depends on: when a crawl ends or goes on, its results are computed again."""
    return (crawl.id, crawl.state, shown.name, filters)


def _related_address(related: Related | None) -> str:
    return f"{related.report}?{urlencode(related.filters)}" if related is not None else ""


def order_of(column: str, values: dict[str, str]) -> Order:
    """Return the link that sorts by *column*: ascending first, then descending."""
    now = values.get("sort", "")
    direction = {column: "ascending", f"-{column}": "descending"}.get(now, "")
    return Order(urlencode({**values, "sort": f"-{column}" if now == column else column}), direction)


def export(request: Request) -> Response:
    """Send all rows that the filters let through as a file: what the table shows, in its order."""
    crawl, shown = crawl_of(request), _report_of(request)
    _, filters = _filters(request, shown)
    sort = request.query_params.get("sort", "")
    cells: Iterator[Cells] = (row.cells for row in all_rows(panel_of(request).database, crawl.id, shown, filters))
    if is_whole(shown, sort):
        outcome = _outcome(request, crawl, shown, filters, EXPORT_WAIT_S)
        if outcome.value is None:
            raise HTTPException(503, outcome.problem or "This report is still being computed; load the file again.")
        cells = iter(in_order(shown, outcome.value, sort))
    return table_file(request, shown.columns, cells, request.path_params["format"], file_name(crawl, shown.name))


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
    return known(REPORTS, "report", request.path_params["report"])


def _filters(request: Request, shown: Report) -> tuple[dict[str, str], Filters]:
    given = {name: request.query_params.get(name, "") for name in FILTERS}
    return given, parsed_filters(given, shown.filters)


ROUTES = [
    Route("/crawls/{crawl:int}/reports", reports),
    sends_file("/crawls/{crawl:int}/reports/{report}.{format}", export),
    Route("/crawls/{crawl:int}/reports/{report}", report),
]
