"""Reads the reward of each page of a crawl, in the order of download, for replays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from crawlers.bandits.reward_kinds import REWARDS
from crawlers.items import ExternalLink, State
from crawlers.store.schema.tables import external_link, external_url, page, pull, site
from crawlers.workers.exchange import has_work

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

    from crawlers.bandits.reward_kinds import RewardKind
    from crawlers.store.database import Database


class SiteYields(NamedTuple):
    """The downloads of one site in order, with their rewards; repeated downloads of a page are listed each time."""

    site: str
    parallel: int  # simultaneous downloads; with more than 1 the order is one of several possible ones
    deleted: int  # duplicates whose rows, and so rewards, were deleted
    is_read: bool  # nothing of it waits any more
    page_ids: list[int]
    yields: list[int]
    urls: list[frozenset[int]]  # keys of the external URLs that are new with each download
    hosts: list[frozenset[int]]  # keys of the hosts that are new


def site_yields(database: Database, crawl_id: int, reward: RewardKind) -> list[SiteYields]:
    """Return all sites of a crawl in the order of its host list. Holds the links of one site in memory at a time."""
    with database.read() as connection:
        rows = connection.execute(
            select(site.c.id, site.c.site, site.c.parallel, ~has_work(site))
            .where(site.c.crawl_id == crawl_id)
            .order_by(site.c.id)
        ).all()
        found = []
        for site_id, name, parallel, is_read in rows:
            downloads = _downloads(connection, site_id)
            links = _links(connection, site_id, downloads)
            earned = [len(keys) for keys in _counted(links, reward)]
            urls, hosts = (list(_counted(links, REWARDS[each])) for each in ("new_links", "new_hosts"))
            deleted = _deleted(connection, site_id)
            found.append(SiteYields(name, parallel, deleted, bool(is_read), downloads, earned, urls, hosts))
    return found


def _downloads(connection: Connection, site_id: int) -> list[int]:
    """Return page ids in the order of the recorded pulls; without pulls, by the page order's priority."""
    pulls = select(pull.c.page_id).where(pull.c.site_id == site_id).order_by(pull.c.id)
    recorded = list(connection.execute(pulls).scalars())
    if recorded:
        return recorded
    attempted = (
        select(page.c.id, page.c.attempts)
        .where(page.c.site_id == site_id, page.c.attempts > 0)
        .order_by(page.c.priority, page.c.id)
    )
    return [page_id for page_id, attempts in connection.execute(attempted) for _ in range(attempts)]


def _deleted(connection: Connection, site_id: int) -> int:
    found = connection.execute(select(func.sum(page.c.duplicates)).where(page.c.site_id == site_id)).scalar()
    return int(found or 0)


def _links(connection: Connection, site_id: int, downloads: list[int]) -> list[list[ExternalLink]]:
    """Return the external links of each download; those of a repeated download belong to the last one."""
    links = links_of_pages(connection, site_id)
    last = {page_id: number for number, page_id in enumerate(downloads)}
    return [links.get(page_id, []) if last[page_id] == number else [] for number, page_id in enumerate(downloads)]


def links_of_pages(connection: Connection, site_id: int) -> dict[int, list[ExternalLink]]:
    """Return the external links of each page of a site that was read, each URL once, with its key and its site only."""
    links: dict[int, list[ExternalLink]] = {}
    statement = (
        select(external_link.c.page_id, external_url.c.key, external_url.c.site)
        .join(page, page.c.id == external_link.c.page_id)
        .join(external_url, external_url.c.id == external_link.c.url_id)
        .where(page.c.site_id == site_id, page.c.state == int(State.DONE))
        .distinct()
    )
    for page_id, key, target_site in connection.execute(statement):
        links.setdefault(page_id, []).append(ExternalLink("", key, target_site, "", "", "", "", ""))
    return links


def _counted(links: Iterable[list[ExternalLink]], reward: RewardKind) -> Iterator[frozenset[int]]:
    """Yield the keys that *reward* counts for each download."""
    paid: set[int] = set()
    for of_download in links:
        keys = reward.keys(of_download)
        if reward.only_new:
            keys -= paid
            paid |= keys
        yield frozenset(keys)
