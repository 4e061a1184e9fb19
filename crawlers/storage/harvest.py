"""What a crawl that counts rewards remembers: its pulls, and what its sites were paid for already."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import select, text

from crawlers.storage.tables import page, pull, site

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawlers.storage.database import Database

_COUNTED = {
    "sqlite": text("SELECT key FROM counted_key WHERE site_id = :site AND key IN (SELECT value FROM json_each(:keys))"),
    "postgresql": text(
        "SELECT key FROM counted_key WHERE site_id = :site "
        "AND key IN (SELECT value::bigint FROM json_array_elements_text(CAST(:keys AS json)))"
    ),
}


def pulls_of(database: Database, crawl_id: int) -> list[tuple[int, int, float]]:
    """(site id, group of links, reward) of every download of the crawl so far, in the order in which they ended."""
    statement = (
        select(pull.c.site_id, page.c.link_group, pull.c.reward)
        .join(site, site.c.id == pull.c.site_id)
        .join(page, page.c.id == pull.c.page_id)
        .where(site.c.crawl_id == crawl_id)
        .order_by(pull.c.id)
    )
    with database.read() as connection:
        return [(site_id, group, reward) for site_id, group, reward in connection.execute(statement)]


def counted(database: Database, site_id: int, keys: Iterable[int]) -> set[int]:
    """Those of *keys* that the site was paid for already, as far as it is committed."""
    values = {"site": site_id, "keys": json.dumps(list(keys))}
    with database.read() as connection:
        return set(connection.execute(_COUNTED[database.engine.dialect.name], values).scalars())
