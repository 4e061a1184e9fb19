"""Language and colours that the reader chose, kept in cookies."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.responses import RedirectResponse

from crawlers.web.forms import changes
from crawlers.web.templating import LANGUAGE_COOKIE, LANGUAGES, THEME_COOKIE, THEMES

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

YEAR_S = 365 * 24 * 3600


def choose(request: Request, form: FormData) -> Response:
    """Keep the choices of the form, and show the same page again."""
    target = urlsplit(str(form.get("page", "/")))
    is_local = not target.scheme and not target.netloc and target.path.startswith("/")
    response = RedirectResponse(target._replace(fragment="").geturl() if is_local else "/", 303)
    for cookie, name, known in ((LANGUAGE_COOKIE, "language", LANGUAGES), (THEME_COOKIE, "theme", THEMES)):
        if form.get(name) in known:
            response.set_cookie(cookie, str(form[name]), max_age=YEAR_S, httponly=True, samesite="strict")
    return response


ROUTES = [changes("/preferences", choose)]
