"""The login page of a panel that others can reach."""

from __future__ import annotations

import secrets
import threading
import time
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse
from starlette.routing import Route

from crawlers.web.forms import changes, session_of
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
    return render(request, "login.html", message="")


def check_password(request: Request, form: FormData) -> Response:
    """Let in whoever knows the password, in a session of his own."""
    with _one_attempt:
        if is_equal(str(form.get("password", "")), panel_of(request).access.password):
            request.scope["session"] = Session(secrets.token_urlsafe(), is_known=True)
            return RedirectResponse("/", 303)
        time.sleep(PAUSE_S)
    return render(request, "login.html", 401, message="The password is wrong.")


def logout(request: Request, _form: FormData) -> Response:
    """Forget that this browser knows the password."""
    request.scope["session"] = Session(secrets.token_urlsafe())
    return RedirectResponse(LOGIN, 303)


ROUTES = [Route(LOGIN, login), changes(LOGIN, check_password), changes("/logout", logout)]
