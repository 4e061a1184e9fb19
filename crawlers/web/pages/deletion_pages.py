"""Deletes links: chosen ones, or all that the filters of a table show. Only while nobody works on the crawl."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.reports.catalogue.conditions import FILTERS, Filters, parsed_filters
from crawlers.reports.catalogue.index_walk import link_key
from crawlers.reports.catalogue.registry import REPORTS
from crawlers.reports.catalogue.report import TimeLimit, cursor_text, parsed_cursor, slice_of
from crawlers.store.schema.tables import crawl as crawls
from crawlers.store.sites.seeds import crawls_with_workers, deleted_links, remove_links
from crawlers.web.panel import changes, crawl_of, panel_of, render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.reports.catalogue.report import Cursor, Report, Row, Step
    from crawlers.store.reading.queries import NamedCrawl
    from crawlers.web.cached_results import Outcome

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


class LinkDeletion(NamedTuple):
    """Which links of a crawl are to be deleted: those *chosen*, or else all that the filters show."""

    request: Request
    crawl: NamedCrawl
    report: Report
    given: dict[str, str]
    filters: Filters
    chosen: Sequence[Cursor]


def confirm(request: Request) -> Response:
    """Show how many links would be deleted, and ask."""
    asked = _asked(request, request.query_params, request.query_params.getlist(ROW))
    if CHOSEN in request.query_params and not asked.chosen:
        return _page(asked, has_chosen_none=True)
    if asked.chosen:
        return _page(asked, number=len(asked.chosen), sample=_rows_at(asked))
    outcome = _count(asked)
    if outcome.value is None:
        return _page(asked, unfinished=outcome)
    number, is_more, sample = outcome.value
    return _page(asked, number=number, is_more=is_more, sample=sample)


def delete(request: Request, form: FormData) -> Response:
    """Delete the chosen links, or those that the filters show until the time is over; the page goes on by itself."""
    texts = {name: value for name, value in form.items() if isinstance(value, str)}
    asked = _asked(request, texts, [value for value in form.getlist(ROW) if isinstance(value, str)])
    if not asked.chosen and "all" not in texts:
        raise HTTPException(400, "No links were chosen; choose some in the table.")
    cursor = parsed_cursor(texts.get("after", ""), asked.report.cursor_kinds)
    before = texts.get("deleted", "")
    deleted = int(before) if before.isascii() and before.isdigit() and len(before) < 16 else 0
    is_over = TimeLimit(DELETE_S)
    try:
        if asked.chosen:
            deleted, cursor = _remove(asked, asked.chosen), None
        else:
            while True:
                part = _search(asked, cursor, BATCH, SEARCH_S)
                deleted += _remove(asked, [row.cursor for row in part.rows])
                cursor = part.cursor
                if cursor is None or is_over():
                    break
    except ConfigError as error:
        return _page(asked, 409, problem=str(error), deleted=deleted)
    following = cursor_text(cursor) if cursor is not None else ""
    return _page(asked, deleted=deleted, following=following, is_done=not following)


def _search(asked: LinkDeletion, after: Cursor | None, most: int, limit_s: float) -> Step:
    """Return the next links, at most *most*, as far as they are found within *limit_s* seconds."""
    is_over = TimeLimit(limit_s)
    with panel_of(asked.request).database.read() as connection:
        return slice_of(asked.report.steps(connection, asked.crawl.id, asked.filters, after), most, is_over)


def _remove(asked: LinkDeletion, cursors: Sequence[Cursor]) -> int:
    if not cursors:
        return 0
    keys, database = [link_key(cursor) for cursor in cursors], panel_of(asked.request).database
    return remove_links(database, asked.crawl.id, asked.report.link_kind, keys, time.time())


def _count(asked: LinkDeletion) -> Outcome[tuple[int, bool, list[Row]]]:
    """Return how many links the filters show, whether there may be more, and the first of them, as of lately.

    Their pages may be many, with few such links.
    """
    panel, crawl = panel_of(asked.request), asked.crawl

    def compute() -> tuple[int, bool, list[Row]]:
        part = _search(asked, None, COUNTED_ROWS, COUNT_S)
        return len(part.rows), part.cursor is not None, part.rows[:SAMPLE]

    with panel.database.read() as connection:
        deleted = tuple(deleted_links(connection, crawl.id))
    key = ("links to delete", crawl.id, crawl.state, asked.report.name, asked.filters, deleted)
    return panel.results.get(key, compute, share=COUNT_SHARE)


def _rows_at(asked: LinkDeletion) -> list[Row]:
    """Return the first rows that were chosen: each is the first one after the cursor before it."""
    some = asked.chosen[:SAMPLE]
    with panel_of(asked.request).database.read() as connection:
        steps = (
            next(asked.report.steps(connection, asked.crawl.id, Filters(), (*cursor[:-1], cursor[-1] - 1)))
            for cursor in some
        )
        found = {row.cursor: row for step in steps for row in step.rows if row.cursor in some}
    return list(found.values())


def _page(asked: LinkDeletion, status: int = 200, **values: object) -> Response:
    database, crawl = panel_of(asked.request).database, asked.crawl
    with database.read() as connection:
        working = crawls_with_workers(database, connection, crawls.c.id == crawl.id)
    defaults = {"number": 0, "is_more": False, "sample": [], "problem": "", "deleted": 0, "following": ""}
    return render(
        asked.request,
        "delete_links.html",
        status,
        crawl=crawl,
        report=asked.report,
        given=asked.given,
        query=urlencode(asked.given),
        chosen=[cursor_text(cursor) for cursor in asked.chosen],
        is_working=bool(working),
        **{**defaults, "is_done": False, "has_chosen_none": False, "unfinished": None, **values},
    )


def _asked(request: Request, texts: Mapping[str, str], rows: Sequence[str]) -> LinkDeletion:
    """Return what is asked for by the filters *texts* and the chosen *rows*. Raises `HTTPException`, `ConfigError`."""
    report = REPORTS.get(request.path_params["report"])
    if report is None or not report.link_kind:
        names = ", ".join(name for name, one in REPORTS.items() if one.link_kind)
        raise HTTPException(404, f"Rows of this report can't be deleted; those of {names} can.")
    cursors = [parsed_cursor(text, report.cursor_kinds) for text in rows]
    chosen = [cursor for cursor in cursors if cursor is not None]
    if len(chosen) < len(cursors) or len(cursors) > MOST_ROWS:
        raise HTTPException(400, f"Choose at most {MOST_ROWS} links in the table.")
    given = {name: texts[name].strip() for name in FILTERS if texts.get(name, "").strip()}
    return LinkDeletion(request, crawl_of(request), report, given, parsed_filters(given, report.filters), chosen)


PATH = "/crawls/{crawl:int}/reports/{report}/delete"
ROUTES = [Route(PATH, confirm), changes(PATH, delete)]
