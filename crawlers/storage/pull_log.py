"""The pulls of a crawl as people look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import select

from crawlers.storage.tables import crawler_setting, pull, site

if TYPE_CHECKING:
    from crawlers.storage.database import Database


class PullLog(NamedTuple):
    """The sites of a crawl in the order of its list, and its pulls in the order in which they ended."""

    sites: list[tuple[int, str, str | None]]  # id, name, why it is not available
    pulls: list[tuple[int, float]]  # site id, reward


def pull_log(database: Database, crawl_id: int) -> PullLog:
    """All of a crawl's pulls so far."""
    of_crawl = site.c.crawl_id == crawl_id
    sites = select(site.c.id, site.c.site, site.c.availability).where(of_crawl).order_by(site.c.id)
    pulls = select(pull.c.site_id, pull.c.reward).join(site, site.c.id == pull.c.site_id).where(of_crawl)
    with database.read() as connection:
        return PullLog(
            [(number, name, why) for number, name, why in connection.execute(sites)],
            [(number, reward) for number, reward in connection.execute(pulls.order_by(pull.c.id))],
        )


def settings_of(database: Database, crawl_id: int) -> dict[str, str | None]:
    """The settings that were recorded when the crawl began."""
    statement = select(crawler_setting.c.name, crawler_setting.c.value).where(crawler_setting.c.crawl_id == crawl_id)
    with database.read() as connection:
        return {name: value for name, value in connection.execute(statement)}
