"""What several parts of `scrapy lab` share: options, and diagrams of links found against pages read.

Those have the mean and interquartile range of each rule, and the oracle as a line.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from crawlers.bandits.site_rules import RULES
from crawlers.cli.project_command import check_settings
from crawlers.cli.store_command import whole_number
from crawlers.errors import ConfigError
from crawlers.files.atomic import check_file
from crawlers.lab.experiment import OMNISCIENT, ORACLE, checkpoints
from crawlers.options.kinds import CSV_TABLE, PICTURE
from crawlers.reports.figures import COLOURS, STYLES, figure

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping, Sequence

    from matplotlib.axes import Axes
    from scrapy.settings import BaseSettings

    from crawlers.lab.experiment import Measured
    from crawlers.options.kinds import FileKind
    from crawlers.store.reading.queries import NamedCrawl

    Point = tuple[float, float]

PAGE_BUDGET = 2000


class LabPart(Protocol):
    """A module with a part of `scrapy lab`."""

    HELP: str
    TAKES: frozenset[str]  # of the shared options; with "names", names of crawls may follow its own

    def add_options(self, parser: argparse._ArgumentGroup) -> None:
        """Add the options that only this part has."""

    def run(self, opts: argparse.Namespace, settings: BaseSettings) -> None:
        """Run the part; raises `ConfigError`."""


class LabOptions:
    """All options of *parts*, by name, which are added to *parser*, and the parts that have each of them."""

    def __init__(self, parser: argparse.ArgumentParser, parts: Mapping[str, LabPart]) -> None:
        self.parts_with: dict[argparse.Action, Collection[str]] = {}
        group = parser.add_argument_group("several parts")
        add_common(group)
        for option in group._group_actions:
            self.parts_with[option] = [name for name, part in parts.items() if option.dest in part.TAKES]
        for name, part in parts.items():
            group = parser.add_argument_group(f"only {name}")
            part.add_options(group)
            self.parts_with |= dict.fromkeys(group._group_actions, (name,))

    def refuse_others(self, part: str, opts: argparse.Namespace) -> None:
        """Raise `ConfigError` for an option that *part* does not have, if its value is not the default."""
        for option, parts in self.parts_with.items():
            if part not in parts and getattr(opts, option.dest) != option.default:
                raise ConfigError(f"{option.option_strings[0]} does not apply to {part}; leave it out")


def add_common(parser: argparse._ArgumentGroup) -> None:
    """Add the shared options to *parser*."""
    parser.add_argument("--rules", metavar="NAME,NAME", help="simulate, replay: rules to compare (default: all)")
    parser.add_argument(
        "--budget", type=int, metavar="N", help=f"simulate, replay: pages to read (default: {PAGE_BUDGET})"
    )
    parser.add_argument(
        "--crawl",
        help="all but simulate: name or number of the crawl (default: the latest; learn: all harvests)",
    )
    parser.add_argument("--out", metavar="FILE.csv", help="write the figures as a table; learn: the weights, as JSON")
    parser.add_argument("--picture", metavar="FILE.svg", help="draw them (svg or png)")


def check(opts: argparse.Namespace, settings: BaseSettings, table: FileKind = CSV_TABLE) -> None:
    """Raise `ConfigError` for a setting out of range, and for a file that can't be written; `--out` is a *table*."""
    check_settings(settings)
    for name, kind in (("out", table), ("picture", PICTURE)):
        path = getattr(opts, name)
        if path:
            check_file(Path(path), f"--{name}", kind)


def rule_names(text: str | None) -> list[str]:
    """Return the rules in *text*, separated by commas, or all; raises `ConfigError` for an unknown one."""
    # "best" needs scores, but here pages only have rewards
    return chosen_names("--rules", text, [name for name in RULES if name != "best"])


def chosen_names(option: str, text: str | None, known: Sequence[str]) -> list[str]:
    """Return the names in *text*, separated by commas, or all *known* ones; raises `ConfigError` for another one."""
    names = known if text is None else [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise ConfigError(f"{option}: {name!r} is unknown; choose one of: {', '.join(known)}")
    return list(dict.fromkeys(names))


def label_of(crawl: NamedCrawl, crawls: Sequence[NamedCrawl]) -> str:
    """Return the name of *crawl*, and its number if another one of *crawls* has the same name."""
    is_alone = sum(other.name == crawl.name for other in crawls) == 1
    return crawl.name if is_alone else f"{crawl.name} ({crawl.id})"


def page_budget(opts: argparse.Namespace) -> int:
    """Return the pages that `--budget` gives, or the usual ones; raises `ConfigError`."""
    return whole_number("--budget", PAGE_BUDGET if opts.budget is None else opts.budget, 1)


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
