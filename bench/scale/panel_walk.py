"""What is measured of the panel: every address that it answers with GET, for each crawl of `panel_store`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from bench.scale.panel_store import EXPLAINED, LARGE, MISSIONS, first_document
from crawlers.reports.catalogue.registry import reports_about
from crawlers.reports.catalogue.report import ComputedReport, cursor_text
from crawlers.web.pages.picture_pages import PICTURES
from crawlers.web.serving import ROUTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.scale.panel_store import Size

CRAWL = "/crawls/{crawl:int}"
PAGE, TABLE, FILTER, ORDER = "page", "first page", "filter", "order"
LEFT_OUT = {  # and why
    "/login": "there is no password",
    **dict.fromkeys(
        (
            f"{CRAWL}/reports/{{report}}.{{format}}",
            f"{CRAWL}/compare/{{rows}}.{{format}}",
            f"{CRAWL}/compare/changes.gexf",
            f"{CRAWL}/graph/full.{{format}}",
            f"{CRAWL}/graph/picture.{{format}}",
        ),
        "a file, which takes as long as its rows",
    ),
}
FILTERS = {
    "site": "s7.test",
    "host": "h77.test",
    "text": "/page/777",
    "words": "yesterday",
    "anchor": "a text",
    "level": "3",
    "state": "not a page",
    "status": "404",
    "reason": "status",
    "kind": "feed",
    "language": "de",
    "since": "2023-11-15",
    "until": "2023-11-14T23:00",
}
_SITES = ("page=90", "text=77", "state=available", "by=-name", "by=-state", "by=pages", "by=-errors", "by=yield")
_COMPARED = ("change=appeared", "rows=links&change=vanished", "text=777", "rows=links&kind=external", "sort=-url")
_QUERIES = {  # of pages that have more than one, without filters of a table
    "/sites": ("", *_SITES),
    f"{CRAWL}/explain": ("", *(f"url={quote(url)}" for url in EXPLAINED)),
    f"{CRAWL}/explain/links": tuple(f"url={quote(url)}&after=0_0_0_0" for url in EXPLAINED),  # the first continuation
    f"{CRAWL}/rules": ("", "rule=/page/1.%2B&site=http://s7.test", f"url={quote(EXPLAINED[0])}"),
    f"{CRAWL}/reports/{{report}}/delete": ("", "text=777", "site=s7.test"),
    f"{CRAWL}/graph": ("", "graph=host", "graph=pages", f"url={quote(EXPLAINED[-1])}"),
}


class Asked(NamedTuple):
    """An address, and what it shows."""

    kind: str
    path: str


def asked(size: Size) -> Iterator[Asked]:
    """Yield all addresses that are measured."""
    for route in shown_routes():
        if route.startswith(CRAWL):
            for number, mission in MISSIONS.items():
                yield from _of_crawl(route, number, mission, size)
        else:
            for query in _QUERIES.get(route, ("",)):
                yield Asked(PAGE, _with(route.replace("{number:int}", "7"), query))


def shown_routes() -> Iterator[str]:
    """Yield the paths of the routes whose addresses are measured."""
    for route in ROUTES:
        if "GET" in (route.methods or ()) and route.path not in LEFT_OUT:
            yield route.path


def _of_crawl(route: str, number: int, mission: str, size: Size) -> Iterator[Asked]:
    path = route.replace("{crawl:int}", str(number))
    if "{picture}" in path:
        for name in PICTURES:
            yield Asked(PAGE, path.replace("{picture}", name))
    elif path.endswith("{report}"):
        for report in reports_about(mission):
            yield from _table(path.replace("{report}", report.name), report.filters)
            if isinstance(report, ComputedReport):
                for column in report.columns:
                    yield Asked(ORDER, f"{path.replace('{report}', report.name)}?sort=-{column.name}")
    elif path.endswith("{report}/delete"):
        for report in reports_about(mission):
            if report.link_kind:
                links = path.replace("{report}", report.name)
                for query in _QUERIES[route]:
                    yield Asked(PAGE, _with(links, query))
                cursor = (7, 1, 0, 7, *(0 for _ in report.cursor_kinds[4:]))
                yield Asked(PAGE, f"{links}?chosen=1&row={cursor_text(cursor)}")
    elif path.endswith("/compare"):
        other = next(one for one in MISSIONS if one != number)
        yield Asked(PAGE, path)
        if number in (LARGE, other):
            for query in _COMPARED:
                yield Asked(FILTER, f"{path}?with={other}&{query}")
    elif path.endswith("/documents/{number:int}"):
        yield Asked(PAGE, path.replace("{number:int}", str(first_document(size))))
    else:
        for query in _QUERIES.get(route, ("",)):
            yield Asked(PAGE, _with(path, query))


def _table(path: str, filters: frozenset[str]) -> Iterator[Asked]:
    yield Asked(TABLE, path)
    for name in sorted(filters):
        yield Asked(FILTER, f"{path}?{name}={quote(FILTERS[name])}")


def _with(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path
