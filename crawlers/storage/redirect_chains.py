"""Where redirects lead in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawlers.items import State
from crawlers.storage.schema.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection


def moves_of(connection: Connection, crawl_id: int) -> dict[int, int]:
    """The pages of a crawl that moved, each with the page that it moved to."""
    statement = (
        select(page.c.id, page.c.moved_to)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id, page.c.state == int(State.MOVED), page.c.moved_to.is_not(None))
    )
    return {page_id: target for page_id, target in connection.execute(statement)}


def final(page_id: int, moved: Mapping[int, int]) -> int | None:
    """Where the redirects of *page_id* end; None if they go round in a circle.

    >>> final(1, {1: 2, 2: 3}), final(4, {1: 2}), final(1, {1: 2, 2: 1})
    (3, 4, None)
    """
    passed = set()
    while page_id in moved:
        if page_id in passed:
            return None
        passed.add(page_id)
        page_id = moved[page_id]
    return page_id
