"""Endpoints that change something: their forms contain the token of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import Route

from crawlers.web.guard import Session, is_equal

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.datastructures import FormData
    from starlette.requests import Request
    from starlette.responses import Response

    Endpoint = Callable[[Request, FormData], Response]

TOKEN = "csrf"  # noqa: S105 - the name of a field
TOKEN_HEADER = "x-csrf-token"  # noqa: S105
MAX_FIELDS = 2000
MAX_FIELD_BYTES = 20_000_000  # of a list of sites


def session_of(request: Request) -> Session:
    """Return the session of *request*."""
    session = request.scope["session"]
    assert isinstance(session, Session)
    return session


def changes(path: str, endpoint: Endpoint) -> Route:
    """Return the route of *endpoint*, which gets the form of a POST request that has the token of its session."""

    async def checked(request: Request) -> Response:
        async with request.form(max_files=1, max_fields=MAX_FIELDS, max_part_size=MAX_FIELD_BYTES) as form:
            given = form.get(TOKEN) or request.headers.get(TOKEN_HEADER, "")
            if not isinstance(given, str) or not is_equal(given, session_of(request).token):
                raise HTTPException(403, "The page was open too long; load it again, then repeat what you did.")
            return await run_in_threadpool(endpoint, request, form)

    return Route(path, checked, methods=["POST"], name=endpoint.__name__)
