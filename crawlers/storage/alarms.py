"""Asks the store how the sources of a news crawl are, and keeps the alarms that come of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import case, func, insert, select, text, update

from crawlers.algorithms.alarms import DAY_S, Alarm, FeedHealth, Limits, Pause, SiteHealth, alarms_of, patience_s
from crawlers.algorithms.page_scores import RETURNING
from crawlers.items import State
from crawlers.storage.news_tables import alarm, document, news_score, poll
from crawlers.storage.tables import page, site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from crawlers.storage.database import Database

LATEST = 50  # documents of a site that tell how often it publishes
FEEDS = ("feed", "sitemap")

# When an article appeared: as it says, but not later than it was stored.
_APPEARED = case((document.c.published_at < document.c.stored_at, document.c.published_at), else_=document.c.stored_at)

# Pages that look like articles, and are none; what says "as document" is a copy. Polls keep their last error as reason.
_FAILED = text(
    "SELECT site_id, count(*) AS failed, max(reason) AS reason FROM page "
    "WHERE fetched_at > :since AND state = :done AND reason IS NOT NULL AND reason NOT LIKE '% as document %' "
    "AND NOT EXISTS (SELECT 1 FROM poll WHERE poll.page_id = page.id) GROUP BY site_id"
)


class Look(NamedTuple):
    """What changed, and what is wrong now."""

    raised: list[Alarm]
    ended: list[Alarm]
    open: list[Alarm]


def look(database: Database, crawl_id: int, limits: Limits, now: float, pause: Pause) -> Look:
    """Decide about a crawl at *now*, and write down which alarms began and ended. Raises `StoreError`."""
    with database.read() as connection:
        found = alarms_of(_feeds(connection, crawl_id), _sites(connection, crawl_id, limits, now), limits, now, pause)
        known = open_alarms(connection, crawl_id)
    now_open = {(one.kind, one.subject) for one in found}
    before = {(one.kind, one.subject) for one in known.values()}
    raised = [one for one in found if (one.kind, one.subject) not in before]
    over = {number: one for number, one in known.items() if (one.kind, one.subject) not in now_open}
    if raised or over:
        with database.write() as connection:
            if raised:
                rows = [{"crawl_id": crawl_id, "raised_at": now, **one._asdict()} for one in raised]
                connection.execute(insert(alarm), rows)
            if over:
                connection.execute(update(alarm).where(alarm.c.id.in_(over)).values(ended_at=now))
    return Look(raised, list(over.values()), found)


def open_alarms(connection: Connection, crawl_id: int) -> dict[int, Alarm]:
    """The alarms of a crawl that are not over, by their numbers."""
    statement = select(alarm.c.id, alarm.c.kind, alarm.c.subject, alarm.c.message).where(
        alarm.c.crawl_id == crawl_id, alarm.c.ended_at.is_(None)
    )
    return {number: Alarm(*rest) for number, *rest in connection.execute(statement.order_by(alarm.c.id))}


def _feeds(connection: Connection, crawl_id: int) -> list[FeedHealth]:
    """The feeds that fail. A page that is known keeps its state, and when it was had, as long as it can't be had."""
    failing = poll.c.failures > 0
    since = case(
        (~failing, poll.c.newest_at), (page.c.state == int(State.DONE), page.c.fetched_at), else_=page.c.state_at
    )
    statement = (
        select(page.c.url, since, poll.c.problem)
        .join(poll, poll.c.page_id == page.c.id)
        .join(news_score, news_score.c.page_id == page.c.id)
        .join(site, site.c.id == page.c.site_id)
        .where(site.c.crawl_id == crawl_id, news_score.c.queue == RETURNING, poll.c.kind.in_(FEEDS))
        .where(failing | poll.c.problem.is_not(None))
        .order_by(page.c.url)
    )
    return [FeedHealth(url, began, problem or "") for url, began, problem in connection.execute(statement)]


def _sites(connection: Connection, crawl_id: int, limits: Limits, now: float) -> Iterator[SiteHealth]:
    day = now - DAY_S
    names = connection.execute(select(site.c.id, site.c.site).where(site.c.crawl_id == crawl_id).order_by(site.c.site))
    failed = {row.site_id: row for row in connection.execute(_FAILED, {"since": day, "done": int(State.DONE)})}
    polls = _polls(connection, crawl_id)
    for number, name in names.all():
        latest = select(_APPEARED).where(document.c.site_id == number).order_by(document.c.stored_at.desc())
        published = list(connection.execute(latest.limit(LATEST)).scalars())
        stored = connection.execute(
            select(func.count()).where(document.c.site_id == number, document.c.stored_at > day)
        ).scalar_one()
        if published and max(published) < now - limits.silent_s:
            # Its archive may bring more than is new.
            began = now - patience_s(published, limits.silent_s)
            fresh = select(func.max(_APPEARED)).where(document.c.site_id == number, document.c.stored_at > began)
            newest = connection.execute(fresh).scalar()
            published += [newest] if newest is not None and newest > max(published) else []
        bad, (discovered_at, answered_at) = failed.get(number), polls.get(number, (None, None))
        failures, reason = (bad.failed, bad.reason) if bad is not None else (0, "")
        yield SiteHealth(name, published, failures, reason, stored, discovered_at, answered_at)


def _polls(connection: Connection, crawl_id: int) -> dict[int, tuple[Any, Any]]:
    answered_at = func.max(case((poll.c.failures == 0, poll.c.polled_at)))
    statement = (
        select(poll.c.site_id, func.max(poll.c.newest_at), answered_at)
        .join(site, site.c.id == poll.c.site_id)
        .where(site.c.crawl_id == crawl_id)
        .group_by(poll.c.site_id)
    )
    return {number: (newest_at, answered) for number, newest_at, answered in connection.execute(statement)}
