"""Reads the pages of a crawl with their links to each other and their rewards, for replays in another order."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from crawlers.lab.simulation.order_replay import ReplayPage, ReplaySite
from crawlers.lab.site_yields import links_of_pages
from crawlers.store.schema.tables import link, link_features, page, pull, site
from crawlers.store.writing.stored_features import read_features

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from crawlers.bandits.reward_kinds import RewardKind
    from crawlers.store.database import Database

ROWS_AT_ONCE = 10_000


def known_sites(database: Database, crawl_id: int, reward: RewardKind) -> list[ReplaySite]:
    """Return all sites of a crawl in the order of its host list, with the keys that *reward* counts.

    The links of a page are in the order in which their targets were found. All sites are in memory at a time: some 500
    bytes for each page, 8 for each link to a page and 200 for each external link. Raises `StoreError` if it is damaged.
    """
    sites = select(site.c.id, site.c.site, site.c.max_level).where(site.c.crawl_id == crawl_id).order_by(site.c.id)
    with database.read() as connection:
        return [_known(connection, *row, reward, database.name) for row in connection.execute(sites).all()]


def _known(
    connection: Connection, site_id: int, name: str, max_level: int | None, reward: RewardKind, store: str
) -> ReplaySite:
    stream = connection.execution_options(yield_per=ROWS_AT_ONCE)
    of_pages = select(pull.c.page_id, func.count()).where(pull.c.site_id == site_id).group_by(pull.c.page_id)
    downloads = {number: count for number, count in connection.execute(of_pages)}
    links: dict[int, array[int]] = {}
    between = (
        select(link.c.source_id, link.c.target_id)
        .join(page, page.c.id == link.c.source_id)
        .where(page.c.site_id == site_id)
        .order_by(link.c.source_id, link.c.target_id)
    )
    for source, target in stream.execute(between):
        links.setdefault(source, array("q")).append(target)
    external = links_of_pages(connection, site_id)
    rows = (
        select(page.c.id, page.c.moved_to, link_features.c.features)
        .outerjoin(link_features, link_features.c.page_id == page.c.id)
        .where(page.c.site_id == site_id)
        .order_by(page.c.level, page.c.hops, page.c.id)
    )
    home, pages = 0, dict[int, ReplayPage]()
    with stream.execute(rows) as found_rows:  # closes the cursor of the server if a row is damaged
        for number, moved_to, text in found_rows:
            home = home or number
            features = None if text is None else read_features(text, store)
            found = external.get(number, ())
            keys = frozenset(reward.keys(found))
            pages[number] = ReplayPage(downloads.get(number, 0), links.get(number, ()), moved_to, found, keys, features)
    return ReplaySite(name, home, pages, max_level)
