"""The list of sites in the store, and each site: what is known of it, its limits, and whether harvests crawl it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.inputs.seed_list import format_seeds, parse_seeds, seed_change
from crawlers.inputs.text_file import decoded
from crawlers.reports.seed_overview import SORTED_BY, SeedState, seed_lines, site_details, with_pages
from crawlers.storage.news.stored_sources import delete_orphaned_feeds
from crawlers.storage.seeds import enable_seeds, list_seeds, save_seeds
from crawlers.storage.site_removal import crawls_at_work, remove_site, rows_of_site
from crawlers.web.forms import changes
from crawlers.web.panel import panel_of
from crawlers.web.templating import render

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request

    from crawlers.items import Seed

ROWS = 100
STATES = ("enabled", "disabled", *(state.value for state in SeedState))
SWITCHES = {"enable": True, "disable": False}
FIELDS = ("full_name", "short_name", "parallel", "max_level", "delay_ms")


def sites(request: Request) -> Response:
    """Show the list, a part at a time."""
    return _list(request)


def site(request: Request) -> Response:
    """Show one site."""
    return _site(request, _seed(request))


def add_site(request: Request, form: FormData) -> Response:
    """Add a site to the list."""
    typed = _typed(form, ("url", *FIELDS))
    try:
        change = seed_change(typed["url"], _given(typed))
        [(seed, _)] = save_seeds(panel_of(request).database, [{**change, "enabled": True}])
    except ConfigError as error:
        return _list(request, 422, problem=str(error), typed=typed)
    return RedirectResponse(f"/sites/{seed.number}", 303)


def import_sites(request: Request, form: FormData) -> Response:
    """Add or update the sites of a file, or of a text."""
    upload, text = form.get("file"), str(form.get("text", ""))
    try:
        if isinstance(upload, UploadFile) and upload.filename:
            text = decoded(upload.file.read(), upload.filename)
        saved = save_seeds(panel_of(request).database, parse_seeds(text, "line" if not upload else "file"))
    except ConfigError as error:
        return _list(request, 422, problem=str(error), text=text)
    added = sum(is_new for _, is_new in saved)
    return RedirectResponse(f"/sites?{urlencode({'added': added, 'changed': len(saved) - added})}", 303)


def export_sites(request: Request) -> Response:
    """Send the list as the table that the import reads."""
    text = format_seeds(list_seeds(panel_of(request).database))
    headers = {"content-disposition": 'attachment; filename="sites.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def edit_site(request: Request, form: FormData) -> Response:
    """Change the names, the start page and the limits of a site; an empty limit is that of the settings."""
    seed, typed = _seed(request), _typed(form, ("url", *FIELDS))
    try:
        change = seed_change(typed["url"], typed)
        if change["site"] != seed.site:
            raise ConfigError(f"{change['site']} is another site; add it to the list, and disable this one")
        save_seeds(panel_of(request).database, [{**change, "enabled": seed.enabled}])
    except ConfigError as error:
        return _site(request, seed, 422, problem=str(error), typed=typed)
    return RedirectResponse(f"/sites/{seed.number}", 303)


def switch_site(request: Request, _form: FormData) -> Response:
    """Include a site in harvests, or exclude it."""
    seed, action = _seed(request), request.path_params["switch"]
    if action not in SWITCHES:
        raise HTTPException(404)
    enable_seeds(panel_of(request).database, [seed.number], enabled=SWITCHES[action])
    return RedirectResponse(f"/sites/{seed.number}", 303)


def confirm(request: Request) -> Response:
    """Show what would be deleted, and ask."""
    return _confirm(request, _seed(request))


def delete_site(request: Request, _form: FormData) -> Response:
    """Delete a site with its pages and links in all crawls, unless somebody works on one of them."""
    seed, database = _seed(request), panel_of(request).database
    try:
        remove_site(database, seed.site)
    except ConfigError as error:
        return _confirm(request, seed, 409, str(error))
    delete_orphaned_feeds(database)
    return RedirectResponse("/sites", 303)


def _list(request: Request, status: int = 200, **values: object) -> Response:
    database, given = panel_of(request).database, request.query_params
    query = {name: given.get(name, "") for name in ("text", "state", "by")}
    by, is_down = query["by"].removeprefix("-"), query["by"].startswith("-")
    lines = seed_lines(database, query["text"], query["state"], by, descending=is_down)
    page = given.get("page", "1")
    number = int(page) if page.isascii() and page.isdigit() and len(page) < 7 and int(page) else 1
    part = lines[(number - 1) * ROWS : number * ROWS]
    shown = {name: value for name, value in query.items() if value}
    defaults = {"problem": "", "typed": {}, "text": ""}
    return render(
        request,
        "sites.html",
        status,
        lines=with_pages(database, part),
        total=len(lines),
        given=shown,
        by=by if by in SORTED_BY else SORTED_BY[0],
        is_down=is_down,
        states=STATES,
        links={key: urlencode({**shown, "by": f"-{key}" if key == by and not is_down else key}) for key in SORTED_BY},
        earlier=urlencode({**shown, "page": number - 1}) if number > 1 else "",
        later=urlencode({**shown, "page": number + 1}) if len(lines) > number * ROWS else "",
        saved=[(name, given[name]) for name in ("added", "changed") if given.get(name, "").isdigit()],
        **{**defaults, **values},
    )


def _site(request: Request, seed: Seed, status: int = 200, **values: object) -> Response:
    delay_ms = None if seed.delay_s is None else round(seed.delay_s * 1000)
    stored = (seed.start_url, seed.name, seed.short_name, seed.parallel, seed.max_level, delay_ms)
    typed = {name: "" if value is None else str(value) for name, value in zip(("url", *FIELDS), stored, strict=True)}
    details = site_details(panel_of(request).database, seed.site)
    return render(request, "site.html", status, seed=seed, details=details, **{"problem": "", "typed": typed, **values})


def _confirm(request: Request, seed: Seed, status: int = 200, problem: str = "") -> Response:
    database = panel_of(request).database
    working, rows = crawls_at_work(database, seed.site), rows_of_site(database, seed.site)
    return render(request, "site_delete.html", status, seed=seed, rows=rows, working=working, problem=problem)


def _seed(request: Request) -> Seed:
    """Return the site whose number is in the path. Raises `HTTPException` if there is none."""
    number = request.path_params["number"]
    found = next((seed for seed in list_seeds(panel_of(request).database) if seed.number == number), None)
    if found is None:
        raise HTTPException(404, f"There is no site {number} in the list.")
    return found


def _typed(form: FormData, names: tuple[str, ...]) -> dict[str, str]:
    return {name: str(form.get(name, "")).strip() for name in names}


def _given(typed: dict[str, str]) -> dict[str, str]:
    """Return what was typed: the other values of a known site stay."""
    return {name: text for name, text in typed.items() if text}


ROUTES = [
    Route("/sites", sites),
    Route("/sites.csv", export_sites),
    changes("/sites", add_site),
    changes("/sites/import", import_sites),
    Route("/sites/{number:int}", site),
    changes("/sites/{number:int}", edit_site),
    Route("/sites/{number:int}/delete", confirm),
    changes("/sites/{number:int}/delete", delete_site),
    changes("/sites/{number:int}/{switch}", switch_site),
]
