"""Reads the pulls of a crawl that counts rewards, and the keys that its sites were already rewarded for."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select

from crawlers.errors import StoreError
from crawlers.store.reading.crawl_settings import record, setting_of
from crawlers.store.schema.tables import counted_key, link_features, page, pull, site, worker
from crawlers.store.streaming import among

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sqlalchemy import ColumnElement, Connection, Select

    from crawlers.ranking.link_features import LinkPrior
    from crawlers.ranking.link_values import Features
    from crawlers.store.database import Database


def read_features(text: str, store: str) -> Features:
    """Return the features that *text* stores; raises `StoreError`, with the name of the *store*, if it is damaged."""
    from crawlers.ranking.link_features import TABLE_SIZE
    from crawlers.ranking.link_values import features_of  # with numpy; only orders that learn have features

    try:
        features = features_of(text)
    except (TypeError, ValueError) as error:
        raise damaged(store, "features of a link cannot be read") from error
    if features.max() >= TABLE_SIZE:
        raise damaged(store, "features of a link cannot be read")
    return features


def read_reward(value: Any, store: str) -> float:
    """Return the reward that is stored as *value*; raises `StoreError`, with the name of the *store*, if it is none."""
    if not isinstance(value, float) or not 0.0 <= value < math.inf:
        raise damaged(store, f"the reward {value!r} of a page is not one")
    return value


def damaged(store: str, what: str) -> StoreError:
    """Return the error of a *store* in which *what* is wrong."""
    return StoreError(f"{store} is damaged: {what}; restore it, or name another")


WEIGHTS = "LINK_WEIGHTS"  # stored like a setting; LINK_PRIOR is their name


def keep_link_prior(connection: Connection, crawl_id: int, first: Callable[[], LinkPrior]) -> None:
    """Store what *first* returns, unless the crawl has weights; raises what *first* raises."""
    if connection.scalar(setting_of(crawl_id, WEIGHTS)) is None:
        record(connection, crawl_id, {WEIGHTS: json.dumps(first(), sort_keys=True)})


def stored_link_prior(connection: Connection, crawl_id: int) -> LinkPrior:
    """Return the link prior of a crawl; no weights if its order does not learn from links."""
    text = connection.scalar(setting_of(crawl_id, WEIGHTS))
    weights: LinkPrior = {} if text is None else json.loads(text)
    return weights


ROWS_AT_ONCE = 10_000


class Pull(NamedTuple):
    """A download of a crawl, as its rules and its order learn from it."""

    site_id: int
    reward: float
    features: str | None = None  # of the link by which the page was found, if the order learns from them


def pulls_of(database: Database, crawl_id: int, until: Mapping[int, int] | None = None) -> Iterator[Pull]:
    """Yield every recorded download of the crawl, in the order of completion.

    With *until*, by worker, only those up to its last pull there: see `last_pulls`. Raises `StoreError` if a
    reward is not one.
    """
    of_crawl = select(site.c.id).where(site.c.crawl_id == crawl_id)
    with database.read() as connection:
        sites = set(connection.execute(of_crawl).scalars())
        first = connection.execute(select(func.min(pull.c.id)).where(pull.c.site_id.in_(of_crawl))).scalar()
        if first is None:
            return
        # Read in the order of the table: sorting the pulls of a crawl would hold all of them in memory.
        recorded = (
            select(pull.c.site_id, pull.c.reward, link_features.c.features, pull.c.worker_id, pull.c.id)
            .outerjoin(link_features, link_features.c.page_id == pull.c.page_id)
            .where(pull.c.id >= first)
            .order_by(pull.c.id)
        )
        with connection.execution_options(yield_per=ROWS_AT_ONCE).execute(recorded) as rows:
            for site_id, reward, features, worker_id, number in rows:
                if site_id in sites and (until is None or worker_id is None or number <= until.get(worker_id, 0)):
                    yield Pull(site_id, read_reward(reward, database.name), features)


def downloads_with_links(of_sites: ColumnElement[bool], *columns: ColumnElement[Any]) -> Select[Any]:
    """Return the query for *columns* of the pulls of these sites and of `link_features`, in the order of completion.

    Links without features have NULL. Rows are read some thousand at a time.
    """
    pulls = select(*columns).select_from(pull).join(site, site.c.id == pull.c.site_id)
    with_links = pulls.outerjoin(link_features, link_features.c.page_id == pull.c.page_id)
    return with_links.where(of_sites).order_by(pull.c.id).execution_options(yield_per=ROWS_AT_ONCE)


def last_pulls(connection: Connection, crawl_id: int) -> dict[int, int]:
    """Return the last pull of each worker of a crawl that has any, by worker."""
    last = select(func.max(pull.c.id)).where(pull.c.worker_id == worker.c.id).scalar_subquery()
    found = connection.execute(select(worker.c.id, last).where(worker.c.crawl_id == crawl_id)).all()
    return {number: pull_id for number, pull_id in found if pull_id is not None}


def uncounted_pulls(connection: Connection, crawl_id: int) -> int:
    """Return the pulls of a crawl that no worker has counted; without any, the attempts, as `pulls.downloads_of`."""
    of_crawl = select(site.c.id).where(site.c.crawl_id == crawl_id)
    pulls = connection.execute(select(func.count()).where(pull.c.site_id.in_(of_crawl))).scalar_one()
    attempts = select(func.coalesce(func.sum(page.c.attempts), 0)).where(page.c.site_id.in_(of_crawl))
    counted = select(func.coalesce(func.sum(worker.c.used), 0)).where(worker.c.crawl_id == crawl_id)
    recalled = pulls or connection.execute(attempts).scalar_one()
    return max(0, int(recalled) - int(connection.execute(counted).scalar_one()))


def downloads_of_site(database: Database, site_id: int) -> int:
    """Return the number of recorded downloads of a site.

    If none is recorded, its crawl ran without a budget until now, and its pages tell of their downloads.
    """
    recorded = select(func.count()).where(pull.c.site_id == site_id)
    attempted = select(func.coalesce(func.sum(page.c.attempts), 0)).where(page.c.site_id == site_id)
    return int(database.scalar(recorded) or database.scalar(attempted))


def totals(database: Database, crawl_id: int) -> tuple[int, float]:
    """Return the number of downloads that the crawl recorded over all its runs, and their total reward."""
    of_crawl = select(site.c.id).where(site.c.crawl_id == crawl_id)
    statement = select(func.count(), func.coalesce(func.sum(pull.c.reward), 0.0)).where(pull.c.site_id.in_(of_crawl))
    ((pulls, earned),) = database.rows(statement)
    return int(pulls), float(earned)


def downloads_of(database: Database, crawl_id: int) -> Iterator[Pull]:
    """Yield the downloads of a crawl without pulls, with reward 0, from its pages, roughly in order."""
    attempted = (
        select(page.c.site_id, page.c.attempts)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id, page.c.attempts > 0)
        .order_by(page.c.id)
    )
    with database.read() as connection:
        for site_id, attempts in connection.execution_options(yield_per=ROWS_AT_ONCE).execute(attempted):
            yield from [Pull(site_id, 0.0)] * attempts


def counted(database: Database, site_id: int, keys: Iterable[int]) -> set[int]:
    """Return those of *keys* that the site was already rewarded for, as far as committed."""
    is_counted = (counted_key.c.site_id == site_id, among(counted_key.c.key, keys))
    return set(database.scalars(select(counted_key.c.key).where(*is_counted)))
