"""The live table of a running crawl: one line per site, the sums below."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.plurals import counted
from crawlers.items import State
from crawlers.reasons import sentence
from crawlers.reports.history_wording import cut
from crawlers.storage.workers import PAUSE, STOP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from crawlers.storage.queries import NamedCrawl, SiteProgress

MAX_SITES = 15  # lines; the busiest are shown, the others are in the sums
FRAME_LINES = 5  # title, headings, two rules, and the sums
WIDE = 110  # columns of a terminal in which all states have their own column
ASKED = {PAUSE: "paused", STOP: "stopping"}  # by the control of the crawl
_ALL = (State.DONE, State.WAITING, State.MOVED, State.REFUSED, State.FAILED, State.REJECTED)
_FEW = (State.DONE, State.WAITING, State.REFUSED, State.FAILED)


class Pace(NamedTuple):
    """How fast a crawl proceeds, and how far it is."""

    seconds: float  # of this run
    pages_per_s: float = 0.0  # recently
    budget: int = 0  # PAGE_BUDGET; 0: no limit
    used: int = 0  # of the budget
    documents: int | None = None  # None: the crawl collects none
    workers: int = 1  # active ones
    control: str | None = None  # what they are asked for


def progress_table(
    crawl: NamedCrawl, sites: Sequence[SiteProgress], pace: Pace, width: int = 160, height: int = 50
) -> RenderableType:
    """Return the table for a terminal of *width* columns and *height* lines, of which it takes half."""
    from rich import box
    from rich.console import Group
    from rich.table import Table

    title = _title(crawl, pace)
    states = _ALL if width >= WIDE else _FEW
    most = max(1, min(MAX_SITES, height // 2 - FRAME_LINES - len(title) // width))
    busiest = sorted(sites, key=lambda s: (-s.counts.get(State.WAITING, 0), -sum(s.counts.values()), s.site))
    sums: Counter[State] = Counter()
    for site in sites:
        sums.update(site.counts)
    longest = width // (4 if width < 80 else 3)
    rows = [
        (cut(site.site.removeprefix("http://"), longest), *_cells(site.counts, states, str(site.level)))
        for site in busiest[:most]
    ]
    last = (counted(len(sites), "site"), *_cells(sums, states, ""))
    headings = ("site", "pages", "waiting", "level", *(state.name.lower() for state in states[2:]))
    taken = sum(max(map(len, column)) + 2 for column in zip(headings, *rows, last, strict=True))
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for number, name in enumerate(headings):
        shown.add_column(name, justify="right" if number else "left", no_wrap=True)
    shown.add_column(no_wrap=True)
    for site, cells in zip(busiest, rows, strict=False):
        shown.add_row(*cells, cut(sentence(site.problem), max(1, width - taken)))
    shown.add_section()
    problems = sum(site.problem is not None for site in sites)
    shown.add_row(*last, cut(counted(problems, "problem") if problems else "", max(1, width - taken)))
    return Group(title, shown)


def _title(crawl: NamedCrawl, pace: Pace) -> str:
    name = crawl.mission if crawl.name == crawl.mission else f"{crawl.mission} “{crawl.name}”"
    parts = [name, f"{pace.seconds:,.0f} s", f"{pace.pages_per_s:.1f} pages/s"]
    if pace.control in ASKED:
        parts.insert(1, ASKED[pace.control])
    if pace.workers > 1:
        parts.append(counted(pace.workers, "worker"))
    if pace.budget:
        parts.append(f"{pace.used:,} of {counted(pace.budget, 'page')} of the budget")
    if pace.documents is not None:
        parts.append(counted(pace.documents, "document"))
    return ", ".join(parts)


def _cells(counts: Mapping[State, int], states: Sequence[State], level: str) -> list[str]:
    pages, waiting, *others = (f"{counts.get(state, 0):,}" for state in states)
    return [pages, waiting, level, *others]
