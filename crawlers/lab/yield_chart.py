"""Draws links found against pages read: mean and interquartile range for each rule, and the oracle as a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from crawlers.lab.simulation.experiment import OMNISCIENT, ORACLE, checkpoints
from crawlers.reports.figures import COLOURS, STYLES, figure

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from crawlers.algorithms.bandits.pull_trace import Moment
    from crawlers.lab.simulation.experiment import Measured

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


def draw_sites(path: Path, title: str, moments: Sequence[Moment], names: Mapping[Hashable, str]) -> None:
    """Write a picture of a crawl over time: pages read, links found and index of its busiest sites."""
    last = moments[-len(names) :]
    busiest = [moment.arm for moment in sorted(last, key=lambda one: -one.own_pulls)[: len(COLOURS)]]
    with figure(path, 3 * WIDTH, HEIGHT) as made:
        made.suptitle(title)
        places = made.subplots(1, 3)
        for arm, colour in zip(busiest, COLOURS, strict=False):
            own = [moment for moment in moments if moment.arm == arm]
            at = [moment.pulls for moment in own]
            indices = [math.nan if moment.index is None or math.isinf(moment.index) else moment.index for moment in own]
            values = ([moment.own_pulls for moment in own], [moment.earned for moment in own], indices)
            for place, curve in zip(places, values, strict=True):
                place.plot(at, curve, color=colour, label=names[arm], linewidth=1.4)
        for place, label in zip(places, ("pages read of the site", "found", "index of the rule"), strict=True):
            place.set(xlabel="pages read of all sites", ylabel=label, xmargin=0)
            place.locator_params(axis="x", integer=True)
        places[0].legend(handles=places[0].lines, fontsize=7)


def draw_curves(path: Path, title: str, panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]) -> None:
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
