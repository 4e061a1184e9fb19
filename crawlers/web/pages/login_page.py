"""What a browser is told by cookies: the login page of a panel that others can reach, language and colours."""

from __future__ import annotations

import re
import secrets
import threading
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.responses import RedirectResponse
from starlette.routing import Route

from crawlers.web.guard import LOGIN, Session, is_equal
from crawlers.web.panel import (
    FEW_BYTES,
    LANGUAGE_COOKIE,
    LANGUAGES,
    THEME_COOKIE,
    THEMES,
    changes,
    panel_of,
    render,
    session_of,
)

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

PAUSE_S = 1.0  # after a wrong password, for all who try: 86,400 guesses a day
_one_attempt = threading.Lock()
YEAR_S = 365 * 24 * 3600


def login(request: Request) -> Response:
    """Ask for the password."""
    if session_of(request).is_known or not panel_of(request).access.password:
        return RedirectResponse("/", 303)
    return render(request, "login.html", problem="")


def check_password(request: Request, form: FormData) -> Response:
    """Let in whoever knows the password, in a session of his own."""
    access, address = panel_of(request).access, request.client.host if request.client is not None else ""
    if not _one_attempt.acquire(blocking=False):  # nobody waits, so that those who try leave threads to others
        return render(request, "login.html", 429, problem="moment")
    try:
        if access.attempts.are_used_up(address):
            return render(request, "login.html", 429, problem="attempts")
        if is_equal(str(form.get("password", "")), access.password):
            request.scope["session"] = Session(secrets.token_urlsafe(), is_known=True)
            return RedirectResponse("/", 303)
        access.attempts.add(address)
        time.sleep(PAUSE_S)
    finally:
        _one_attempt.release()
    return render(request, "login.html", 401, problem="password")


def logout(request: Request, _form: FormData) -> Response:
    """Forget that this browser knows the password: its cookie is worth nothing from now on."""
    if session_of(request).is_known:
        panel_of(request).access.ended.add(session_of(request).token)
    request.scope["session"] = Session(secrets.token_urlsafe())
    return RedirectResponse(LOGIN, 303)


def choose(request: Request, form: FormData) -> Response:
    """Keep the choices of the form, and show the same page again."""
    response = RedirectResponse(_local(str(form.get("page", "/"))), 303)
    for cookie, name, known in ((LANGUAGE_COOKIE, "language", LANGUAGES), (THEME_COOKIE, "theme", THEMES)):
        if form.get(name) in known:
            response.set_cookie(cookie, str(form[name]), max_age=YEAR_S, httponly=True, samesite="strict")
    return response


def _local(page: str) -> str:
    """Return the address *page* if it is one of the panel, else that of the first page."""
    try:
        target = urlsplit(page)
    except ValueError:  # of brackets that are not those of an IPv6 address
        return "/"
    # A path that begins with two slashes, or backslashes, is a host to browsers.
    is_local = not target.scheme and not target.netloc and re.match(r"/(?![/\\])", target.path) is not None
    return target._replace(fragment="").geturl() if is_local else "/"


ROUTES = [
    Route(LOGIN, login),
    changes(LOGIN, check_password, FEW_BYTES),
    changes("/logout", logout, FEW_BYTES),
    changes("/preferences", choose, FEW_BYTES),
]
