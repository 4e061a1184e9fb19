"""What a waiting URL waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, tuple_

from crawlers.algorithms.robots_groups import is_unreachable
from crawlers.items import State
from crawlers.reasons import Reason
from crawlers.reports.histories.history import Count, Fact, Line, Moment, Topic, because, line
from crawlers.storage.crawls import FINISHED, RUNNING
from crawlers.storage.schema.tables import crawl, page
from crawlers.storage.worker_queries import budget_of
from crawlers.storage.workers import PAUSE, STOP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection


def waiting_facts(
    connection: Connection, crawl_id: int, row: Any, site: Any, now: float, *, scored: bool
) -> list[Fact]:
    """Return everything that keeps the waiting page *row* of the row *site* from being requested at the time *now*.

    *scored*: the order of the crawl has scores, by which its place in the queue is told elsewhere.
    """
    reasons = list(_reasons(connection, crawl_id, row, site, now))
    if not reasons:
        reasons = [line("waits for its turn")]
    if not scored:
        before = connection.execute(
            select(func.count()).where(
                page.c.site_id == row.site_id,
                page.c.state == int(State.WAITING),
                tuple_(page.c.priority, page.c.id) < (row.priority, row.id),
            )
        ).scalar_one()
        reasons.append(line("%(before)s", before=_before(before)))
    return [Fact(Topic.WAITING, one) for one in reasons]


def _before(number: int) -> Count:
    return Count(
        number,
        "%(number)s URL of its site comes before it in its queue",
        "%(number)s URLs of its site come before it in its queue",
    )


def _reasons(connection: Connection, crawl_id: int, row: Any, site: Any, now: float) -> Iterator[Line]:
    run = connection.execute(select(crawl).where(crawl.c.id == crawl_id)).one()
    budget, used = budget_of(connection, crawl_id)
    is_used = 0 < budget <= used
    if run.state == FINISHED:
        yield line("the crawl is finished; the same command begins another one")
    elif run.state != RUNNING and not is_used:  # otherwise the same command would end at once
        yield line("waits until the crawl goes on: the command that began it resumes it")
    elif run.state == RUNNING and run.control == PAUSE:
        yield line("waits because the crawl is paused")
    elif run.state == RUNNING and run.control == STOP:
        yield line("waits because the crawl is being stopped")
    if is_used:
        yield line(
            "the budget of %(budget)s pages is used up; resume the crawl with a larger PAGE_BUDGET", budget=budget
        )
    if not site.is_open:
        yield line("its site is missing from the list of sites of the latest run; add it to go on")
    elif run.state == RUNNING and site.worker_id is None:
        yield line("waits until a worker takes its site")
    if site.availability is not None:
        yield line("its site is not available: %(why)s", why=because(site.availability))
    if site.robots_status is None:
        yield line("waits for the robots.txt of its site, which was not read yet")
    elif is_unreachable(site.robots_status):
        why = Reason.STATUS.of(site.robots_status) if site.robots_status else str(site.robots_text)
        yield line(
            "waits until the robots.txt of its site can be read, which was not possible: %(why)s", why=because(why)
        )
    if site.rest_until is not None and site.rest_until > now:
        yield line("nothing is requested of its site until %(until)s", until=Moment(site.rest_until))
    if row.retry_at is not None:
        yield line("waits for another attempt, not before %(at)s", at=Moment(row.retry_at))
