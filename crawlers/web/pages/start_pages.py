"""Starting crawls: the form, and crawls that go on where they were stopped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse
from starlette.routing import Route

from crawlers.errors import ConfigError
from crawlers.inputs.crawl_command import command_of
from crawlers.inputs.text_file import decoded
from crawlers.options import OFFERED
from crawlers.reports.crawl_manifest import manifest_of
from crawlers.web.forms import changes
from crawlers.web.panel import number_in, numbered_crawl, panel_of
from crawlers.web.start_form import FILE, LINES, MISSIONS, STORE, StartForm, errors_of, filled, start_of
from crawlers.web.starting import Begun, Refused
from crawlers.web.templating import render

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response


def start(request: Request) -> Response:
    """Show the form, filled in like a crawl if one is named."""
    panel, form = panel_of(request), StartForm()
    if "like" in request.query_params:
        named = numbered_crawl(panel.database, number_in(request, "like"))
        form = filled(named.name, command_of(named.mission, manifest_of(panel.database, named.id)), panel.folder)
    return _page(request, form)


def start_crawl(request: Request, typed: FormData) -> Response:
    """Start a crawl, and show it as soon as it has begun; or show the form again with what is wrong."""
    panel = panel_of(request)
    form, errors = _form(typed)
    wanted, wrong = start_of(form, panel.database)
    errors |= wrong
    if wanted is None or errors:
        return _page(request, replace(form, errors=errors), 422)
    try:
        outcome = panel.starter.start(wanted.name, wanted.command, wanted.files)
    except ConfigError as error:
        return _page(request, replace(form, errors=errors_of(str(error))), 422)
    if isinstance(outcome, Begun):
        return RedirectResponse(f"/crawls/{outcome.crawl_id}", 303)
    if isinstance(outcome, Refused):
        return _page(request, replace(form, errors=errors_of(outcome.message)), 422)
    return render(request, "pending.html", message=outcome.message)


def _form(typed: FormData) -> tuple[StartForm, dict[str, str]]:
    """Return what was typed, and the error of a file that is no text."""
    texts = {name: value.strip() for name, value in typed.items() if isinstance(value, str)}
    source = texts.get("source", LINES)
    text, errors = texts.get("text", ""), {}
    upload = typed.get("file")
    if source == FILE and isinstance(upload, UploadFile):
        try:
            text = decoded(upload.file.read(), upload.filename or "the file")
        except ConfigError as error:
            errors["sites"] = str(error)
    settings = {name: texts[name] for name in OFFERED if texts.get(name)}
    return StartForm(texts.get("spider", ""), texts.get("name", ""), source, text, settings), errors


def _page(request: Request, form: StartForm, status: int = 200) -> Response:
    return render(
        request,
        "start.html",
        status,
        form=form,
        missions=MISSIONS,
        sources=(LINES, FILE, STORE),
    )


ROUTES = [Route("/start", start), changes("/start", start_crawl)]
