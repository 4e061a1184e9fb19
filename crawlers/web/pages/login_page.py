"""The login page of a panel that others can reach."""

from __future__ import annotations

import secrets
import threading
import time
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse
from starlette.routing import Route

from crawlers.web.forms import FEW_BYTES, changes, session_of
from crawlers.web.guard import LOGIN, Session, is_equal
from crawlers.web.panel import panel_of
from crawlers.web.templating import render

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

PAUSE_S = 1.0  # after a wrong password, for all who try: 86,400 guesses a day
_one_attempt = threading.Lock()


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


ROUTES = [Route(LOGIN, login), changes(LOGIN, check_password, FEW_BYTES), changes("/logout", logout, FEW_BYTES)]
