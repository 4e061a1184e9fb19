"""Summarises a crawl in some ten lines of plain words when it stops, from its store: also its articles and alarms."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from crawlers.files.csv_tables import aligned, cut
from crawlers.items import State
from crawlers.mission import mission_named
from crawlers.plurals import counted
from crawlers.reasons import Reason, end_of, sentence
from crawlers.store.reading.crawl_results import crawl_results, cut_parts
from crawlers.store.reading.queries import crawl_named
from crawlers.store.reading.url_counts import guesses_of
from crawlers.store.sites.site_opening import count_excluded
from crawlers.store.worker_rows import PAUSE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from crawlers.store.database import Database
    from crawlers.store.reading.crawl_results import CrawlResults, SiteResult
    from crawlers.store.reading.queries import NamedCrawl

MAX_SITES = 5  # lines; all others share one
MAX_REASONS = 4
MAX_PROBLEMS = 3  # of sites
MAX_CUTS = 3  # parts of sites
SITE_CHARS = 40
REASON_CHARS = 100
_ENDING = re.compile(r"(\.(?:nodes|edges|pages|broken-links|redirects|external-links))?\.\w+$")
MAX_SHOWN = 3  # failing feeds and alarms that are shown


class Places(NamedTuple):
    """Where the results of a crawl are."""

    files: Sequence[Path] = ()  # written by this run
    error_log: str = ""  # a path; "": there is none
    stop_file: str = ""  # likewise
    program: str = "scrapy"  # that the user typed
    options: str = ""  # that a command needs to find the store, with a leading space

    def command(self, name: str) -> str:
        """Return how the user calls the command *name*."""
        return f"{self.program} {name}{self.options}"


def crawl_summary(
    database: Database, crawl: NamedCrawl, began_at: float, seconds: float, places: Places, *, has_pulled: bool = False
) -> list[str]:
    """Return the lines about *crawl*, whose latest run began at *began_at* (seconds since 1970) and took *seconds*.

    With *has_pulled* that run has requested something, even if the store does not say so: without a budget, a failed
    visit to a page that is known leaves no trace in it. Raises `StoreError`.
    """
    results = crawl_results(database, crawl.id, guesses_of(crawl.mission))
    summarise = mission_named(crawl.mission).part("summary") or pages_summary
    mission: MissionSummary = summarise(database, crawl, results, began_at)
    if results.end.state == "finished":
        ending = "is finished"
    else:
        ending = "ended" if results.end.reason == Reason.FINISHED else f"stopped ({end_of(results.end.reason)})"
    lines = [
        f"Crawl {crawl.name} {ending}: {mission.heading}, in {_duration(seconds)}",
        *([] if has_pulled else _idle(results)),
        "",
    ]
    lines += [*_table(results.sites, mission.columns), *_problems(results.sites), *mission.lines]
    lines += [
        *_reasons(results),
        *_cuts(database, crawl),
        *_where(database, places),
        *_next(database, crawl, results, places),
    ]
    return lines


def _idle(results: CrawlResults) -> list[str]:
    """Return why a run of an unfinished crawl ended at once, if it did."""
    if results.end.state == "finished" or results.has_requested:
        return []
    if results.end.reason == Reason.PAGE_BUDGET:
        return ["Nothing was left to do in this run: PAGE_BUDGET was used up before it began"]
    if results.end.reason == Reason.FINISHED:
        return ["Nothing was left to do in this run"]
    return []


class MissionSummary(NamedTuple):
    """What a summary says about the mission of its crawl."""

    heading: str
    columns: Mapping[str, Callable[[SiteResult], int]]  # of the table of sites, the one to sort by first
    lines: Sequence[str] = ()


def pages_summary(database: Database, crawl: NamedCrawl, results: CrawlResults, began_at: float) -> MissionSummary:
    """Return the pages and links that were found."""
    pages, links = sum(site.pages for site in results.sites), sum(site.links for site in results.sites)
    heading = f"{counted(pages, 'page')} with {counted(links, 'link')} on {_read_of(results.sites)}"
    return MissionSummary(heading, {name: attrgetter(name) for name in ("pages", "links", "errors", "duplicates")})


def _read_of(sites: Sequence[SiteResult]) -> str:
    """Return the number of sites with pages, and of all if they differ."""
    read = sum(site.pages > 0 for site in sites)
    return counted(read, "site") if read == len(sites) else f"{read:,} of {counted(len(sites), 'site')}"


def _table(sites: Sequence[SiteResult], columns: Mapping[str, Callable[[SiteResult], int]]) -> list[str]:
    """Return one line for each of the largest sites, and one for all others."""
    read = [site for site in sites if site.problem is None or site.pages]
    numbers = {site.site: [number(site) for number in columns.values()] for site in read}
    largest = sorted(numbers, key=lambda name: ([-number for number in numbers[name]], name))
    few = largest if len(largest) <= MAX_SITES + 1 else largest[:MAX_SITES]
    others = largest[len(few) :]
    rows = [(cut(name.removeprefix("http://"), SITE_CHARS), numbers[name]) for name in few]
    if others:
        sums = [sum(column) for column in zip(*(numbers[name] for name in others), strict=True)]
        rows.append((f"{len(others):,} more sites", sums))
    lines = [["site", *columns], *([name, *(f"{number:,}" for number in of_site)] for name, of_site in rows)]
    table = aligned(lines, [False, *(True for _ in columns)])
    return [*(f"  {line}" for line in table.split("\n")), ""] if rows else []


def _problems(sites: Sequence[SiteResult]) -> list[str]:
    """Return the sites that can't be loaded, or have a bad certificate: those that a person named first."""
    named = sorted((site.is_found, site.pages > 0, site.site, site.problem) for site in sites if site.problem)
    few = named[:MAX_PROBLEMS]
    lines = [f"{cut(name, SITE_CHARS)}: {cut(sentence(problem), REASON_CHARS)}" for *_, name, problem in few]
    more = len(named) - len(lines)
    return [*lines, f"Problems: {counted(more, 'more site')}"] if more > 0 else lines


def _reasons(results: CrawlResults) -> list[str]:
    kinds: dict[str, Counter[str]] = {"Errors": Counter(), "Not pages": Counter(), "Not requested": Counter()}
    for ending, number in results.endings.items():
        what = "Errors" if ending.is_error else "Not pages" if ending.state is State.REFUSED else "Not requested"
        kinds[what][ending.reason] += number
    lines = [f"{what}: {_listed(reasons)}" for what, reasons in kinds.items() if reasons]
    others = {"Redirects": results.redirects, "Waiting": results.waiting}
    return [*lines, *(f"{what}: {number:,}" for what, number in others.items() if number)]


def _cuts(database: Database, crawl: NamedCrawl) -> list[str]:
    """Return the parts of sites that were cut as endless: those with the most URLs."""
    with database.read() as connection:
        found = cut_parts(connection, crawl.id)
    lines = []
    for urls, of, reason in found[:MAX_CUTS]:
        name, why = cut(of.removeprefix("http://"), SITE_CHARS), cut(sentence(reason), REASON_CHARS)
        lines.append(f"Cut: {name}: {why}: {counted(urls, 'URL')} not read; TRAPS_ENABLED=0 reads them")
    more = len(found) - len(lines)
    return [*lines, f"Cut: {counted(more, 'more part')}"] if more > 0 else lines


def _listed(reasons: Counter[str]) -> str:
    ranked = sorted(reasons.items(), key=lambda one: (-one[1], one[0]))
    few = ranked if len(ranked) <= MAX_REASONS + 1 else ranked[:MAX_REASONS]
    others = sum(number for _, number in ranked[len(few) :])
    parts = [f"{cut(reason, REASON_CHARS)} ({number:,})" for reason, number in few]
    return ", ".join([*parts, f"other reasons ({others:,})"] if others else parts)


def _where(database: Database, places: Places) -> list[str]:
    lines = [f"Files: {file}" for file in shown_files(places.files)]
    log = f"; errors: {places.error_log}" if places.error_log else ""
    store = os.path.relpath(database.path) if database.path else database.name
    return [*lines, f"Everything is in {store}{log}"]


def shown_files(files: Iterable[Path]) -> list[str]:
    """Return the names of *files*, with a pattern for several with the same ending.

    >>> from pathlib import Path
    >>> shown_files(map(Path, ["result/a.gexf", "result/b.gexf", "result/a.pages.csv"]))
    ['result/*.gexf (2 files)', 'result/a.pages.csv']
    """
    groups: dict[str, list[Path]] = {}
    for file in files:
        ending = _ENDING.search(file.name)
        groups.setdefault(str(file.with_name("*" + (ending[0] if ending else ""))), []).append(file)
    return [
        str(names[0]) if len(names) == 1 else f"{pattern} ({len(names):,} files)" for pattern, names in groups.items()
    ]


def _next(database: Database, crawl: NamedCrawl, results: CrawlResults, places: Places) -> list[str]:
    lines = []
    if results.end.state != "finished" and results.end.control == PAUSE:
        lines.append("The crawl was paused when it stopped; the next run goes on without a pause")
    if results.end.state != "finished":
        lines.append(f"To resume: {_remedy(database, crawl, results, places)}")
    is_latest = crawl_named(database, None).id == crawl.id  # which commands mean if no crawl is named
    of_crawl = "" if is_latest else f" --crawl {shlex.quote(crawl.name)}"
    explain, graph = (f"{places.command(name)}{of_crawl}" for name in ("explain", "graph"))
    problems = [(not ending.is_error, -number, ending) for ending, number in results.endings.items()]
    if problems:
        url = results.examples[min(problems)[2]]
        lines.append(f"To see why a URL is missing: {explain} {shlex.quote(url)}")
    after = mission_named(crawl.mission).after
    if after and any(site.pages for site in results.sites):
        lines.append(after.format(graph=graph))
    return lines


def _remedy(database: Database, crawl: NamedCrawl, results: CrawlResults, places: Places) -> str:
    if results.end.reason == Reason.PAGE_BUDGET:
        return "run the same command with a larger PAGE_BUDGET; CRAWL=name begins another crawl"
    if results.end.reason == Reason.STOP_FILE:
        return f"remove {places.stop_file}, then run the same command again"
    if results.end.reason == Reason.FINISHED and count_excluded(database, crawl.id)[0]:
        return "add the sites that are missing from the host list, then run the same command again"
    return "run the same command again"


def _duration(seconds: float) -> str:
    """Return *seconds* for people.

    >>> _duration(59.6), _duration(3725)
    ('60 s', '1 h 2 min')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
