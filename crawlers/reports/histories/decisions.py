"""At which decision of the rule a page was chosen, and how the sites stood then; what a waiting URL waits for.

Pulls are stored in order, and rules are pure: a rule to which the earlier pulls are replayed is in the state in which
it chose the page. Downloads that were in flight then are known as well, from the times at which they were chosen.
Which sites had something to fetch at that moment is not stored.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from protego import Protego
from sqlalchemy import exists, func, select, tuple_

from crawlers.items import State
from crawlers.pages.robots_groups import is_unreachable, lines_for
from crawlers.reasons import ROBOTS, TRAPS, Reason, code_of
from crawlers.reports.histories.history import (
    SHOWN,
    Count,
    Fact,
    Moment,
    Said,
    Topic,
    Url,
    because,
    counted_pages,
    event,
    facts_about,
    said,
)
from crawlers.sites.robots_rules import RobotsRules
from crawlers.store.reading.crawls import FINISHED, RUNNING
from crawlers.store.schema.tables import crawl, page, pull, site
from crawlers.store.sites.site_opening import WHY_UNAVAILABLE
from crawlers.store.worker_rows import PAUSE, STOP, budget_of
from crawlers.store.writing.pulls import ROWS_AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection

    from crawlers.bandits.site_rules import SiteRule
    from crawlers.reports.crawl_manifest import CrawlRules
    from crawlers.reports.histories.history import Part

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


LATER = 500  # pulls that ended after the page and may have been chosen before it: more are never in flight
_pages = exists().where(page.c.site_id == site.c.id)
# Whether nothing of a site could ever be fetched, because its robots.txt allows nothing or can't be read.
_IS_CLOSED = ~exists().where(pull.c.site_id == site.c.id) & (
    WHY_UNAVAILABLE.is_not(None) | (_pages & ~_pages.where(page.c.state != int(State.REJECTED)))
)


class SiteThen(NamedTuple):
    """A site when the rule chose."""

    site_id: int
    site: str
    promise: float  # the index; infinite while its initial pages are not read
    pulls: int
    reward: float  # of all of its pulls


class Decision(NamedTuple):
    """What the rule knew when it chose a page, from the best site to the worst."""

    number: int  # of the download among those of the crawl, in the order of completion, from 1
    in_flight: int
    sites: list[SiteThen]


def decision_events(
    connection: Connection, crawl_id: int, row: Any, rules: CrawlRules, is_over: Callable[[], bool]
) -> list[Fact]:
    """Return the decision that chose the page *row*, and the rewards of its downloads; nothing if none was recorded."""
    of_page = select(pull).where(pull.c.site_id == row.site_id, pull.c.page_id == row.id).order_by(pull.c.id.desc())
    pulls = connection.execute(of_page.limit(SHOWN)).all()
    if not pulls:
        return []
    events = [
        event(one.ended_at, Topic.DECISION, "its reward for the rule: %(reward)s", reward=one.reward) for one in pulls
    ]
    chosen_at = row.fetched_at if row.fetched_at is not None else pulls[0].ended_at
    rule = rules.new_rule()
    made = replayed(connection, crawl_id, pulls[0], chosen_at, rule, is_over)
    return [Fact(Topic.DECISION, _chosen(made, row.site_id, rule, rules.rule), chosen_at), *events]


def replayed(
    connection: Connection,
    crawl_id: int,
    own: Any,
    chosen_at: float,
    rule: SiteRule | None,
    is_over: Callable[[], bool],
) -> Decision | None:
    """Return what was known at *chosen_at*, before the pull *own* of the crawl; None if the time *is_over*."""
    if is_over():
        return None
    listed = select(site.c.id, site.c.site).where(site.c.crawl_id == crawl_id, ~_IS_CLOSED).order_by(site.c.id)
    names = {site_id: name for site_id, name in connection.execute(listed)}
    if rule is not None:
        for site_id in names:
            rule.wake(site_id)
    of_crawl = select(site.c.id).where(site.c.crawl_id == crawl_id)
    first = connection.execute(select(func.min(pull.c.id)).where(pull.c.site_id.in_(of_crawl))).scalar_one()
    columns = select(pull.c.id, pull.c.site_id, pull.c.page_id, pull.c.reward, pull.c.ended_at).order_by(pull.c.id)
    number = 1
    pulls: Counter[int] = Counter()
    rewards: dict[int, float] = {}
    late: dict[int, int] = {}  # site by page, of pulls that ended after the choice
    earlier = columns.where(pull.c.id >= first, pull.c.id < own.id).execution_options(yield_per=ROWS_AT_ONCE)
    with connection.execute(earlier) as rows:
        for read, one in enumerate(rows, 1):
            if read % ROWS_AT_ONCE == 0 and is_over():
                return None
            if one.site_id not in names:
                continue
            number += 1
            if one.ended_at > chosen_at:
                late[one.page_id] = one.site_id
                continue
            pulls[one.site_id] += 1
            rewards[one.site_id] = rewards.get(one.site_id, 0.0) + one.reward
            if rule is not None:
                rule.record_pull(one.site_id)
                rule.record_reward(one.site_id, one.reward)
    later = connection.execute(columns.where(pull.c.id > own.id).limit(LATER)).all()
    late |= {one.page_id: one.site_id for one in later if one.site_id in names}
    before = select(page.c.id).where(page.c.id.in_(late), page.c.fetched_at < chosen_at)
    in_flight = [late[page_id] for page_id in connection.execute(before).scalars()]
    for site_id in in_flight:
        pulls[site_id] += 1
        if rule is not None:
            rule.record_pull(site_id)
    index = {number: (rule.index(number) if rule is not None else None) or 0.0 for number in names}
    sites = [
        SiteThen(site_id, text, index[site_id], pulls[site_id], rewards.get(site_id, 0.0))
        for site_id, text in names.items()
    ]
    sites.sort(key=lambda one: (-one.promise, one.pulls, one.site_id))
    return Decision(number, len(in_flight), sites)


def _chosen(made: Decision | None, site_id: int, rule: SiteRule | None, name: str) -> Said:
    if made is None:
        return said(
            "chosen by the rule %(rule)s; it is not shown how the sites stood then, because replaying the rule took "
            "too long; ask again later",
            rule=name,
        )
    sentence = said(
        "chosen by the rule %(rule)s, as download %(number)s of the crawl, with %(flight)s in flight",
        rule=name,
        number=made.number,
        flight=Count(made.in_flight, "%(number)s other", "%(number)s others"),
    )
    if rule is None or not rule.has_index or name in _HOW:
        how = said("this rule has no index: %(how)s", how=_HOW.get(name, "it takes sites in turns"))
        return sentence._replace(further=(how,))
    rank = next(place for place, one in enumerate(made.sites) if one.site_id == site_id)
    shown = made.sites[:SHOWN] + ([made.sites[rank]] if rank >= SHOWN else [])
    further = [_site(one, is_chosen=one.site_id == site_id) for one in shown]
    if rank:
        further.append(said("sites with a higher index had nothing to fetch, or rested between two requests"))
    return sentence._replace(further=tuple(further))


_HOW = {
    "best": "it takes the site whose next page has the best score",
    "sequential": "it reads one site after another",
    "trivial": "each site gets an equal share of the budget",
}


def _site(one: SiteThen, *, is_chosen: bool) -> Said:
    parts: dict[str, Part] = {"site": Url(f"{one.site}/"), "pages": counted_pages(one.pulls), "reward": one.reward}
    if math.isinf(one.promise):
        if is_chosen:
            return said("chosen: %(site)s, whose first pages are read before indices count, %(pages)s so far", **parts)
        return said("%(site)s: its first pages are read before indices count, %(pages)s so far", **parts)
    parts["index"] = one.promise
    if is_chosen:
        return said("chosen: %(site)s, index %(index)s, reward %(reward)s of %(pages)s", **parts)
    return said("%(site)s: index %(index)s, reward %(reward)s of %(pages)s", **parts)


def deciding_line(body: str, token: str, url: str) -> str | None:
    """Return the line of robots.txt *body* that disallows *url* to the product *token*; None if it may be fetched.

    Of several lines that match, the longest decides (section 2.2.2).

    >>> deciding_line("User-agent: *\\nDisallow: /a\\nDisallow: /a/b", "mybot", "http://a.example/a/b/c")
    'Disallow: /a/b'
    """
    if RobotsRules(200, body, token).reason_against(url) is None:
        return None
    lines = [line for line in dict.fromkeys(lines_for(body, token)) if not line.lower().startswith("allow")]
    for line in sorted(lines, key=lambda line: len(line.partition(":")[2].strip()), reverse=True):
        if not Protego.parse(f"User-agent: *\n{line}").can_fetch(url, "*"):
            return line
    return None  # the file has too many rules with wildcards
