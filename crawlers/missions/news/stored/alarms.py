"""Checks the sources of a news crawl in the store, and stores the resulting alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Select, case, func, insert, literal, select, text, update

from crawlers.items import REVISIT, State
from crawlers.missions.news.news_items import ANNOUNCERS, POLLED_LISTS
from crawlers.missions.news.plan.alarm_rules import (
    DAY_S,
    DEAD_FEED,
    UNREACHABLE,
    Alarm,
    Failing,
    Limits,
    Pause,
    SiteHealth,
    alarms_of,
    longest_silence_s,
)
from crawlers.missions.news.stored.news_tables import alarm, document, feed, news_score, poll
from crawlers.reasons import COPIES, Reason
from crawlers.store.reading.url_counts import has_reason
from crawlers.store.schema.tables import crawl, page, seed, site
from crawlers.store.streaming import among

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection

    from crawlers.store.database import Database

# Whether a feed failed at its last poll, or has a problem; a long one that is read in slices has none.
FAILS = (poll.c.failures > 0) | (poll.c.problem.is_not(None) & ~has_reason(poll.c.problem, [Reason.FEED_REST]))

LATEST = 50  # documents of a site from which its rate of publication is estimated

# The time of publication of an article, but not later than it was stored.
_APPEARED = case((document.c.published_at < document.c.stored_at, document.c.published_at), else_=document.c.stored_at)

# Pages that look like articles but are not documents, nor copies of one; the reason of a poll is an error.
_IS_COPY = " OR ".join(f"reason LIKE '{code} %'" for code in sorted(COPIES))
_FAILED = text(
    "SELECT site_id, reason FROM page "  # noqa: S608 - codes of ours
    "WHERE fetched_at > :since AND state = 1 AND reason IS NOT NULL "  # as in the index page_without_document
    f"AND NOT ({_IS_COPY}) "
    "AND NOT EXISTS (SELECT 1 FROM poll WHERE poll.page_id = page.id)"
)


class Check(NamedTuple):
    """The result of a check: alarms that began, those that are over, by number, and all that are open."""

    raised: list[Alarm]
    ended: dict[int, Alarm]
    open: list[Alarm]


def check(database: Database, crawl_id: int, limits: Limits, now: float, pause: Pause) -> Check:
    """Check a crawl at *now*. The changes of the previous check must be committed. Raises `StoreError`."""
    with database.read() as connection:
        found = alarms_of(_failing(connection, crawl_id), _sites(connection, crawl_id, limits, now), limits, now, pause)
        known = open_alarms(connection, crawl_id)
    before, open_now = ({one.identity for one in some} for some in (known.values(), found))
    ended = {number: one for number, one in known.items() if one.identity not in open_now}
    return Check([one for one in found if one.identity not in before], ended, found)


def store_changes(connection: Connection, crawl_id: int, seen: Check, now: float) -> None:
    """Store the alarms that were raised and ended at *now*."""
    if seen.raised:
        rows = [{"crawl_id": crawl_id, **one._asdict(), "raised_at": now} for one in seen.raised]
        connection.execute(insert(alarm), rows)
    if seen.ended:
        connection.execute(update(alarm).where(among(alarm.c.id, seen.ended)).values(ended_at=now))


def open_alarms(connection: Connection, crawl_id: int) -> dict[int, Alarm]:
    """Return the open alarms of a crawl, by number."""
    statement = select(alarm.c.id, alarm.c.kind, alarm.c.subject, alarm.c.message).where(
        alarm.c.crawl_id == crawl_id, alarm.c.ended_at.is_(None)
    )
    return {number: Alarm(*rest) for number, *rest in connection.execute(statement.order_by(alarm.c.id))}


def list_alarms(database: Database) -> Sequence[Any]:
    """Return the alarms of all crawls in the order in which they were raised.

    They are rows: the name of the crawl, `raised_at`, `ended_at`, `kind`, `subject` and `message`.
    """
    columns = (alarm.c.raised_at, alarm.c.ended_at, alarm.c.kind, alarm.c.subject, alarm.c.message)
    statement = select(crawl.c.name, *columns).join(crawl, crawl.c.id == alarm.c.crawl_id)
    return database.rows(statement.order_by(alarm.c.id))


# The time of the last success: a page whose revisits fail keeps its state and the time of its download.
_LAST_SUCCESS = case((page.c.state == int(State.DONE), page.c.fetched_at), else_=page.c.state_at)


def _of(crawl_id: int) -> ColumnElement[bool]:
    """Return the condition for the sites that the latest run of a crawl includes."""
    return (site.c.crawl_id == crawl_id) & site.c.is_open


def _failing(connection: Connection, crawl_id: int) -> Iterator[Failing]:
    """Yield the failing feeds, and the sources whose start URLs and feeds, on any host, all fail.

    A source fails since the last success of any of them.
    """
    polled = (_of(crawl_id), news_score.c.queue == REVISIT)

    def of(*columns: ColumnElement[Any]) -> Select[Any]:
        scheduled = select(*columns).select_from(poll).join(page, page.c.id == poll.c.page_id).where(*polled)
        scheduled = scheduled.join(news_score, news_score.c.page_id == page.c.id)
        return scheduled.join(site, site.c.id == page.c.site_id)

    since = case((poll.c.failures == 0, poll.c.newest_at), else_=_LAST_SUCCESS)
    feeds = of(page.c.url, since, poll.c.problem, literal(DEAD_FEED))
    feeds = feeds.where(poll.c.kind.in_(ANNOUNCERS), FAILS).order_by(page.c.url)
    sources = (
        of(seed.c.site, func.max(_LAST_SUCCESS), func.max(poll.c.problem), literal(UNREACHABLE))
        .outerjoin(feed, feed.c.url == page.c.url)
        .join(seed, seed.c.id == func.coalesce(feed.c.seed_id, site.c.seed_id))
        .where(poll.c.kind.in_(POLLED_LISTS))
        .group_by(seed.c.site)
        .having(func.min(poll.c.failures) > 0)
        .order_by(seed.c.site)
    )
    for statement in (feeds, sources):
        for subject, began, problem, kind in connection.execute(statement):
            yield Failing(subject, began, problem or "", kind)


def _sites(connection: Connection, crawl_id: int, limits: Limits, now: float) -> Iterator[SiteHealth]:
    day = now - DAY_S
    names = connection.execute(select(site.c.id, site.c.site).where(_of(crawl_id)).order_by(site.c.site))
    failed: dict[int, list[str]] = {}
    # Grouped here, because SQLite would read all pages to group them.
    for number, reason in connection.execute(_FAILED, {"since": day}):
        failed.setdefault(number, []).append(reason)
    responded_at = func.max(case((poll.c.failures == 0, poll.c.polled_at)))
    polls = (
        select(poll.c.site_id, func.max(poll.c.newest_at), responded_at)
        .join(site, site.c.id == poll.c.site_id)
        .where(_of(crawl_id))
        .group_by(poll.c.site_id)
    )
    polled = {number: tuple(times) for number, *times in connection.execute(polls)}
    for number, name in names.all():
        latest = select(_APPEARED).where(document.c.site_id == number).order_by(document.c.stored_at.desc())
        published = list(connection.execute(latest.limit(LATEST)).scalars())
        stored = connection.execute(
            select(func.count()).where(document.c.site_id == number, document.c.stored_at > day)
        ).scalar_one()
        if published and max(published) < now - limits.silent_s:
            # The latest documents may be from the archive of the site.
            began = now - longest_silence_s(published, limits.silent_s)
            fresh = select(func.max(_APPEARED)).where(document.c.site_id == number, document.c.stored_at > began)
            newest = connection.execute(fresh).scalar()
            published += [newest] if newest is not None and newest > max(published) else []
        reasons = failed.get(number, [])
        times = polled.get(number, (None, None))
        yield SiteHealth(name, published, len(reasons), max(reasons, default=""), stored, *times)
