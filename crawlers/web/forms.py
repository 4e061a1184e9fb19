"""Endpoints that change something: their forms contain the token of the session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from crawlers.web.guard import Session, is_equal

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.datastructures import FormData
    from starlette.types import Message, Receive

    Endpoint = Callable[[Request, FormData], Response]

TOKEN = "csrf"  # noqa: S105 - the name of a field
MAX_FIELDS = 2000
MAX_BYTES = 21_000_000  # of a form: a file of 20 MB, and the fields beside it
FEW_BYTES = 200_000  # of a form without a file, in which an address may stand
_UNSTORED = re.compile("[\0\ud800-\udfff]")


def session_of(request: Request) -> Session:
    """Return the session of *request*."""
    session = request.scope["session"]
    assert isinstance(session, Session)
    return session


def changes(path: str, endpoint: Endpoint, most_bytes: int = MAX_BYTES) -> Route:
    """Return the route of *endpoint*, which gets the form of a POST request that has the token of its session.

    Forms that have more than *most_bytes* are refused.
    """

    async def checked(request: Request) -> Response:
        try:
            form = await _form_of(request, most_bytes)
        except ClientDisconnect:
            return Response(status_code=400)  # which nobody reads
        try:
            given = form.get(TOKEN)
            if not isinstance(given, str) or not is_equal(given, session_of(request).token):
                raise HTTPException(403, "The page was open too long; load it again, then repeat what you did.")
            return await run_in_threadpool(endpoint, request, form)
        finally:
            await form.close()

    return Route(path, checked, methods=["POST"], name=endpoint.__name__)


async def _form_of(request: Request, most_bytes: int) -> FormData:
    """Return the form of *request*. Raises `HTTPException` if it is too large, or can't be stored."""
    limited = Request(request.scope, _limited(request.receive, most_bytes))
    try:
        form = await limited.form(max_files=1, max_fields=MAX_FIELDS, max_part_size=most_bytes)
    except UnicodeError:  # of a character set that the client has named
        raise HTTPException(400, "The form can't be decoded; send it as UTF-8.") from None
    if any(_UNSTORED.search(text) for field in form.multi_items() for text in field if isinstance(text, str)):
        await form.close()
        raise HTTPException(400, "A field contains a NUL or half a character, which can't be stored; remove it.")
    return form


def _limited(receive: Receive, most_bytes: int) -> Receive:
    """Return *receive* for a request whose body has at most *most_bytes*; it raises `HTTPException` beyond that."""
    left = most_bytes

    async def limited() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, f"This form has more than {most_bytes:,} bytes; divide the file.")
        return message

    return limited
