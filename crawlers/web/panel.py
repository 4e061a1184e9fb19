"""What the pages of the panel share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from starlette.requests import Request

    from crawlers.storage.database import Database
    from crawlers.web.guard import Access


@dataclass(frozen=True, slots=True)
class Panel:
    """The store, and who may see it."""

    database: Database
    access: Access


def panel_of(request: Request) -> Panel:
    """Return the panel that serves *request*."""
    return cast("Panel", request.app.state.panel)
