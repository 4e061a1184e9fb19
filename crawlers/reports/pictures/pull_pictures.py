"""Pictures of the pulls of a crawl: what its rule found, and which sites it chose.

The database numbers the pulls in the order of completion and sums them, some hundred at a time. Only the indices of
sites are not stored: rules are pure, so the pulls are replayed to a new one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import case, exists, func, select

from crawlers.mission import mission_named
from crawlers.ranking.page_orders import REWARDS
from crawlers.reports.catalogue.conditions import Filters, is_wanted_site
from crawlers.reports.catalogue.report import Kind
from crawlers.reports.histories.history import N_, Count, said
from crawlers.reports.pictures.picture import PAGES_READ, POINTS, SHOWN, TIME, Axis, Drawing, Picture, Series
from crawlers.store.reading.crawl_settings import recorded
from crawlers.store.schema.tables import crawl, pull, site
from crawlers.store.writing.pulls import ROWS_AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sqlalchemy import Connection, Subquery

    from crawlers.reports.histories.history import Said
    from crawlers.reports.pictures.picture import PictureRequest

MAX_REPLAYED = 200_000  # pulls: some seconds of one processor
_PAGES_OF_ALL = Axis("pages", "pages read of all sites")
_REWARDS = {
    "new_links": N_("different external links found"),
    "links": N_("external links found"),
    "new_hosts": N_("different external hosts found"),
}


class _Sample(NamedTuple):
    """The pulls so far, after a number of them."""

    pulls: int
    at: float  # when the latest one ended
    own: dict[int, int]  # by site


def _numbered(connection: Connection, crawl_id: int) -> tuple[int, Subquery]:
    """Return the number of the pulls of a crawl, and these with their numbers from 1.

    They are read in the order of the table: + 0 keeps the database from reading them site by site, and sorting them.
    """
    of_crawl = select(site.c.id).where(site.c.crawl_id == crawl_id)
    counted = select(func.count(), func.min(pull.c.id), func.max(pull.c.id)).where(pull.c.site_id.in_(of_crawl))
    pulls, first, last = connection.execute(counted).one()
    is_own = pull.c.id.between(first, last) & (pull.c.site_id + 0).in_(of_crawl)
    number = func.row_number().over(order_by=pull.c.id).label("number")
    return pulls, select(number, pull.c.site_id, pull.c.reward, pull.c.ended_at).where(is_own).subquery()


def _samples(connection: Connection, numbered: Subquery, sites: Collection[int], every: int) -> Iterator[_Sample]:
    """Yield how many pulls each of *sites* had after every *every* pulls, and after the last one."""
    part = (numbered.c.number - 1) // every
    shown = case((numbered.c.site_id.in_(sites), numbered.c.site_id), else_=0)
    statement = (
        select(part, shown, func.count(), func.max(numbered.c.ended_at)).group_by(part, shown).order_by(part, shown)
    )
    own = dict.fromkeys(sites, 0)
    pulls, at, latest = 0, -math.inf, 0
    for place, site_id, number, ended_at in connection.execute(statement):
        if place != latest:
            yield _Sample(pulls, at, dict(own))
            latest = place
        pulls += number
        at = max(at, ended_at)  # of several workers, pulls are not stored in the order of their times
        if site_id in own:
            own[site_id] += number
    yield _Sample(pulls, at, own)


def _sites(connection: Connection, wanted: PictureRequest) -> tuple[dict[int, str], list[Said]]:
    """Return the sites with the most pulls by number, and what is said about the others that have any."""
    number = func.count().label("number")
    counted = (
        select(pull.c.site_id, number)
        .where(pull.c.site_id.in_(select(site.c.id).where(is_wanted_site(wanted.crawl.id, Filters(site=wanted.site)))))
        .group_by(pull.c.site_id)
        .subquery()
    )
    busiest = (
        select(site.c.id, site.c.site)
        .join(counted, counted.c.site_id == site.c.id)
        .order_by(counted.c.number.desc(), site.c.id)
        .limit(SHOWN)
    )
    names = {site_id: name for site_id, name in connection.execute(busiest)}
    total = connection.execute(select(func.count()).select_from(counted)).scalar_one()
    others = Count(total - len(names), "%(number)s site", "%(number)s sites")
    note = said("Not shown: %(others)s of which fewer pages were read.", others=others)
    return names, [note] if others.number else []


class LinksFound(Picture):
    """Links found by the rules of all crawls of the same sites."""

    name = "links-found"
    title = "Links found against pages read"
    about = "What each rule found with a number of pages, in this crawl and in the latest others of the same sites."
    axes = (PAGES_READ,)

    def is_stored(self, connection: Connection, wanted: PictureRequest) -> bool:
        if REWARDS not in mission_named(wanted.crawl.mission).gives:
            return False
        return has_pulls(connection, wanted.crawl.id)

    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        reward = recorded(connection, wanted.crawl.id, "REWARD").get("REWARD") or "new_links"
        y = Axis("found", _REWARDS.get(reward, _REWARDS["links"]))
        compared = _crawls_of_same_sites(connection, wanted.crawl.id, reward)
        found = {crawl_id: _numbered(connection, crawl_id) for crawl_id in compared}
        every = math.ceil(max(1, *(pulls for pulls, _ in found.values())) / POINTS)
        curves = {crawl_id: dict(_found(connection, of, every)) for crawl_id, (pulls, of) in found.items() if pulls}
        points = sorted({0, *(pulls for curve in curves.values() for pulls in curve)}) if curves else []
        series = tuple(
            Series(compared[number], tuple(0.0 if at == 0 else curve.get(at) for at in points))
            for number, curve in curves.items()
        )
        return Drawing(PAGES_READ, y, tuple(map(float, points)), series)


class _PullPicture(Picture):
    """A picture of the pulls of each site."""

    axes = (TIME, _PAGES_OF_ALL)
    has_sites = True

    def is_stored(self, connection: Connection, wanted: PictureRequest) -> bool:
        return has_pulls(connection, wanted.crawl.id)


class Pulls(_PullPicture):
    """Pages read of the busiest sites."""

    name = "pulls"
    title = "Pages read of each site"
    about = "How many pages the rule chose from each site in the course of the crawl; steep curves are its favourites."

    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        axis, y = self.axis(wanted), Axis("own_pages", "pages read of the site")
        (pulls, numbered), (sites, notes) = _numbered(connection, wanted.crawl.id), _sites(connection, wanted)
        if not sites:
            return Drawing(axis, y, (), ())
        samples = list(_samples(connection, numbered, sites, math.ceil(pulls / POINTS)))
        series = tuple(Series(name, tuple(one.own[site_id] for one in samples)) for site_id, name in sites.items())
        return Drawing(axis, y, _points(axis, samples), series, notes=tuple(notes))


class Indices(_PullPicture):
    """The indices of the busiest sites."""

    name = "indices"
    title = "Index of each site"
    about = (
        "What the rule expected of the next page of each site: it chooses the site with the highest index that is due."
    )

    def is_stored(self, connection: Connection, wanted: PictureRequest) -> bool:
        rule = wanted.rules.new_rule()
        return rule is not None and rule.has_index and super().is_stored(connection, wanted)

    def drawing(self, connection: Connection, wanted: PictureRequest) -> Drawing:
        axis, y = self.axis(wanted), Axis("index", "index of the rule", Kind.DECIMAL)
        (pulls, numbered), (sites, notes) = _numbered(connection, wanted.crawl.id), _sites(connection, wanted)
        rule = wanted.rules.new_rule()
        if not sites or rule is None:
            return Drawing(axis, y, (), ())
        every = math.ceil(min(pulls, MAX_REPLAYED) / POINTS)
        replayed = pulls if pulls <= MAX_REPLAYED else MAX_REPLAYED // every * every
        samples = [one for one in _samples(connection, numbered, sites, every) if one.pulls <= replayed]
        of_crawl = select(site.c.id).where(site.c.crawl_id == wanted.crawl.id).order_by(site.c.id)
        arms = connection.execute(of_crawl).scalars().all()
        for site_id in arms:
            rule.sleep(site_id)  # registers it, in the order of discovery
        indices: dict[int, list[float | None]] = {site_id: [] for site_id in sites}
        for number, (site_id, reward) in enumerate(_replayed(connection, numbered, replayed), 1):
            rule.record_pull(site_id)
            rule.record_reward(site_id, reward)
            if number % every == 0 or number == replayed:
                for shown, values in indices.items():
                    index = rule.index(shown)
                    values.append(index if index is not None and math.isfinite(index) else None)
        series = tuple(Series(name, tuple(indices[site_id])) for site_id, name in sites.items())
        notes.append(said("The first pages of each site are read before indices count."))
        if replayed < pulls:
            notes.append(said("Only the first %(pages)s pages are shown: later indices take too long.", pages=replayed))
        return Drawing(axis, y, _points(axis, samples), series, notes=tuple(notes))


def _replayed(connection: Connection, numbered: Subquery, most: int) -> Iterator[tuple[int, float]]:
    statement = select(numbered.c.site_id, numbered.c.reward).order_by(numbered.c.number).limit(most)
    rows = connection.execution_options(yield_per=ROWS_AT_ONCE).execute(statement)
    return ((site_id, reward) for site_id, reward in rows)


def _points(axis: Axis, samples: list[_Sample]) -> tuple[float, ...]:
    return tuple(one.at if axis is TIME else float(one.pulls) for one in samples)


def _found(connection: Connection, numbered: Subquery, every: int) -> Iterator[tuple[int, float]]:
    """Yield the reward of all pulls so far after every *every* of them, and after the last one."""
    part = (numbered.c.number - 1) // every
    sums = select(part, func.count(), func.sum(numbered.c.reward)).group_by(part).order_by(part)
    pulls, found = 0, 0.0
    for _, number, reward in connection.execute(sums):
        pulls += number
        found += reward
        yield pulls, found


def _crawls_of_same_sites(connection: Connection, crawl_id: int, reward: str) -> dict[int, str]:
    """Return this crawl and the latest others of the same sites and *reward*, at most `SHOWN`: their titles."""
    mission = select(crawl.c.mission).where(crawl.c.id == crawl_id).scalar_subquery()
    own = select(site.c.seed_id).where(site.c.crawl_id == crawl_id)
    number = select(func.count()).where(site.c.crawl_id == crawl_id).scalar_subquery()
    same = (
        select(site.c.crawl_id)
        .join(crawl, crawl.c.id == site.c.crawl_id)
        .where(crawl.c.mission == mission, crawl.c.id != crawl_id)
        .group_by(site.c.crawl_id)
        .having(func.count() == number, func.sum(case((site.c.seed_id.in_(own), 1), else_=0)) == number)
        .order_by(site.c.crawl_id.desc())
    )
    others = list(connection.execute(same).scalars())
    settings = {one: recorded(connection, one, "RULE", "PROFILE", "REWARD") for one in (crawl_id, *others)}
    chosen = [one for one in others if (settings[one].get("REWARD") or "new_links") == reward][: SHOWN - 1]
    names = connection.execute(select(crawl.c.id, crawl.c.name).where(crawl.c.id.in_([crawl_id, *chosen]))).all()
    by_id = {number: name for number, name in names}
    rules = {one: settings[one].get("RULE") or settings[one].get("PROFILE") or "roundrobin" for one in by_id}
    return {one: f"{rules[one]}: {by_id[one]} #{one}" for one in (crawl_id, *chosen)}


def has_pulls(connection: Connection, crawl_id: int) -> bool:
    """Return whether a crawl has any pull."""
    # Site by site, so that PostgreSQL uses the index: it would read the pulls of all crawls until it met one of this.
    with_pulls = select(site.c.id).where(site.c.crawl_id == crawl_id, exists().where(pull.c.site_id == site.c.id))
    return connection.execute(with_pulls.limit(1)).first() is not None
