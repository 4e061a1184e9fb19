"""Results that a page lets be computed again: the query says so."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import RedirectResponse

from crawlers.web.panel import panel_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from starlette.requests import Request
    from starlette.responses import Response

AGAIN = "again"  # in the query: the result is computed again


def again(request: Request, key: Hashable) -> Response | None:
    """Forget the result of *key* if the address says so, and return the way to the address without it."""
    if AGAIN not in request.query_params:
        return None
    panel_of(request).results.forget(key)
    others = [(name, value) for name, value in request.query_params.multi_items() if name != AGAIN]
    return RedirectResponse(f"{request.url.path}?{urlencode(others)}", 303)
