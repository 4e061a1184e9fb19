"""The manifest of a crawl: what determined its results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.storage.schema.tables import crawl, crawler_setting

if TYPE_CHECKING:
    from crawlers.storage.database import Database


def manifest_of(database: Database, crawl_id: int) -> dict[str, Any]:
    """Return the stored manifest of a crawl, which must exist.

    `changed_settings` are those that are no longer the ones by which it began, because it was resumed with others.
    """
    with database.read() as connection:
        text = connection.execute(select(crawl.c.manifest).where(crawl.c.id == crawl_id)).scalar_one()
        of_crawl = select(crawler_setting.c.name, crawler_setting.c.value).where(crawler_setting.c.crawl_id == crawl_id)
        latest = {row.name: row.value for row in connection.execute(of_crawl)}
    stored: dict[str, Any] = json.loads(text)
    began = stored.get("settings", {})
    changed = {name: value for name, value in latest.items() if name in began and str(began[name]) != value}
    return stored | ({"changed_settings": changed} if changed else {})
