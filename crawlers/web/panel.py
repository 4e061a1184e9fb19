"""What the pages of the panel share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from crawlers.web.kept_results import KeptResults

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

    from crawlers.storage.database import Database
    from crawlers.web.guard import Access
    from crawlers.web.starting import Starter


@dataclass(frozen=True, slots=True)
class Panel:
    """The store, who may see it, and what starts crawls, with files in *folder*."""

    database: Database
    access: Access
    starter: Starter
    folder: Path
    results: KeptResults = field(default_factory=KeptResults)


def panel_of(request: Request) -> Panel:
    """Return the panel that serves *request*."""
    return cast("Panel", request.app.state.panel)
