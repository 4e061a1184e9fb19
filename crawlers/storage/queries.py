"""Questions to the store that several rooms ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.items import State
from crawlers.storage.tables import page

if TYPE_CHECKING:
    from crawlers.storage.database import Database


def fetched_pages(database: Database, site_id: int) -> list[tuple[str, int, int]]:
    """(url, level, skeleton) of a site's pages that are done, nearest first."""
    statement = (
        select(page.c.url, page.c.level, page.c.skeleton)
        .where(page.c.site_id == site_id, page.c.state == int(State.DONE))
        .order_by(page.c.level)
    )
    with database.read() as connection:
        return [(url, level, skeleton or 0) for url, level, skeleton in connection.execute(statement)]
