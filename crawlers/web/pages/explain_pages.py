"""The history of a URL: what is true of it now, what happened when, and who links to it."""

from __future__ import annotations

import time
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.routing import Route

from crawlers.inputs.recorded_settings import crawl_rules
from crawlers.reports.catalogue.crawl_report import cursor_text, parsed_cursor, slice_of
from crawlers.reports.catalogue.page_steps import Position
from crawlers.reports.histories.linking_pages import CURSOR_LENGTH, Holder, linking_steps, progress
from crawlers.reports.histories.url_history import url_history
from crawlers.reports.pull_log import settings_of
from crawlers.web.pages.crawl_pages import crawl_of
from crawlers.web.panel import panel_of
from crawlers.web.templating import render

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.reports.histories.history import History, Subject
    from crawlers.storage.queries import NamedCrawl

ROWS = 50
SEARCH_S = 0.25  # then the page shows what was found, and the browser searches on by itself
REPLAY_S = 1.0  # for replaying the site rule up to the decision that chose the URL


def explain(request: Request) -> Response:
    """Show the history of a URL, or a field to ask for one."""
    crawl, url = crawl_of(request), request.query_params.get("url", "").strip()
    if not url:
        return render(request, "explain.html", crawl=crawl, url="", history=None)
    until = time.monotonic() + REPLAY_S
    found = _history(request, crawl, url, lambda: time.monotonic() > until)
    links = _links(request, crawl, url, found.subject, None) if found.subject.is_anything else None
    groups = [(topic, list(facts)) for topic, facts in groupby(found.facts, key=lambda fact: fact.topic)]
    return render(
        request,
        "explain.html",
        crawl=crawl,
        url=url,
        history=found,
        groups=groups,
        links=links,
    )


def linking(request: Request) -> Response:
    """Show further pages that link to a URL."""
    crawl, url = crawl_of(request), request.query_params.get("url", "").strip()
    cursor = parsed_cursor(request.query_params.get("after", ""), CURSOR_LENGTH)
    if cursor is None or not url:
        raise HTTPException(400, "This address is incomplete; begin with the page of the URL.")
    found = _history(request, crawl, url, lambda: True)
    links = _links(request, crawl, url, found.subject, Position(*cursor))
    template = "linking_rows.html" if "hx-request" in request.headers else "linking.html"
    return render(request, template, crawl=crawl, url=url, links=links)


def _history(request: Request, crawl: NamedCrawl, url: str, is_over: Callable[[], bool]) -> History:
    database = panel_of(request).database
    return url_history(database, crawl, url, crawl_rules(settings_of(database, crawl.id)), time.time(), is_over)


def _links(request: Request, crawl: NamedCrawl, url: str, subject: Subject, after: Position | None) -> dict[str, Any]:
    until = time.monotonic() + SEARCH_S
    with panel_of(request).database.read() as connection:
        steps = linking_steps(connection, crawl.id, subject, after)
        part = slice_of(steps, ROWS, lambda: time.monotonic() > until)
        cursor = Position(*part.cursor) if part.cursor is not None else None
        return {
            "holders": [Holder(*row.cells) for row in part.rows],  # type: ignore[arg-type]
            "following": urlencode({"url": url, "after": cursor_text(cursor)}) if cursor is not None else "",
            "is_partial": part.is_partial,
            "progress": progress(connection, crawl.id, cursor) if cursor is not None else None,
            "is_first": after is None,
        }


ROUTES = [
    Route("/crawls/{crawl:int}/explain", explain),
    Route("/crawls/{crawl:int}/explain/links", linking),
]
