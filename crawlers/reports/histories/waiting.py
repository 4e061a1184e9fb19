"""What a waiting URL waits for, and what lets URLs through that were not requested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, tuple_

from crawlers.items import State
from crawlers.pages.robots_groups import is_unreachable
from crawlers.reasons import ROBOTS, TRAPS, Reason, code_of
from crawlers.reports.histories.history import Count, Fact, Moment, Said, Topic, because, facts_about, said
from crawlers.sites.robots_rules import deciding_line
from crawlers.store.reading.crawls import FINISHED, RUNNING
from crawlers.store.schema.tables import crawl, page
from crawlers.store.worker_rows import PAUSE, STOP, budget_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

_REMEDIES = {
    Reason.EXCLUDED: said("to fetch it, change URL_EXCLUDE and run the same command again"),
    Reason.NOT_INCLUDED: said("to fetch it, add an expression to URL_INCLUDE and run the same command again"),
    Reason.OUTSIDE_FOLDER: said(
        "to fetch it, name the site without the folder in the list of sites, and run the same command again"
    ),
    Reason.OTHER_ADDRESS: said(
        "to fetch it, name its address as an alias in the list of sites, and run the same command again"
    ),
    Reason.TOO_DEEP: said("to fetch it, give its site a higher limit, or MAX_LEVEL, and run the same command again"),
    Reason.EXTENSION: said("to fetch such URLs, remove the extension from IGNORED_EXTENSIONS and begin another crawl"),
    **dict.fromkeys(TRAPS, said("to fetch such URLs nevertheless, set TRAPS_ENABLED=0 and begin another crawl")),
    **dict.fromkeys(ROBOTS, said("only who runs the site can change that; ROBOTSTXT_OBEY=0 is for sites of your own")),
    **dict.fromkeys(
        (Reason.PRIVATE_HOST, Reason.PRIVATE_ADDRESS),
        said("to fetch it, name its site in the list of sites, or set REFUSE_PRIVATE_ADDRESSES=0"),
    ),
}


def waiting_facts(
    connection: Connection, crawl_id: int, row: Any, site: Any, now: float, *, scored: bool
) -> list[Fact]:
    """Return everything that keeps the waiting page *row* of the row *site* from being requested at the time *now*.

    *scored*: the order of the crawl has scores, by which its place in the queue is told elsewhere.
    """
    reasons = list(_reasons(connection, crawl_id, row, site, now))
    if not reasons:
        reasons = [said("waits for its turn")]
    if not scored:
        before = connection.execute(
            select(func.count()).where(
                page.c.site_id == row.site_id,
                page.c.state == int(State.WAITING),
                tuple_(page.c.priority, page.c.id) < (row.priority, row.id),
            )
        ).scalar_one()
        reasons.append(said("%(before)s", before=_before(before)))
    return facts_about(Topic.WAITING, reasons)


def _before(number: int) -> Count:
    return Count(
        number,
        "%(number)s URL of its site comes before it in its queue",
        "%(number)s URLs of its site come before it in its queue",
    )


def _reasons(connection: Connection, crawl_id: int, row: Any, site: Any, now: float) -> Iterator[Said]:
    run = connection.execute(select(crawl).where(crawl.c.id == crawl_id)).one()
    budget, used = budget_of(connection, crawl_id)
    is_used = 0 < budget <= used
    if run.state == FINISHED:
        yield said("the crawl is finished; the same command begins another one")
    elif run.state != RUNNING and not is_used:  # otherwise the same command would end at once
        yield said("waits until the crawl goes on: the command that began it resumes it")
    elif run.state == RUNNING and run.control == PAUSE:
        yield said("waits because the crawl is paused")
    elif run.state == RUNNING and run.control == STOP:
        yield said("waits because the crawl is being stopped")
    if is_used:
        yield said(
            "the budget of %(budget)s pages is used up; resume the crawl with a larger PAGE_BUDGET", budget=budget
        )
    if not site.is_open:
        yield said("its site is missing from the list of sites of the latest run; add it to go on")
    elif run.state == RUNNING and site.worker_id is None:
        yield said("waits until a worker takes its site")
    if site.availability is not None:
        yield said("its site is not available: %(why)s", why=because(site.availability))
    if site.robots_status is None:
        yield said("waits for the robots.txt of its site, which was not read yet")
    elif is_unreachable(site.robots_status):
        why = Reason.STATUS.of(site.robots_status) if site.robots_status else str(site.robots_text)
        yield said(
            "waits until the robots.txt of its site can be read, which was not possible: %(why)s", why=because(why)
        )
    if site.rest_until is not None and site.rest_until > now:
        yield said("nothing is requested of its site until %(until)s", until=Moment(site.rest_until))
    if row.retry_at is not None:
        yield said("waits for another attempt, not before %(at)s", at=Moment(row.retry_at))


def remedies(reason: str) -> tuple[Said, ...]:
    """Return what to do about the *reason* why a URL was not requested; nothing if it is unknown."""
    code = code_of(reason)
    return (_REMEDIES[code],) if code in _REMEDIES else ()


def robots_lines(site: Any, url: str, token: str) -> tuple[Said, ...]:
    """Return what the stored robots.txt of the row *site* says of *url* for the product *token*."""
    if site.robots_at is None:
        return ()
    if site.robots_status != 200 or not site.robots_text:
        if site.robots_status:
            return (
                said(
                    "its robots.txt was read %(at)s: status %(status)s",
                    at=Moment(site.robots_at),
                    status=site.robots_status,
                ),
            )
        return (said("its robots.txt was requested %(at)s without success", at=Moment(site.robots_at)),)
    found = deciding_line(site.robots_text, token, url)
    if found is None:
        return (said("its robots.txt, read %(at)s, allows it now", at=Moment(site.robots_at)),)
    return (
        said(
            'its robots.txt, read %(at)s, says "%(rule)s" to %(token)s',
            at=Moment(site.robots_at),
            rule=found,
            token=token,
        ),
    )
