"""Language and colours that the reader chose, kept in cookies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.responses import RedirectResponse

from crawlers.web.forms import FEW_BYTES, changes
from crawlers.web.templating import LANGUAGE_COOKIE, LANGUAGES, THEME_COOKIE, THEMES

if TYPE_CHECKING:
    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

YEAR_S = 365 * 24 * 3600


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


ROUTES = [changes("/preferences", choose, FEW_BYTES)]
