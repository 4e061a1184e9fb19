"""The list of sites in the store, and each site: what is known of it, its limits, and whether harvests crawl it."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.files.text_file import decoded
from crawlers.reports.catalogue.conditions import parsed_filters
from crawlers.reports.catalogue.report import sorted_by
from crawlers.reports.catalogue.site_report import SEEDS, STATES, chosen_lines, seed_lines, site_details
from crawlers.sites.seed_list import format_seeds, parse_seeds, seed_change, seed_problems
from crawlers.store.sites.seeds import (
    MOST_COUNTED,
    SiteRows,
    crawls_at_work,
    enable_seeds,
    list_seeds,
    remove_site,
    rows_of_site,
    save_seeds,
    seed_numbered,
)
from crawlers.web.downloads import TABLE_TYPES, saved_as, sends_file
from crawlers.web.pages.report_pages import order_of
from crawlers.web.panel import AGAIN, again, changes, number_in, panel_of, render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.datastructures import FormData
    from starlette.requests import Request

    from crawlers.store.sites.seeds import Seed

ROWS = 100
_NUMBER = re.compile(r"[0-9]{1,9}")
MAX_NUMBER = 2**31  # of the numbers of sites
LIST = "sites"  # key of the list
DETAILS_SHARE = 0.05  # of the time of a processor for what the latest crawl of a site found
ROWS_SHARE = 0.1  # of the time of a processor for counting what is deleted with a site
LIST_SHARE = 0.02  # of the time of a processor for the list with what the latest crawls counted, whoever looks at it
SWITCHES = {"enable": True, "disable": False}
FIELDS = ("full_name", "short_name", "parallel", "max_level", "delay_ms")


def add_site(request: Request, form: FormData) -> Response:
    """Add a site to the list."""
    typed = _typed(form, ("url", *FIELDS))
    given = {name: text for name, text in typed.items() if text}  # the other values of a known site stay
    seed, errors = _saved(request, typed, given, enabled=True)
    if seed is None:
        return sites(request, 422, errors=errors, typed=typed)
    return RedirectResponse(f"/sites/{seed.number}", 303)


def import_sites(request: Request, form: FormData) -> Response:
    """Add or update the sites of a file, or of a text."""
    upload, text = form.get("file"), str(form.get("text", ""))
    try:
        if isinstance(upload, UploadFile) and upload.filename:
            text = decoded(upload.file.read(), upload.filename)
        saved = save_seeds(panel_of(request).database, parse_seeds(text, ""))
    except ConfigError as error:
        return sites(request, 422, errors={"text": str(error)}, text=text)
    panel_of(request).results.forget(LIST)
    added = sum(before is None for _, before in saved)
    changed = sum(before not in (None, seed) for seed, before in saved)
    return RedirectResponse(f"/sites?{urlencode({'added': added, 'changed': changed})}", 303)


def export_sites(request: Request) -> Response:
    """Send the list as the table that the import reads."""
    text = format_seeds(list_seeds(panel_of(request).database))
    return Response(text, media_type=TABLE_TYPES["csv"], headers=saved_as("sites.csv"))


def edit_site(request: Request, form: FormData) -> Response:
    """Change the names, the start URL and the limits of a site; an empty limit is that of the settings."""
    seed, typed = _seed(request), _typed(form, ("url", *FIELDS))
    saved, errors = _saved(request, typed, typed, enabled=seed.enabled, site=seed.site)
    if saved is None:
        return site(request, 422, errors=errors, typed=typed)
    return RedirectResponse(f"/sites/{seed.number}", 303)


def _saved(
    request: Request, typed: dict[str, str], given: dict[str, str], *, enabled: bool, site: str = ""
) -> tuple[Seed | None, dict[str, str]]:
    """Save the seed at the address that was *typed*, with the values *given*; or return what is wrong, by field.

    It must be *site*, unless that is "".
    """
    if errors := seed_problems(typed["url"], given):
        return None, errors
    change = seed_change(typed["url"], given)
    if site not in ("", change["site"]):
        return None, {"url": f"{change['site']} is another site; add it to the list, and disable this one"}
    try:
        [(seed, _)] = save_seeds(panel_of(request).database, [{**change, "enabled": enabled}])
    except ConfigError as error:  # of all values, only names are compared with those of other sites
        return None, {"short_name": str(error)}
    panel_of(request).results.forget(LIST)
    return seed, {}


def switch_site(request: Request, _form: FormData) -> Response:
    """Include a site in harvests, or exclude it."""
    seed, action = _seed(request), request.path_params["switch"]
    if action not in SWITCHES:
        raise HTTPException(404)
    enable_seeds(panel_of(request).database, [seed.number], enabled=SWITCHES[action])
    panel_of(request).results.forget(LIST)
    return RedirectResponse(f"/sites/{seed.number}", 303)


def delete_site(request: Request, form: FormData) -> Response:
    """Delete a site with its pages and links in all crawls, unless somebody works on one of them.

    The number of a site that was deleted may be given to another one later: a form that was left open names the site.
    """
    seed, database = _seed(request), panel_of(request).database
    if form.get("site") != seed.site:
        raise HTTPException(409, "The number is that of another site now; open the site from the list.")
    rows = rows_of_site(database, seed.site)
    try:
        remove_site(database, seed.site)
    except ConfigError as error:
        return confirm(request, 409, str(error))
    panel_of(request).results.forget(LIST)
    return RedirectResponse(f"/sites?{urlencode({'deleted': seed.site, **rows._asdict()})}", 303)


def sites(request: Request, status: int = 200, **values: object) -> Response:
    """Show the list, a part at a time; *values* are those of the template, if a form was wrong."""
    panel, given = panel_of(request), request.query_params
    if (response := again(request, LIST)) is not None:
        return response
    shown = {name: given[name] for name in ("text", "state", "sort") if given.get(name)}
    parsed_filters({"text": shown.get("text", "")}, ("text",))  # which checks it
    outcome = panel.results.get(LIST, partial(seed_lines, panel.database), share=LIST_SHARE)
    number = number_in(request, "page") or 1
    chosen = chosen_lines(outcome.value or (), shown.get("text", ""), shown.get("state", ""))
    lines = sorted_by(chosen, SEEDS, shown.get("sort", ""))
    defaults = {"errors": {}, "typed": {}, "text": ""}
    return render(
        request,
        "sites.html",
        status,
        columns=SEEDS,
        orders=[order_of(column.name, shown) for column in SEEDS],
        lines=lines[(number - 1) * ROWS : number * ROWS],
        total=len(lines),
        outcome=outcome,
        given=shown,
        states=STATES,
        renewal=urlencode({**shown, AGAIN: "1"}),
        earlier=urlencode({**shown, "page": number - 1}) if number > 1 else "",
        later=urlencode({**shown, "page": number + 1}) if len(lines) > number * ROWS else "",
        deleted=_deleted(given),
        most=MOST_COUNTED,
        saved=[(name, given[name]) for name in ("added", "changed") if given.get(name, "").isdigit()],
        **{**defaults, **values},
    )


def _deleted(given: Mapping[str, str]) -> dict[str, str | int]:
    """Return the name of the site that was just deleted and the numbers of its rows, if the address has them."""
    rows = {name: given.get(name, "") for name in SiteRows._fields}
    if "deleted" not in given or not all(map(_NUMBER.fullmatch, rows.values())):
        return {}
    return {"site": given["deleted"], **{name: int(text) for name, text in rows.items()}}


def site(request: Request, status: int = 200, **values: object) -> Response:
    """Show one site; *values* are those of the template, if a form was wrong."""
    seed = _seed(request)
    delay_ms = None if seed.delay_s is None else round(seed.delay_s * 1000)
    stored = (seed.start_url, seed.name, seed.short_name, seed.parallel, seed.max_level, delay_ms)
    typed = {name: "" if value is None else str(value) for name, value in zip(("url", *FIELDS), stored, strict=True)}
    panel = panel_of(request)
    compute = partial(site_details, panel.database, seed.site)
    outcome = panel.results.get(("site", seed.site), compute, share=DETAILS_SHARE)
    return render(
        request,
        "site.html",
        status,
        seed=seed,
        outcome=outcome,
        **{"errors": {}, "typed": typed, **values},
    )


def confirm(request: Request, status: int = 200, problem: str = "") -> Response:
    """Show what would be deleted, and ask."""
    panel, seed = panel_of(request), _seed(request)
    compute = partial(rows_of_site, panel.database, seed.site)
    outcome = panel.results.get(("rows of site", seed.site), compute, share=ROWS_SHARE)
    return render(
        request,
        "site_delete.html",
        status,
        seed=seed,
        outcome=outcome,
        most=MOST_COUNTED,
        working=crawls_at_work(panel.database, seed.site),
        problem=problem,
    )


def _seed(request: Request) -> Seed:
    """Return the site whose number is in the path. Raises `HTTPException` if there is none."""
    number = request.path_params["number"]
    found = seed_numbered(panel_of(request).database, number) if number < MAX_NUMBER else None
    if found is None:
        raise HTTPException(404, f"There is no site {number} in the list.")
    return found


def _typed(form: FormData, names: tuple[str, ...]) -> dict[str, str]:
    return {name: str(form.get(name, "")).strip() for name in names}


ROUTES = [
    Route("/sites", sites),
    sends_file("/sites.csv", export_sites),
    changes("/sites", add_site),
    changes("/sites/import", import_sites),
    Route("/sites/{number:int}", site),
    changes("/sites/{number:int}", edit_site),
    Route("/sites/{number:int}/delete", confirm),
    changes("/sites/{number:int}/delete", delete_site),
    changes("/sites/{number:int}/{switch}", switch_site),
]
