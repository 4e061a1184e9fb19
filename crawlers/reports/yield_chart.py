"""Draws links found against pages read: mean and middle half of the webs of each rule, and the oracle as a line."""

from __future__ import annotations

import importlib
import importlib.util
import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from crawlers.algorithms.simulation.experiment import OMNISCIENT, ORACLE, checkpoints
from crawlers.errors import ConfigError
from crawlers.storage.files.atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from crawlers.algorithms.simulation.experiment import Measured
    from crawlers.algorithms.simulation.pull_trace import Moment

FORMATS = (".svg", ".png")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933")  # told apart by all eyes
STYLES = ("-", "--", "-.", ":")  # beyond as many colours, and in grey
BANDED = 4  # rules; more bands than that hide each other
COLUMNS = 3  # diagrams beside each other
WIDTH, HEIGHT = 4.6, 3.6  # inches of one kind of webs
QUARTILES = (25, 75)


def check(path: Path) -> None:
    """Raise `ConfigError` where no picture could be drawn, or not as *path*."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"--picture {path}: pictures are {' or '.join(FORMATS)}; name the file so")
    if importlib.util.find_spec("matplotlib") is None:
        raise ConfigError("--picture needs matplotlib, which is not installed; pip install matplotlib")


@contextmanager
def _figure(path: Path, width: float, height: float) -> Iterator[Any]:
    """A figure of so many inches that becomes the file *path* at the end of the block."""
    matplotlib = importlib.import_module("matplotlib")  # an extra, and slow to import
    figures = importlib.import_module("matplotlib.figure")  # no pyplot: it looks for a screen
    kind = path.suffix.lower().lstrip(".")
    with matplotlib.rc_context({"svg.hashsalt": "lab", "svg.fonttype": "none", "font.size": 9}):
        figure = figures.Figure((width, height), layout="constrained")
        yield figure
        with replacing(path) as stream:
            figure.savefig(stream, format=kind, dpi=120, metadata={"Date": None} if kind == "svg" else None)


def draw(path: Path, by_suite: Mapping[str, Sequence[Measured]], page_budget: int) -> None:
    """Write a picture with one diagram for each kind of webs; its bytes depend on the figures alone."""
    columns = min(len(by_suite), COLUMNS)
    rows = math.ceil(len(by_suite) / columns)
    with _figure(path, WIDTH * columns, HEIGHT * rows) as figure:
        for number, (suite, webs) in enumerate(by_suite.items(), 1):
            _diagram(figure.add_subplot(rows, columns, number), suite, webs, page_budget)


def _diagram(place: Any, suite: str, webs: Sequence[Measured], page_budget: int) -> None:
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
    place.legend(fontsize=8, frameon=False)


def draw_sites(path: Path, title: str, moments: Sequence[Moment], names: Mapping[Hashable, str]) -> None:
    """Write a picture of a crawl over time: pages read, links found and index of its busiest sites."""
    last = moments[-len(names) :]
    busiest = [moment.arm for moment in sorted(last, key=lambda one: -one.own_pulls)[: len(COLOURS)]]
    with _figure(path, 3 * WIDTH, HEIGHT) as figure:
        figure.suptitle(title)
        places = figure.subplots(1, 3)
        for arm, colour in zip(busiest, COLOURS, strict=False):
            own = [moment for moment in moments if moment.arm == arm]
            at = [moment.pulls for moment in own]
            indices = [math.nan if moment.index is None or math.isinf(moment.index) else moment.index for moment in own]
            values = ([moment.own_pulls for moment in own], [moment.earned for moment in own], indices)
            for place, curve in zip(places, values, strict=True):
                place.plot(at, curve, color=colour, label=names[arm], linewidth=1.4)
        for place, label in zip(places, ("pages read of the site", "found", "index of the rule"), strict=True):
            place.set(xlabel="pages read of all", ylabel=label, xmargin=0)
        places[0].legend(fontsize=7, frameon=False)


def draw_curves(path: Path, title: str, panels: Mapping[str, Mapping[str, Sequence[tuple[int, float]]]]) -> None:
    """Write a picture with a diagram for each of *panels*, which has curves against pages read by their names."""
    with _figure(path, WIDTH * len(panels), HEIGHT) as figure:
        figure.suptitle(title)
        for number, (label, curves) in enumerate(panels.items(), 1):
            place = figure.add_subplot(1, len(panels), number)
            for order, (name, curve) in enumerate(curves.items()):
                colour, style = COLOURS[order % len(COLOURS)], STYLES[order // len(COLOURS) % len(STYLES)]
                place.plot(*zip(*curve, strict=True), style, color=colour, label=name, linewidth=1.4)
            place.set(xlabel="pages read", ylabel=label, xmargin=0)
            place.set_ylim(bottom=0)
        place.legend(fontsize=8, frameon=False)
