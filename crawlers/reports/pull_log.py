"""Reads the pulls of a crawl for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.storage.pulls import pulls_of
from crawlers.storage.schema.tables import crawler_setting, site
from crawlers.storage.workers import has_work

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crawlers.storage.database import Database


class LoggedSite(NamedTuple):
    """A site of a crawl."""

    id: int
    name: str
    availability: str | None = None  # None: available; otherwise why its home page can't be loaded
    max_level: int | None = None  # deepest level that is read; None: there is none
    is_read: bool = False  # nothing of it waits any more


class PullLog(NamedTuple):
    """The sites of a crawl in the order of its host list, and its pulls in the order of completion."""

    sites: list[LoggedSite]
    pulls: list[tuple[int, float]]  # site id, reward


def pull_log(database: Database, crawl_id: int) -> PullLog:
    """Return all pulls of a crawl so far."""
    columns = (site.c.id, site.c.site, site.c.availability, site.c.max_level, ~has_work(site))
    sites = select(*columns).where(site.c.crawl_id == crawl_id).order_by(site.c.id)
    pulls = [(one.site_id, one.reward) for one in pulls_of(database, crawl_id)]
    with database.read() as connection:
        found = [
            LoggedSite(number, name, why, level, bool(is_read))
            for number, name, why, level, is_read in connection.execute(sites)
        ]
    return PullLog(found, pulls)


def settings_of(database: Database, crawl_id: int) -> dict[str, str | None]:
    """Return the settings of the crawl's last run."""
    statement = select(crawler_setting.c.name, crawler_setting.c.value).where(crawler_setting.c.crawl_id == crawl_id)
    with database.read() as connection:
        return {name: value for name, value in connection.execute(statement)}


def recorded_value(connection: Connection, crawl_id: int, name: str) -> str | None:
    """Return what the crawl's last run recorded of the setting *name*."""
    of_crawl = (crawler_setting.c.crawl_id == crawl_id, crawler_setting.c.name == name)
    return connection.execute(select(crawler_setting.c.value).where(*of_crawl)).scalar()
