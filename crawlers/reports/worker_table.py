"""Tables of the workers of a crawl and of its sites, for `scrapy workers`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.plurals import counted, plural
from crawlers.reports.progress_table import ASKED
from crawlers.reports.text_table import NOTHING, table, time_of
from crawlers.storage.crawls import FINISHED
from crawlers.storage.worker_status import Wait
from crawlers.storage.workers import ACTIVE, LEFT, LOST

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from crawlers.storage.queries import NamedCrawl
    from crawlers.storage.worker_queries import CrawlWorkers, SiteLine, WorkerLine

HEADINGS = ("worker", "machine", "process", "state", "since (UTC)", "sites", "pages", "pages/s", "leases")
SITE_HEADINGS = ("site", "worker", "waiting URLs", "waits for")
_WAITS = {
    Wait.READY: "ready",
    Wait.RESPONSE: "response",
    Wait.DELAY: "politeness delay",
    Wait.REST: "host's rest",
    Wait.ROBOTS: "robots.txt",
    Wait.TRIAL: "responses of other sites",
    Wait.RETRY: "retry",
    Wait.REVISIT: "revisit",
    Wait.NOTHING: "nothing waits",
}


class Deadline(NamedTuple):
    """When workers that do not report are lost."""

    seconds: float  # WORKER_DEADLINE_SECONDS
    dead: Container[int] = ()  # numbers of active workers whose processes have ended


def worker_lines(crawl: NamedCrawl, found: CrawlWorkers, deadline: Deadline, *, with_ended: bool = False) -> list[str]:
    """Return the lines about the workers of *crawl*: a heading, a table, and what a person should know of them.

    *with_ended*: workers that left or were lost are in the table, too.
    """
    active = [one for one in found.workers if one.state == ACTIVE]
    shown = found.workers if with_ended else active
    lines = [_heading(crawl, active, found.control) if active else nobody_works(crawl)]
    if shown:
        right = "r r  rrrr" + "rr" * bool(found.budget)
        lines += ["", table(worker_rows(found, deadline, shown), right), ""]
    lines += worker_notes(found, deadline)
    if not with_ended:
        lines += _ended(found.workers)
    return lines


def worker_rows(found: CrawlWorkers, deadline: Deadline, shown: Sequence[WorkerLine]) -> list[tuple[str, ...]]:
    """Return the headings of the table of the workers *shown*, and a row for each of them."""
    budget = ("granted", "used") if found.budget else ()
    headings = (*HEADINGS, *budget, "what its sites wait for")
    return [headings, *(_row(one, found, deadline) for one in shown)]


def worker_notes(found: CrawlWorkers, deadline: Deadline) -> list[str]:
    """Return sentences about workers that do not report, sites that nobody holds, and the budget."""
    active = [one for one in found.workers if one.state == ACTIVE]
    lines = [line for one in active if (line := _expiring(one, found.now, deadline)) is not None]
    if found.free_sites:
        lines.append(f"{counted(found.free_sites, 'site')} with something to do {_have(found.free_sites)} no worker")
    if found.budget:
        left = sum(max(0, one.granted - one.used) for one in active)
        lines.append(
            f"Budget: {found.used:,} of {counted(found.budget, 'page')} used, {left:,} granted to workers for their "
            "next pages"
        )
    return lines


def nobody_works(crawl: NamedCrawl) -> str:
    """Return one sentence about a crawl without an active worker."""
    if crawl.state == FINISHED:
        return f"Crawl {crawl.name} (number {crawl.id}) is finished; nobody works on it"
    return f"Nobody works on the crawl {crawl.name} (number {crawl.id}); the command that began it resumes it"


def site_lines(sites: Sequence[SiteLine], now: float, dead: Container[int] = ()) -> list[str]:
    """Return the lines about *sites* at the time *now*, those with the most waiting URLs first."""
    if not sites:
        return ["No URLs wait, and no worker holds a site"]
    return [table(site_table_rows(sites, now, dead), " rr")]


def site_table_rows(sites: Sequence[SiteLine], now: float, dead: Container[int] = ()) -> list[tuple[str, ...]]:
    """Return the headings of the table of *sites*, and a row for each, those with the most waiting URLs first."""
    ranked = sorted(sites, key=lambda one: (-one.waiting, one.site))
    return [SITE_HEADINGS, *((one.site, _owner(one, dead), f"{one.waiting:,}", waits_for(one, now)) for one in ranked)]


def waits_for(site: SiteLine, now: float) -> str:
    """Return what the next request to *site* waits for at the time *now*, as far as it is stored."""
    if not site.is_open:
        return "the site is missing from the host list"
    if not site.waiting:
        return _WAITS[Wait.NOTHING]
    if site.worker is None:
        return "a worker"
    if site.rest_until is not None and site.rest_until > now:
        return f"{_WAITS[Wait.REST]}, {_seconds(site.rest_until - now)}"
    if not site.has_robots:
        return _WAITS[Wait.ROBOTS]
    if site.resting == site.waiting and site.retry_at is not None and site.retry_at > now:
        return f"{_WAITS[Wait.RETRY]}, {_seconds(site.retry_at - now)}"
    return "ready"


def _heading(crawl: NamedCrawl, active: Sequence[WorkerLine], control: str | None) -> str:
    machines = len({one.machine for one in active})
    where = f" on {counted(machines, 'machine')}" if machines > 1 else ""
    asked = f", {ASKED[control]}" if control in ASKED else ""
    return f"Crawl {crawl.name} (number {crawl.id}){asked}: {counted(len(active), 'worker')}{where}"


def _row(one: WorkerLine, found: CrawlWorkers, deadline: Deadline) -> tuple[str, ...]:
    is_active = one.state == ACTIVE
    waits = (f"{_WAITS[wait]}: {number:,}" for wait, number in _by_order(one) if number > 0) if is_active else ()
    return (
        str(one.number),
        one.machine,
        str(one.process),
        _state(one, found, deadline) if is_active else one.state,
        time_of(one.joined_at if is_active else one.ended_at),
        f"{one.sites:,}",
        f"{one.pages:,}",
        f"{one.status.pages_per_s:.1f}" if is_active else NOTHING,
        f"{one.leases:,}" if is_active else NOTHING,
        *((f"{one.granted:,}", f"{one.used:,}") if found.budget else ()),
        ", ".join(waits) or NOTHING,
    )


def _by_order(one: WorkerLine) -> list[tuple[Wait, int]]:
    return [(wait, one.status.waits.get(wait, 0)) for wait in _WAITS if wait is not Wait.NOTHING]


def _state(one: WorkerLine, found: CrawlWorkers, deadline: Deadline) -> str:
    if one.number in deadline.dead:
        return "dead"
    if found.now - one.beat_at > deadline.seconds / 2:
        return "silent"
    return ASKED.get(found.control or "", ACTIVE)


def _expiring(one: WorkerLine, now: float, deadline: Deadline) -> str | None:
    """Return a sentence about a worker whose claims are about to expire; None if they are not."""
    name = f"Worker {one.number} ({one.machine}, process {one.process})"
    its = "its sites are free" if one.sites else "it holds no site"
    if one.number in deadline.dead:
        return f"{name}: the process has ended; {its}{' for other workers' if one.sites else ''}"
    silent_s = now - one.beat_at
    if silent_s <= deadline.seconds / 2:
        return None
    left_s = deadline.seconds - silent_s
    when = f" in {_seconds(left_s)}" if left_s > 0 else " for other workers"
    return f"{name}: no heartbeat for {_seconds(silent_s)}; {its}{when if one.sites else ''}"


def _ended(workers: Sequence[WorkerLine]) -> list[str]:
    lost, left = (sum(one.state == state for one in workers) for state in (LOST, LEFT))
    if not lost and not left:
        return []
    parts = [f"{lost:,} {plural(lost, 'worker')} lost"] if lost else []
    parts += [f"{left:,} left"] if left else []
    return [f"Earlier: {', '.join(parts)}; --all shows them"]


def _owner(one: SiteLine, dead: Container[int]) -> str:
    if one.worker is None:
        return NOTHING
    return f"{one.worker} (dead)" if one.worker in dead else str(one.worker)


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _seconds(seconds: float) -> str:
    """Return a duration, rounded up: an announced time never comes early.

    >>> _seconds(8.2), _seconds(200)
    ('9 s', '3 min')
    """
    whole = -int(-seconds // 1)
    return f"{whole} s" if whole < 120 else f"{whole // 60:,} min"
