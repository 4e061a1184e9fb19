"""Draws charts of the iterations and days of news crawls, read from the store.

References
----------
.. [1] Volkov, a system that collects news on Nutch, figure 4.1: pages per iteration that fit, that do not, and errors.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from crawlers.algorithms.news.iteration_counts import merged
from crawlers.errors import ConfigError
from crawlers.reports.figures import COLOURS, STYLES, figure
from crawlers.storage.news.iterations import days_of, iterations_of
from crawlers.storage.queries import crawl_named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from crawlers.algorithms.news.iteration_counts import Day, Iteration
    from crawlers.storage.database import Database
    from crawlers.storage.queries import NamedCrawl

_, RED, GREEN, _, ORANGE, SKY, _ = COLOURS
GREY, BLACK = "#bbbbbb", "#222222"
WIDTH, HEIGHT = 8.0, 2.8  # inches of a chart
LEGEND_LINE, LEGEND_LETTERS = 0.2, 100  # inches of a line below the charts, and the letters that fit into it
MAX_BARS = 120
MAX_TICKS = 12
BAR_SHARE = 0.85  # of the distance between bars
WIDEST_BAR = 0.1  # of the chart
INTERVALS = 4  # of an axis: shares have a tick every 25 %


class NewsCurves(NamedTuple):
    """The iterations of a crawl, and its days."""

    crawl: NamedCrawl
    label: str  # its name, and its number if another crawl of the same name is shown
    iterations: list[Iteration]
    days: list[Day]


class Part(NamedTuple):
    """A series of a chart, with a value for each bar."""

    name: str
    colour: str
    values: Sequence[float]


def curves_of(database: Database, names: Sequence[str | None]) -> list[NewsCurves]:
    """Return the curves of the crawls *names* (None: the latest). Raises `ConfigError` for one without iterations."""
    found = []
    crawls = list(dict.fromkeys(crawl_named(database, name) for name in names))
    for crawl in crawls:
        iterations = iterations_of(database, crawl.id)
        if not iterations:
            raise ConfigError(
                f"CRAWL={crawl.name} has no iterations: it is not a news crawl, or has just begun; name another crawl"
            )
        is_alone = sum(other.name == crawl.name for other in crawls) == 1
        label = crawl.name if is_alone else f"{crawl.name} ({crawl.id})"
        found.append(NewsCurves(crawl, label, iterations, days_of(database, crawl.id)))
    return found


def draw_curves(path: Path, curves: Sequence[NewsCurves]) -> None:
    """Write a picture of *curves* to *path*, which ends with one of `figures.FORMATS`.

    A single crawl is drawn by iterations and days; several crawls are compared by documents and useful shares.
    Raises the errors of `replacing`.
    """
    if len(curves) == 1:
        (curve,) = curves
        charts = 2 if curve.days else 1
        with figure(path, WIDTH, HEIGHT * charts) as made:
            made.suptitle(f"{curve.crawl.mission} “{curve.label}”")
            places = made.subplots(charts, squeeze=False)[:, 0]
            _draw_iterations(places[0], curve.iterations)
            if curve.days:
                _draw_days(places[1], curve.days)
    else:
        columns = max(1, LEGEND_LETTERS // max(len(curve.label) + 8 for curve in curves))
        lines = -(-len(curves) // columns)
        with figure(path, WIDTH, 2 * HEIGHT + LEGEND_LINE * lines) as made:
            above, below = made.subplots(2, sharex=True)
            _draw_comparison(above, below, curves)
            made.legend(handles=above.lines, loc="outside lower center", ncols=columns)


def _draw_iterations(chart: Axes, iterations: Sequence[Iteration]) -> None:
    """Draw the downloads of each iteration with their useful share; if there are many, neighbours share a bar."""
    bars = merged(iterations, MAX_BARS)
    width = -(-len(iterations) // MAX_BARS)
    chart.set_xlabel("iteration" if width == 1 else f"iteration (a bar is {width} iterations)")
    chart.set_ylabel("downloads per iteration")
    parts = (
        Part("fit", GREEN, [bar.fit for bar in bars]),
        Part("not fit", ORANGE, [bar.not_fit for bar in bars]),
        Part("errors", RED, [bar.errors for bar in bars]),
        Part("polls", GREY, [bar.polls for bar in bars]),
    )
    shares = Part("new documents per download, without polls", BLACK, [min(1.0, bar.useful_share) for bar in bars])
    _draw_bars(chart, [str(bar.number) for bar in bars], parts, shares).set_ylabel("useful share")


def _draw_days(chart: Axes, days: Sequence[Day]) -> None:
    """Draw the new documents of each of the latest days, with their ratio to all documents at its end."""
    late = days[-MAX_BARS:]
    chart.set_xlabel("day (UTC)")
    chart.set_ylabel("new documents per day")
    parts = [Part("new documents", SKY, [day.documents for day in late])]
    ratios = Part("share of all at the end of the day", BLACK, [day.ratio for day in late])
    names = [f"{datetime.fromtimestamp(day.began_at, UTC):%d.%m.}" for day in late]
    _draw_bars(chart, names, parts, ratios).set_ylabel("share of all documents")


def _draw_bars(chart: Axes, names: Sequence[str], parts: Sequence[Part], shares: Part) -> Axes:
    """Draw a stacked bar of *parts* for each of *names*, and a line of *shares*; return the axis of the line."""
    places = range(len(names))
    width = min(BAR_SHARE, WIDEST_BAR * len(names))
    base = [0.0] * len(names)
    for part in parts:
        chart.bar(places, part.values, width, base, color=part.colour, label=part.name)
        base = [low + value for low, value in zip(base, part.values, strict=True)]
    right = chart.twinx()
    right.grid(visible=False)
    _draw_line(right, list(zip(places, shares.values, strict=True)), "-", shares.colour, shares.name)
    every = -(-len(names) // MAX_TICKS)
    chart.set_xticks(places[::every], names[::every])
    chart.set_xlim(-0.5, len(names) - 0.5)
    _scale_numbers(chart, max(base))
    _scale_shares(right)
    handles = [*chart.get_legend_handles_labels()[0], *right.get_legend_handles_labels()[0]]
    chart.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(handles), borderaxespad=0)
    return right


def _draw_line(chart: Axes, points: Sequence[tuple[float, float]], style: str, colour: str, name: str) -> None:
    marker = "o" if len(points) == 1 else ""  # a line of one point is invisible
    across, up = zip(*points, strict=True)
    chart.plot(across, up, linestyle=style, marker=marker, markersize=4, color=colour, label=name, clip_on=False)


def _draw_comparison(above: Axes, below: Axes, curves: Sequence[NewsCurves]) -> None:
    """Draw useful shares *above* and documents *below*, against downloads."""
    above.set_ylabel("useful share of an iteration")
    below.set_ylabel("documents")
    below.set_xlabel("downloads")
    for number, curve in enumerate(curves):
        shares: list[tuple[float, float]] = []
        totals, pages = [(0.0, 0.0)], 0
        for one in merged(curve.iterations, MAX_BARS):
            shares.append((pages + one.pages / 2, min(1.0, one.useful_share)))
            pages += one.pages
            totals.append((pages, one.total_documents))
        colour, style = COLOURS[number % len(COLOURS)], STYLES[number // len(COLOURS) % len(STYLES)]
        _draw_line(above, shares, style, colour, curve.label)
        _draw_line(below, totals, style, colour, curve.label)
    below.set_xlim(0, max(sum(one.pages for one in curve.iterations) for curve in curves))
    below.xaxis.set_major_formatter("{x:,.0f}")
    _scale_shares(above)
    _scale_numbers(below, max(curve.iterations[-1].total_documents for curve in curves))


def _scale_numbers(chart: Axes, largest: float) -> None:
    """Scale the left axis of *chart* to a round number that is not below *largest*, with grid lines."""
    from matplotlib.ticker import MaxNLocator

    steps = MaxNLocator(INTERVALS, steps=[1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10], integer=True)
    step = steps.tick_values(0, max(INTERVALS, largest))[1]
    chart.set_yticks([number * step for number in range(INTERVALS + 1)])
    chart.set_ylim(0, INTERVALS * step)
    chart.yaxis.set_major_formatter("{x:,.0f}")


def _scale_shares(chart: Axes) -> None:
    """Scale the axis of *chart* from 0 to 100 %."""
    chart.set_yticks([number / INTERVALS for number in range(INTERVALS + 1)])
    chart.set_ylim(0, 1)
    chart.yaxis.set_major_formatter("{x:.0%}")
