"""Puts the panel together: its routes, in front of them the guard, and what all pages share."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from crawlers.errors import CrawlersError
from crawlers.mission import missions
from crawlers.web import pages
from crawlers.web.cached_results import CachedResults
from crawlers.web.guard import Guard
from crawlers.web.panel import Panel
from crawlers.web.templating import compile_templates, error_page

if TYPE_CHECKING:
    from crawlers.store.database import Database
    from crawlers.web.guard import Access
    from crawlers.web.starting import Starter

STATIC = Path(__file__).parent / "static"
SUBJECTS = [import_module(f"{pages.__name__}.{module.name}") for module in iter_modules(pages.__path__)]
SUBJECTS += [mission.part(name) for mission in missions().values() for name in mission.panel]
ROUTES = [route for subject in SUBJECTS for route in subject.ROUTES]
SMALLEST_COMPRESSED = 1000  # bytes


def panel(
    database: Database, access: Access, starter: Starter, folder: Path, results: CachedResults | None = None
) -> Starlette:
    """Return the ASGI application of the panel of *database* for those whom *access* lets in.

    *starter* starts crawls, whose files are in *folder*; *results* keeps what takes long to compute.
    """
    compile_templates()
    app = Starlette(
        routes=[*ROUTES, Mount("/static", StaticFiles(directory=STATIC), name="static")],
        middleware=[Middleware(GZipMiddleware, minimum_size=SMALLEST_COMPRESSED)],
        exception_handlers={
            HTTPException: error_page,
            CrawlersError: error_page,
            OSError: error_page,
            Exception: error_page,
        },
    )
    # Not as a middleware: Starlette handles `Exception` in front of all of these, and so without the guard's headers.
    app.middleware_stack = Guard(app.build_middleware_stack(), access)
    app.state.panel = Panel(database, access, starter, folder, results or CachedResults())
    return app
