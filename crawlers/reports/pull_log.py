"""Reads the pulls of a crawl for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.storage.pulls import pulls_of
from crawlers.storage.schema.tables import crawler_setting, site

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crawlers.storage.database import Database


class PullLog(NamedTuple):
    """The sites of a crawl in the order of its host list, and its pulls in the order of completion."""

    sites: list[tuple[int, str, str | None]]  # id, name, reason for being unavailable
    pulls: list[tuple[int, float]]  # site id, reward


def pull_log(database: Database, crawl_id: int) -> PullLog:
    """Return all pulls of a crawl so far."""
    of_crawl = site.c.crawl_id == crawl_id
    sites = select(site.c.id, site.c.site, site.c.availability).where(of_crawl).order_by(site.c.id)
    pulls = [(one.site_id, one.reward) for one in pulls_of(database, crawl_id)]
    with database.read() as connection:
        return PullLog([(number, name, why) for number, name, why in connection.execute(sites)], pulls)


def settings_of(database: Database, crawl_id: int) -> dict[str, str | None]:
    """Return the settings of the crawl's last run."""
    statement = select(crawler_setting.c.name, crawler_setting.c.value).where(crawler_setting.c.crawl_id == crawl_id)
    with database.read() as connection:
        return {name: value for name, value in connection.execute(statement)}


def is_on(connection: Connection, crawl_id: int, name: str) -> bool:
    """Return whether the setting *name* was on in the crawl's last run."""
    of_crawl = (crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == name)
    value = connection.execute(select(crawler_setting.c.value).where(*of_crawl)).scalar()
    return str(value).lower() in ("true", "1")
