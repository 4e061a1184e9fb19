"""Draws links found against pages read: mean and interquartile range for each rule, and the oracle as a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from crawlers.lab.simulation.experiment import OMNISCIENT, ORACLE, checkpoints
from crawlers.reports.figures import COLOURS, STYLES, figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from crawlers.lab.simulation.experiment import Measured

    Point = tuple[float, float]

BANDED = 4  # rules; more bands would hide each other
COLUMNS = 3  # diagrams in a row
WIDTH, HEIGHT = 4.6, 3.6  # inches of one diagram
QUARTILES = (25, 75)


def draw(path: Path, by_suite: Mapping[str, Sequence[Measured]], page_budget: int) -> None:
    """Write a picture with one diagram for each kind of webs; its bytes depend only on the figures."""
    columns = min(len(by_suite), COLUMNS)
    rows = math.ceil(len(by_suite) / columns)
    with figure(path, WIDTH * columns, HEIGHT * rows) as made:
        for number, (suite, webs) in enumerate(by_suite.items(), 1):
            _diagram(made.add_subplot(rows, columns, number), suite, webs, page_budget)


def _diagram(place: Axes, suite: str, webs: Sequence[Measured], page_budget: int) -> None:
    pages = [0, *checkpoints(page_budget)]
    rules = [name for name in webs[0].found if name not in (ORACLE, OMNISCIENT)]
    for number, rule in enumerate([*rules, ORACLE]):
        found = np.array([[0, *web.found[rule]] for web in webs])
        is_oracle = rule == ORACLE
        colour = "black" if is_oracle else COLOURS[number % len(COLOURS)]
        style = ":" if is_oracle else STYLES[number // len(COLOURS) % len(STYLES) if len(rules) > BANDED else number]
        place.plot(pages, found.mean(0), style, color=colour, label=rule, linewidth=1.0 if is_oracle else 1.6)
        if len(rules) <= BANDED and not is_oracle:
            place.fill_between(pages, *np.percentile(found, QUARTILES, axis=0), color=colour, alpha=0.1, linewidth=0)
    place.set(title=f"{suite}, {len(webs)} webs", xlabel="pages read", ylabel="external links found", xmargin=0)
    place.set_ylim(bottom=0)
    place.legend(handles=place.lines, fontsize=8)


def draw_curves(path: Path, title: str, panels: Mapping[str, Mapping[str, Sequence[Point]]]) -> None:
    """Write a picture with a diagram for each of *panels*, which maps names to curves against pages read."""
    with figure(path, WIDTH * len(panels), HEIGHT) as made:
        made.suptitle(title)
        for number, (label, curves) in enumerate(panels.items(), 1):
            place = made.add_subplot(1, len(panels), number)
            for order, (name, curve) in enumerate(curves.items()):
                colour, style = COLOURS[order % len(COLOURS)], STYLES[order // len(COLOURS) % len(STYLES)]
                place.plot(*zip(*curve, strict=True), style, color=colour, label=name, linewidth=1.4)
            place.set(xlabel="pages read", ylabel=label, xmargin=0)
            place.set_ylim(bottom=0)
        place.legend(handles=place.lines, fontsize=8)
