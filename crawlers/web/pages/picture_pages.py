"""Pictures of a crawl: all of them, each one large, and its data as JSON for the script that draws it and as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.mission import parts_of_all
from crawlers.reports.catalogue.conditions import MAX_CHARS, Filters, wanted_sites
from crawlers.reports.catalogue.registry import described_in
from crawlers.reports.pictures import page_pictures, pull_pictures
from crawlers.reports.pictures.picture import Picture, PictureRequest, table_of
from crawlers.store.reading.crawls import RUNNING
from crawlers.web.downloads import file_name, sends_file, table_file
from crawlers.web.panel import (
    again,
    crawl_of,
    known,
    language_of,
    panel_of,
    patience_for,
    plain_text,
    render,
    rules_of,
    translated,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.reports.pictures.picture import Axis, Drawing
    from crawlers.web.cached_results import Outcome

SUBJECTS = (pull_pictures, *parts_of_all("pictures"), page_pictures)
PICTURES: Mapping[str, Picture] = {one.name: one for module in SUBJECTS for one in described_in(module, Picture)}

SHARE = 0.01  # of the time, for drawing a picture of a running crawl again: it leaves the crawl its processor
EXPORT_WAIT_S = 20.0  # for a picture that is being computed: browsers wait longer
LISTED_SITES = 200  # of those that a field proposes


def pictures(request: Request) -> Response:
    """Show the pictures that the crawl has values for, small."""
    return render(request, "pictures.html", crawl=crawl_of(request), pictures=stored_pictures(request))


def stored_pictures(request: Request) -> list[Picture]:
    """Return the pictures that the crawl of *request* has values for."""
    wanted = _wanted(request)
    with panel_of(request).database.read() as connection:
        return [one for one in PICTURES.values() if one.is_stored(connection, wanted)]


def picture(request: Request) -> Response:
    """Show one picture with its data, and what a reader may choose."""
    shown, wanted = _picture_of(request), _wanted(request)
    if (response := again(request, _key(shown, wanted))) is not None:
        return response
    outcome = _outcome(request, shown, wanted)
    columns, rows = table_of(outcome.value) if outcome.value is not None else ((), [])
    language = language_of(request)
    # Not in the template: what its _() returns is not escaped, and series have names of crawls.
    titled = [column._replace(title=translated(column.title, language)) for column in columns]
    with panel_of(request).database.read() as connection:
        sites = wanted_sites(connection, wanted.crawl.id, Filters(), LISTED_SITES) if shown.has_sites else {}
    return render(
        request,
        "picture.html",
        crawl=wanted.crawl,
        picture=shown,
        wanted=wanted,
        axis=shown.axis(wanted),
        sites=list(sites.values()),
        query=urlencode({name: value for name, value in (("site", wanted.site), ("axis", wanted.axis)) if value}),
        columns=titled,
        rows=rows,
        outcome=outcome,
        file_name=file_name(wanted.crawl, shown.name),
    )


def values(request: Request) -> Response:
    """Send the values of a picture to the script that draws it; status 202 while they are being computed."""
    shown, wanted, language = _picture_of(request), _wanted(request), language_of(request)
    outcome = _outcome(request, shown, wanted)
    if (drawing := outcome.value) is None:
        return JSONResponse({"problem": outcome.problem}, 500 if outcome.problem else 202)

    def axis(one: Axis) -> dict[str, str]:
        return {"title": translated(one.title, language), "kind": one.kind.value}

    content: dict[str, Any] = {
        "title": translated(shown.title, language),
        "isRunning": wanted.crawl.state == RUNNING,
        "mark": shown.mark.value,
        "x": axis(drawing.x),
        "y": axis(drawing.y),
        "step": drawing.step,
        "points": drawing.points,
        "series": [
            {"title": translated(one.title, language), "tone": one.tone.value, "values": one.values}
            for one in drawing.series
        ],
        "notes": [plain_text(one, language) for one in drawing.notes],
    }
    return JSONResponse(content, headers={"cache-control": "no-store"})


def data(request: Request) -> Response:
    """Send the values of a picture as a CSV file."""
    shown, wanted = _picture_of(request), _wanted(request)
    outcome = _outcome(request, shown, wanted, EXPORT_WAIT_S)
    if outcome.value is None:
        raise HTTPException(503, outcome.problem or "This picture is still being computed; load the file again.")
    columns, rows = table_of(outcome.value)
    return table_file(request, columns, rows, "csv", file_name(wanted.crawl, shown.name))


def _picture_of(request: Request) -> Picture:
    return known(PICTURES, "picture", request.path_params["picture"])


def _wanted(request: Request) -> PictureRequest:
    """Return what is wanted of which crawl. Raises `ConfigError` if the crawl has no such site."""
    crawl, database = crawl_of(request), panel_of(request).database
    name, axis = (request.query_params.get(one, "").strip()[:MAX_CHARS] for one in ("site", "axis"))
    if name:
        with database.read() as connection:
            if not wanted_sites(connection, crawl.id, Filters(site=name), most=1):
                raise ConfigError(f"site={name!r} is not a site of this crawl; its report Sites lists them")
    return PictureRequest(crawl, rules_of(database, crawl.id), name, axis)


def _outcome(request: Request, shown: Picture, wanted: PictureRequest, wait_s: float | None = None) -> Outcome[Drawing]:
    """Return a picture, of a running crawl as it was lately; with *wait_s*, the one that is shown."""
    panel = panel_of(request)

    def compute() -> Drawing:
        with panel.database.read() as connection:
            return shown.drawing(connection, wanted)

    key, small_s = _key(shown, wanted), patience_for(request, wanted.crawl).left_s
    share = SHARE if wanted.crawl.state == RUNNING and wait_s is None else 0.0
    return panel.results.get(key, compute, small_s if wait_s is None else wait_s, share=share)


def _key(shown: Picture, wanted: PictureRequest) -> tuple[object, ...]:
    return (wanted.crawl.id, wanted.crawl.state, "picture", shown.name, wanted.site, shown.axis(wanted).name)


ROUTES = [
    Route("/crawls/{crawl:int}/pictures", pictures),
    Route("/crawls/{crawl:int}/pictures/{picture}.json", values),
    sends_file("/crawls/{crawl:int}/pictures/{picture}.csv", data),
    Route("/crawls/{crawl:int}/pictures/{picture}", picture),
]
