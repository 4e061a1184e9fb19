"""Finds the final targets of stored redirects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.items import State
from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection


def redirects_of(connection: Connection, crawl_id: int) -> dict[int, int]:
    """Return the redirects of a crawl: page number to target page number."""
    statement = (
        select(page.c.id, page.c.moved_to)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id, page.c.state == int(State.MOVED), page.c.moved_to.is_not(None))
    )
    return {page_id: target for page_id, target in connection.execute(statement)}


def final_target(page_id: int, moved: Mapping[int, int]) -> int | None:
    """Return the final target of *page_id*; None if its redirects form a loop.

    >>> final_target(1, {1: 2, 2: 3}), final_target(4, {1: 2}), final_target(1, {1: 2, 2: 1})
    (3, 4, None)
    """
    passed = set()
    while page_id in moved:
        if page_id in passed:
            return None
        passed.add(page_id)
        page_id = moved[page_id]
    return page_id
