"""Reads the settings that the last run of a crawl recorded, and values that are stored like one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.store.schema.tables import SettingRow, crawler_setting
from crawlers.store.writing.bulk_writer import write_changes
from crawlers.store.writing.change_set import ChangeSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, Select

    from crawlers.store.database import Database


def setting_of(crawl_id: int, name: str) -> Select[str]:
    """Return the query for the value of one setting of a crawl."""
    of_crawl = (crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == name)
    return select(crawler_setting.c.value).where(*of_crawl)


def recorded(connection: Connection, crawl_id: int, *names: str) -> dict[str, str]:
    """Return the settings of a crawl as texts: those called *names*, or all."""
    statement = select(crawler_setting.c.name, crawler_setting.c.value).where(crawler_setting.c.crawl_id == crawl_id)
    if names:
        statement = statement.where(crawler_setting.c.name.in_(names))
    return {name: value for name, value in connection.execute(statement)}


def record(connection: Connection, crawl_id: int, values: Mapping[str, Any]) -> None:
    """Store settings of a crawl, or values that are stored like some, as texts."""
    write_changes(connection, ChangeSet(*(SettingRow(crawl_id, name, str(value)) for name, value in values.items())))


def settings_of(database: Database, crawl_id: int) -> dict[str, str]:
    """Return all settings of a crawl as texts."""
    with database.read() as connection:
        return recorded(connection, crawl_id)
