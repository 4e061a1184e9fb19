"""What the pages of the panel share."""

from __future__ import annotations

from asyncio import Semaphore
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from crawlers.reports.recorded_settings import crawl_rules
from crawlers.store.reading.crawl_settings import settings_of
from crawlers.store.reading.queries import MAX_DIGITS, crawl_numbered, is_small

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from crawlers.reports.crawl_rules import CrawlRules
    from crawlers.reports.time_limit import TimeLimit
    from crawlers.store.database import Database
    from crawlers.store.reading.queries import NamedCrawl
    from crawlers.web.cached_results import CachedResults
    from crawlers.web.guard import Access
    from crawlers.web.starting import Starter

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
