"""Draws iterations and days of a news crawl, or several crawls beside each other, as SVG text.

References
----------
.. [1] Volkov, a system that collects news on Nutch, figure 4.1: pages per iteration that fit, that do not, and errors.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlers.algorithms.news.iteration_counts import merged
from crawlers.reports.svg_panel import Panel, picture

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawlers.algorithms.news.iteration_counts import Day, Iteration

PARTS = {  # of a bar, from below: colours that all eyes tell apart
    "fit": ("fit", "#009e73"),
    "not_fit": ("fetched, not fit", "#e69f00"),
    "errors": ("error", "#d55e00"),
    "polls": ("polls", "#bbbbbb"),
}
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933")
MOST_BARS = 120


def one_crawl(title: str, iterations: Sequence[Iteration], days: Sequence[Day]) -> str:
    """A picture of one crawl: what each iteration fetched, with its useful share; documents a day, with their ratio.

    Of many iterations, neighbours are drawn as one bar; of many days, the latest are.
    """
    bars = merged(iterations, MOST_BARS)
    width = -(-len(iterations) // MOST_BARS)
    first = Panel("downloads an iteration", "useful share", [str(bar.number) for bar in bars], "iteration")
    first.stack([(name, colour, [getattr(bar, part) for bar in bars]) for part, (name, colour) in PARTS.items()])
    first.share("documents of what was no poll", "#0072b2", [(n + 0.5, bar.useful_share) for n, bar in enumerate(bars)])
    if width > 1:
        first.note = f"a bar is {width} iterations"
    if not days:
        return picture(title, [first])
    late = days[-MOST_BARS:]
    names = [f"{datetime.fromtimestamp(day.began_at, UTC):%d.%m.}" for day in late]
    second = Panel("new documents a day", "of all documents", names, "day (UTC)")
    second.stack([("new documents", "#56b4e9", [day.documents for day in late])])
    second.share("of all at its end", "#0072b2", [(n + 0.5, day.ratio) for n, day in enumerate(late)])
    return picture(title, [first, second])


def several_crawls(title: str, crawls: Mapping[str, Sequence[Iteration]]) -> str:
    """A picture of several crawls against what they downloaded: the useful share of each iteration, and documents."""
    last = max(sum(one.pages for one in iterations) for iterations in crawls.values())
    first = Panel("", "useful share of an iteration", [], "downloads", span=last)
    second = Panel("documents", "", [], "downloads", span=last)
    for number, (name, iterations) in enumerate(crawls.items()):
        colour = LINES[number % len(LINES)]
        shares, totals, pages = [], [(0.0, 0.0)], 0
        for one in merged(iterations, MOST_BARS):
            shares.append((pages + one.pages / 2, one.useful_share))
            pages += one.pages
            totals.append((float(pages), float(one.total_documents)))
        first.share(name, colour, shares)
        second.line(name, colour, totals)
    return picture(title, [first, second])
