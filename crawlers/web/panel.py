"""What the pages of the panel share.

The forms of endpoints that change something contain the token of the session.
"""

from __future__ import annotations

import re
from asyncio import Semaphore
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from crawlers.reports.crawl_manifest import crawl_rules
from crawlers.store.reading.crawl_settings import settings_of
from crawlers.store.reading.queries import MAX_DIGITS, crawl_numbered, is_small
from crawlers.web.guard import Session, is_equal

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from pathlib import Path

    from crawlers.reports.catalogue.report import TimeLimit
    from crawlers.reports.crawl_manifest import CrawlRules
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl
    from crawlers.web.cached_results import CachedResults
    from crawlers.web.guard import Access
    from crawlers.web.starting import Starter

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


T = TypeVar("T")
SMALL = 2_000  # pages and links of a crawl, together, whose results take less than a second
FILES_AT_ONCE = 2  # that are made for browsers: each takes a processor, and a connection to the store
AGAIN = "again"  # in the query: the result is computed again


@dataclass(frozen=True, slots=True)
class Panel:
    """The store, who may see it, and what starts crawls, with files in *folder*."""

    database: Database
    access: Access
    starter: Starter
    folder: Path
    results: CachedResults
    turns: Semaphore = field(default_factory=lambda: Semaphore(FILES_AT_ONCE))  # see `downloads.sends_file`


def panel_of(request: Request) -> Panel:
    """Return the panel that serves *request*."""
    return cast("Panel", request.app.state.panel)


def crawl_of(request: Request) -> NamedCrawl:
    """Return the crawl whose number is in the path. Raises `HTTPException` if there is none."""
    return numbered_crawl(panel_of(request).database, request.path_params["crawl"])


def patience_for(request: Request, crawl: NamedCrawl) -> TimeLimit:
    """Return for how long a page waits for results about *crawl*: for those of a small one, until they are there."""
    panel = panel_of(request)
    return panel.results.patience(is_small=is_small(panel.database, crawl.id, SMALL))


def rules_of(database: Database, crawl_id: int) -> CrawlRules:
    """Return what a crawl did with URLs, by its settings, not by today's."""
    return crawl_rules(settings_of(database, crawl_id))


def number_in(request: Request, name: str) -> int:
    """Return the number *name* in the query of *request*; 0 if there is none, or none that a crawl can have."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else 0


def numbered_crawl(database: Database, number: int) -> NamedCrawl:
    """Return the crawl with that number. Raises `HTTPException` if there is none."""
    found = crawl_numbered(database, number)
    if found is None:
        raise HTTPException(404, f"There is no crawl {number} in the store.")
    return found


def known(of: Mapping[str, T], what: str, name: str) -> T:
    """Return *what* is called *name* *of* some. Raises `HTTPException` if there is none."""
    if name not in of:
        raise HTTPException(404, f"There is no {what} {name}; there are {', '.join(of)}.")
    return of[name]


def again(request: Request, key: Hashable) -> Response | None:
    """Forget the result of *key* if the address says so, and return the way to the address without it."""
    if AGAIN not in request.query_params:
        return None
    panel_of(request).results.forget(key)
    others = [(name, value) for name, value in request.query_params.multi_items() if name != AGAIN]
    return RedirectResponse(f"{request.url.path}?{urlencode(others)}", 303)
