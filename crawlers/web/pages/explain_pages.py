"""The history of a URL: what is true of it now, what happened when, and who links to it."""

from __future__ import annotations

import time
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.routing import Route

from crawlers.reports.catalogue.conditions import Filters
from crawlers.reports.catalogue.index_walk import Position
from crawlers.reports.catalogue.report import TimeLimit, cursor_text, parsed_cursor, slice_of
from crawlers.reports.histories.linking_pages import LinkingPages
from crawlers.reports.histories.url_history import subject_of, url_history
from crawlers.store.sites.seeds import deleted_links
from crawlers.web.panel import crawl_of, panel_of, patience_for, render, rules_of

if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.reports.histories.history import History, Subject
    from crawlers.store.reading.queries import NamedCrawl
    from crawlers.web.cached_results import Outcome

ROWS = 50
SEARCH_S = 0.1  # then the page shows what was found, and the browser searches on by itself
HISTORY_SHARE = 0.1  # of the time of a processor for the history of a URL, whoever loads it again and again
REPLAY_S = 1.0  # for replaying the site rule up to the decision that chose the URL


def explain(request: Request) -> Response:
    """Show the history of a URL, or a field to ask for one."""
    crawl, url = crawl_of(request), request.query_params.get("url", "").strip()
    if not url:
        return render(request, "explain.html", crawl=crawl, url="")
    patience = patience_for(request, crawl)
    outcome = _history(request, crawl, url, patience)
    if (found := outcome.value) is None:
        return render(request, "explain.html", crawl=crawl, url=url, unfinished=outcome)
    links = _links(request, crawl, url, found.subject, None) if found.subject.is_anything else None
    groups = [(topic, list(facts)) for topic, facts in groupby(found.facts, key=lambda fact: fact.topic)]
    return render(
        request,
        "explain.html",
        crawl=crawl,
        url=url,
        unfinished=None,
        history=found,
        groups=groups,
        links=links,
    )


def linking(request: Request) -> Response:
    """Show further pages that link to a URL."""
    crawl, url = crawl_of(request), request.query_params.get("url", "").strip()
    cursor = parsed_cursor(request.query_params.get("after", ""), LinkingPages.cursor_kinds)
    if cursor is None or not url:
        raise HTTPException(400, "This address is incomplete; begin with the page of the URL.")
    database = panel_of(request).database
    subject = subject_of(database, crawl, url, rules_of(database, crawl.id).normalization)
    links = _links(request, crawl, url, subject, Position(*cursor))
    template = "linking_rows.html" if "hx-request" in request.headers else "linking.html"
    return render(request, template, crawl=crawl, url=url, links=links)


def _history(request: Request, crawl: NamedCrawl, url: str, patience: TimeLimit) -> Outcome[History]:
    """Return the history of a URL as it was lately: replaying the rule takes long for a page that was read late."""
    panel = panel_of(request)

    def compute() -> History:
        rules = rules_of(panel.database, crawl.id)
        return url_history(panel.database, crawl, url, rules, time.time(), TimeLimit(REPLAY_S))

    with panel.database.read() as connection:
        deleted = tuple(deleted_links(connection, crawl.id))
    key = ("history", crawl.id, crawl.state, url, deleted)
    return panel.results.get(key, compute, patience.left_s, share=HISTORY_SHARE)


def _links(request: Request, crawl: NamedCrawl, url: str, subject: Subject, after: Position | None) -> dict[str, Any]:
    with panel_of(request).database.read() as connection:
        report, everything = LinkingPages(subject), Filters()
        part = slice_of(report.steps(connection, crawl.id, everything, after), ROWS, TimeLimit(SEARCH_S))
        cursor = Position(*part.cursor) if part.cursor is not None else None
        return {
            "holders": [row.cells for row in part.rows],
            "following": urlencode({"url": url, "after": cursor_text(cursor)}) if cursor is not None else "",
            "is_partial": part.is_partial,
            "place": cursor and report.search_place(connection, crawl.id, everything, cursor),
            "is_first": after is None,
        }


ROUTES = [
    Route("/crawls/{crawl:int}/explain", explain),
    Route("/crawls/{crawl:int}/explain/links", linking),
]
