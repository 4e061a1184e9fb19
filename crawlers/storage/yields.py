"""Reads the reward of each page of a crawl, in the order in which its site was read, for replays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select

from crawlers.algorithms.bandits.reward_kinds import REWARDS
from crawlers.items import ExternalLink, State
from crawlers.storage.schema.tables import external_link, external_url, page, pull, site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Connection

    from crawlers.algorithms.bandits.reward_kinds import Reward
    from crawlers.storage.database import Database


class SiteYields(NamedTuple):
    """The downloads of one site in their order, and what each earns; a repeated download stands there again."""

    site: str
    parallel: int  # downloads at a time; with more than 1 the order is one of several that could have been
    given_up: int  # duplicates whose rows are gone, and with them what they earned
    page_ids: list[int]
    yields: list[int]
    urls: list[frozenset[int]]  # keys of the external URLs that no download before had
    hosts: list[frozenset[int]]  # likewise of hosts


def site_yields(database: Database, crawl_id: int, reward: Reward) -> list[SiteYields]:
    """All sites of a crawl in the order of its list. One site's links at a time are in memory."""
    with database.read() as connection:
        rows = connection.execute(
            select(site.c.id, site.c.site, site.c.parallel).where(site.c.crawl_id == crawl_id).order_by(site.c.id)
        ).all()
        found = []
        for site_id, name, parallel in rows:
            downloads = _downloads(connection, site_id)
            links = _links(connection, site_id, downloads)
            earned = [len(keys) for keys in _counted(links, reward)]
            urls, hosts = (list(_counted(links, REWARDS[each])) for each in ("new_links", "new_hosts"))
            found.append(SiteYields(name, parallel, _given_up(connection, site_id), downloads, earned, urls, hosts))
    return found


def _downloads(connection: Connection, site_id: int) -> list[int]:
    """Page ids in the order of their downloads, which pulls record; else in that of the page order."""
    pulls = select(pull.c.page_id).where(pull.c.site_id == site_id).order_by(pull.c.id)
    recorded = list(connection.execute(pulls).scalars())
    if recorded:
        return recorded
    asked = (
        select(page.c.id, page.c.attempts)
        .where(page.c.site_id == site_id, page.c.attempts > 0)
        .order_by(page.c.priority, page.c.id)
    )
    return [page_id for page_id, attempts in connection.execute(asked) for _ in range(attempts)]


def _given_up(connection: Connection, site_id: int) -> int:
    found = connection.execute(select(func.sum(page.c.duplicates)).where(page.c.site_id == site_id)).scalar()
    return int(found or 0)


def _links(connection: Connection, site_id: int, downloads: list[int]) -> list[list[ExternalLink]]:
    """The external links that each download brought; of one that was repeated, the last brought the page."""
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
    last = {page_id: number for number, page_id in enumerate(downloads)}
    return [links.get(page_id, []) if last[page_id] == number else [] for number, page_id in enumerate(downloads)]


def _counted(links: Iterable[list[ExternalLink]], reward: Reward) -> Iterator[frozenset[int]]:
    """The keys that each download is paid for by *reward*."""
    paid: set[int] = set()
    for of_download in links:
        keys = reward.keys(of_download)
        if reward.only_new:
            keys -= paid
            paid |= keys
        yield frozenset(keys)
