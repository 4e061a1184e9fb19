"""Counts what a crawl found, for its summary: one pass over its pages, one over its links."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select

from crawlers.items import State
from crawlers.reasons import TRAPS, Reason, brief
from crawlers.store.reading.url_counts import ENDED, URL_KIND, UrlKind, has_reason, is_vain_guess, total, url_counts
from crawlers.store.schema.tables import crawl, link, page, seed, site, worker
from crawlers.store.sites.site_opening import PROBLEM, WHY_UNAVAILABLE, site_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection

    from crawlers.store.database import Database

STOPPED_BY_USER = (Reason.SHUTDOWN, Reason.STOP_FILE)  # the first one by a signal or a command


class SiteResult(NamedTuple):
    """The results of one site."""

    site: str
    problem: str | None  # see `site_problem`
    is_found: bool  # discovered by a crawl, not named by a person
    pages: int = 0  # with duplicates
    links: int = 0  # pairs of pages
    errors: int = 0  # URLs without a response, or with a status of an error
    duplicates: int = 0


class Ending(NamedTuple):
    """The state of URLs that are not pages, and the reason."""

    state: State
    is_error: bool
    reason: str


class CrawlResults(NamedTuple):
    """The results of a crawl."""

    end: Any  # see `crawl_end`
    sites: Sequence[SiteResult]  # included in the latest run, by name
    endings: Counter[Ending]  # of the URLs that are not pages
    examples: dict[Ending, str]  # one URL of each
    redirects: int
    waiting: int
    has_requested: bool  # whether the workers of the latest run have stored the result of any request


def crawl_end(connection: Connection, crawl_id: int) -> Any:
    """Return how the latest run of a crawl ended: its `state`, the `reason`, and the `control` of its workers."""
    return connection.execute(
        select(crawl.c.state, crawl.c.reason, crawl.c.control).where(crawl.c.id == crawl_id)
    ).one()


def crawl_results(database: Database, crawl_id: int, guesses: Sequence[str] = ()) -> CrawlResults:
    """Return the results of a crawl, of all its runs. Raises `StoreError`.

    URLs at the paths *guesses*, which no site named, are counted only if there was something.
    """
    of_crawl = site.c.crawl_id == crawl_id
    named = (
        select(site.c.id, site.c.site, seed.c.is_found, *PROBLEM)
        .outerjoin(seed, seed.c.id == site.c.seed_id)
        .where(of_crawl, site.c.is_open)
        .order_by(site.c.site)
    )
    ended = select(page.c.state, URL_KIND.label("kind"), page.c.reason, func.count(), func.min(page.c.url))
    # By name, because PostgreSQL takes an expression with parameters for another one when it is repeated.
    ended = ended.where(_within(of_crawl), page.c.state.in_(ENDED)).group_by("state", "kind", "reason")
    if guesses:
        ended = ended.join(site, site.c.id == page.c.site_id).where(~is_vain_guess(guesses))
    contents = (
        select(page.c.site_id, func.count() - func.count(page.c.content_hash.distinct()))
        .where(_within(of_crawl), page.c.state == int(State.DONE), page.c.content_hash.is_not(None))
        .group_by(page.c.site_id)
    )
    # A site's pages first: so the links are read in the order of their table.
    linked = select(page.c.site_id, func.count()).join(link, link.c.source_id == page.c.id).group_by(page.c.site_id)
    endings: Counter[Ending] = Counter()
    examples: dict[Ending, str] = {}
    with database.read() as connection:
        end = crawl_end(connection, crawl_id)
        sites = connection.execute(named).all()
        counts = url_counts(connection, _within(of_crawl), guesses)
        for state, kind, why, count, url in connection.execute(ended):
            ending = Ending(State(state), kind == UrlKind.ERROR, brief(why))
            endings[ending] += count
            examples[ending] = min(url, examples.get(ending, url))
        has_requested = _has_requested(connection, crawl_id)
        duplicates = {site_id: number for site_id, number in connection.execute(contents)}
        links = {site_id: number for site_id, number in connection.execute(linked.where(_within(of_crawl)))}
    now = time.time()
    found = [
        SiteResult(
            row.site,
            site_problem(row, now),
            bool(row.is_found),
            counts[row.id].pages,
            links.get(row.id, 0),
            counts[row.id].errors,
            counts[row.id].copies + duplicates.get(row.id, 0),
        )
        for row in sites
    ]
    whole = total(counts.values())
    return CrawlResults(end, found, endings, examples, whole.redirects, whole.waiting, has_requested)


def cut_parts(connection: Connection, crawl_id: int) -> list[tuple[int, str, str]]:
    """Return the parts of sites that were cut as endless, the largest first: number of URLs, site and reason."""
    count = select(func.count(), site.c.id, page.c.reason, site.c.site).join(site, site.c.id == page.c.site_id)
    is_cut = (site.c.crawl_id == crawl_id, page.c.state == int(State.REJECTED), has_reason(page.c.reason, TRAPS))
    rows = connection.execute(count.where(*is_cut).group_by(site.c.id, site.c.site, page.c.reason)).all()
    ordered = sorted((-number, site_id, reason, name) for number, site_id, reason, name in rows)
    return [(-less, name, reason) for less, _, reason, name in ordered]


def _has_requested(connection: Connection, crawl_id: int) -> bool:
    of_run = (worker.c.crawl_id == crawl_id) & (worker.c.joined_at >= crawl.c.run_started_at)
    requested = select(worker.c.id).join(crawl, crawl.c.id == worker.c.crawl_id).where(of_run)
    return connection.execute(requested.where(worker.c.used + worker.c.pages > 0).limit(1)).scalar() is not None


def _within(of_crawl: ColumnElement[bool]) -> ColumnElement[bool]:
    return page.c.site_id.in_(select(site.c.id).where(of_crawl))


def has_pages(connection: Connection, crawl_id: int) -> bool:
    """Return whether the crawl has read any page."""
    read = select(page.c.id).where(_within(site.c.crawl_id == crawl_id), page.c.state == int(State.DONE))
    return connection.execute(read.limit(1)).scalar() is not None


def latest_with_pages(connection: Connection, before: int) -> int | None:
    """Return the number of the latest crawl with a number below *before* that has read a page; None: there is none."""
    earlier = connection.scalars(select(crawl.c.id).where(crawl.c.id < before).order_by(crawl.c.id.desc())).all()
    return next((number for number in earlier if has_pages(connection, number)), None)


def unavailable_sites(
    connection: Connection, crawl_id: int, *, with_certificates: bool = False
) -> list[tuple[str, str]]:
    """Return the sites of the latest run, as a person named them, of which nothing can be read, and why.

    *with_certificates* adds those with a bad certificate, after them.
    """
    wanted = WHY_UNAVAILABLE.is_not(None)
    statement = (
        select(site.c.site, *PROBLEM)
        .outerjoin(seed, seed.c.id == site.c.seed_id)
        .where(site.c.crawl_id == crawl_id, site.c.is_open, seed.c.is_found.is_not(True))
        .where(wanted | site.c.certificate.is_not(None) if with_certificates else wanted)
        .order_by(WHY_UNAVAILABLE.is_(None), site.c.site)
    )
    now = time.time()
    return [(row.site, site_problem(row, now) or "") for row in connection.execute(statement)]
