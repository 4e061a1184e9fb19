"""Deletes links: chosen ones, or all that the filters of a table show. Only while nobody works on the crawl."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.reports.catalogue.conditions import FILTERS, Filters, parsed_filters
from crawlers.reports.catalogue.page_walk import link_key
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.reports.catalogue.report import cursor_text, parsed_cursor, slice_of
from crawlers.reports.time_limit import TimeLimit
from crawlers.storage.link_removal import crawls_with_workers, deleted_links, remove_links
from crawlers.storage.schema.tables import crawl as crawls
from crawlers.web.forms import changes
from crawlers.web.panel import crawl_of, panel_of
from crawlers.web.templating import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.reports.catalogue.report import Cursor, Report, Row, Slice
    from crawlers.storage.queries import NamedCrawl
    from crawlers.web.kept_results import Outcome

ROW = "row"  # the name of the check boxes
CHOSEN = "chosen"  # the form with the check boxes was sent
MOST_ROWS = 500  # that are chosen one by one
COUNT_S = 2.0  # for counting in the background; beyond that, "at least"
COUNT_SHARE = 0.1  # of the time of a processor for counting the same links, whoever loads the question again and again
COUNTED_ROWS = 100_000
SAMPLE = 5
BATCH = 2000  # rows of a transaction
SEARCH_S = 0.25  # for the rows of one
DELETE_S = 3.0  # then the page says how many were deleted, and goes on


def confirm(request: Request) -> Response:
    """Show how many links would be deleted, and ask."""
    crawl, report = crawl_of(request), _report_of(request)
    query = request.query_params
    chosen = _chosen(report, query.getlist(ROW))
    given, filters = _filters(query, report)
    if CHOSEN in query and not chosen:
        return _page(request, crawl, report, given, (), has_chosen_none=True)
    if chosen:
        return _page(
            request, crawl, report, given, chosen, number=len(chosen), sample=_rows_at(request, crawl, report, chosen)
        )
    outcome = _count(request, crawl, report, filters)
    if outcome.value is None:
        return _page(request, crawl, report, given, (), unfinished=outcome)
    number, is_more, sample = outcome.value
    return _page(request, crawl, report, given, (), number=number, is_more=is_more, sample=sample)


def delete(request: Request, form: FormData) -> Response:
    """Delete the chosen links, or those that the filters show until the time is over; the page goes on by itself."""
    crawl, report = crawl_of(request), _report_of(request)
    texts = {name: value for name, value in form.items() if isinstance(value, str)}
    chosen = _chosen(report, [value for value in form.getlist(ROW) if isinstance(value, str)])
    given, filters = _filters(texts, report)
    if not chosen and "all" not in texts:
        raise HTTPException(400, "No links were chosen; choose some in the table.")
    after = parsed_cursor(texts.get("after", ""), report.cursor_ranges)
    before = texts.get("deleted", "")
    deleted = int(before) if before.isascii() and before.isdigit() and len(before) < 16 else 0
    try:
        if chosen:
            deleted, cursor = _remove(request, crawl, report, chosen), None
        else:
            is_over = TimeLimit(DELETE_S)
            while True:
                part = _search(request, crawl, report, filters, after, BATCH, SEARCH_S)
                deleted += _remove(request, crawl, report, [row.cursor for row in part.rows])
                after = cursor = part.cursor
                if cursor is None or is_over():
                    break
    except ConfigError as error:
        return _page(request, crawl, report, given, chosen, 409, problem=str(error), deleted=deleted)
    following = cursor_text(cursor) if cursor is not None else ""
    return _page(request, crawl, report, given, chosen, deleted=deleted, following=following, is_done=not following)


def _search(
    request: Request,
    crawl: NamedCrawl,
    report: Report,
    filters: Filters,
    after: Cursor | None,
    most: int,
    limit_s: float,
) -> Slice:
    """Return the next links, at most *most*, as far as they are found within *limit_s* seconds."""
    with panel_of(request).database.read() as connection:
        return slice_of(report.steps(connection, crawl.id, filters, after), most, TimeLimit(limit_s))


def _remove(request: Request, crawl: NamedCrawl, report: Report, cursors: Sequence[Cursor]) -> int:
    if not cursors:
        return 0
    keys = [link_key(cursor) for cursor in cursors]
    return remove_links(panel_of(request).database, crawl.id, report.link_kind, keys, time.time())


def _count(
    request: Request, crawl: NamedCrawl, report: Report, filters: Filters
) -> Outcome[tuple[int, bool, list[Row]]]:
    """Return how many links the filters show, whether there may be more, and the first of them, as of lately.

    Their pages may be many, with few such links.
    """
    panel = panel_of(request)

    def compute() -> tuple[int, bool, list[Row]]:
        part = _search(request, crawl, report, filters, None, COUNTED_ROWS, COUNT_S)
        return len(part.rows), part.cursor is not None, part.rows[:SAMPLE]

    with panel.database.read() as connection:
        deleted = tuple(deleted_links(connection, crawl.id))
    key = ("links to delete", crawl.id, crawl.state, report.name, filters, deleted)
    return panel.results.get(key, compute, share=COUNT_SHARE)


def _rows_at(request: Request, crawl: NamedCrawl, report: Report, chosen: Sequence[Cursor]) -> list[Row]:
    """Return the rows of some cursors: each is the first one after the cursor before it."""
    with panel_of(request).database.read() as connection:
        steps = (
            next(report.steps(connection, crawl.id, Filters(), (*cursor[:-1], cursor[-1] - 1)))
            for cursor in chosen[:SAMPLE]
        )
        found = {row.cursor: row for step in steps for row in step.rows if row.cursor in chosen[:SAMPLE]}
    return list(found.values())


def _page(
    request: Request,
    crawl: NamedCrawl,
    report: Report,
    given: Mapping[str, str],
    chosen: Sequence[Cursor],
    status: int = 200,
    **values: object,
) -> Response:
    database = panel_of(request).database
    with database.read() as connection:
        working = crawls_with_workers(database, connection, crawls.c.id == crawl.id)
    defaults = {"number": 0, "is_more": False, "sample": [], "problem": "", "deleted": 0, "following": ""}
    return render(
        request,
        "delete_links.html",
        status,
        crawl=crawl,
        report=report,
        given=given,
        query=urlencode(given),
        chosen=[cursor_text(cursor) for cursor in chosen],
        is_working=bool(working),
        **{**defaults, "is_done": False, "has_chosen_none": False, "unfinished": None, **values},
    )


def _report_of(request: Request) -> Report:
    found = REPORTS.get(request.path_params["report"])
    if found is None or not found.link_kind:
        names = ", ".join(name for name, one in REPORTS.items() if one.link_kind)
        raise HTTPException(404, f"Rows of this report can't be deleted; those of {names} can.")
    return found


def _chosen(report: Report, texts: Sequence[str]) -> list[Cursor]:
    cursors = [parsed_cursor(text, report.cursor_ranges) for text in texts]
    known = [cursor for cursor in cursors if cursor is not None]
    if len(known) < len(cursors) or len(cursors) > MOST_ROWS:
        raise HTTPException(400, f"Choose at most {MOST_ROWS} links in the table.")
    return known


def _filters(texts: Mapping[str, str], report: Report) -> tuple[dict[str, str], Filters]:
    given = {name: texts[name].strip() for name in FILTERS if texts.get(name, "").strip()}
    return given, parsed_filters(given, report.filters)


PATH = "/crawls/{crawl:int}/reports/{report}/delete"
ROUTES = [Route(PATH, confirm), changes(PATH, delete)]
