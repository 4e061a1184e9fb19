"""Options that several parts of `scrapy lab` share."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.algorithms.bandits.site_rules import RULES
from crawlers.cli.setting_checks import check_settings
from crawlers.errors import ConfigError
from crawlers.inputs.rule_settings import rule_options
from crawlers.reports.figures import check_picture
from crawlers.storage.files.writable import check_file

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings

    from crawlers.algorithms.bandits.site_rules import RuleOptions
    from crawlers.inputs.setting_values import SettingValues


PAGE_BUDGET = 2000
SIMULATING = ("simulate", "replay")
PARTS_WITH = {
    "rules": SIMULATING,
    "budget": SIMULATING,
    "crawl": ("replay", "report", "learn", "topic", "news"),
    "picture": (*SIMULATING, "report", "topic", "news"),
}  # the shared options that some parts do not have
MOST = 10_000_000  # pages or webs: the oracle alone takes 24 bytes per page


def add_common(parser: argparse._ArgumentGroup) -> None:
    """Add the shared options to *parser*."""
    parser.add_argument("--rules", metavar="NAME,NAME", help="simulate, replay: rules to compare (default: all)")
    parser.add_argument(
        "--budget", type=int, metavar="N", help=f"simulate, replay: pages to read (default: {PAGE_BUDGET})"
    )
    parser.add_argument(
        "--raw-ucb-c",
        type=float,
        metavar="C",
        default=1.0,
        help="simulate, replay: width of the bonus of raw-ucb, in standard deviations (default: %(default)s)",
    )
    parser.add_argument(
        "--crawl",
        help="all but simulate: name or number of the crawl (default: the latest; learn: all harvests)",
    )
    parser.add_argument("--out", metavar="FILE.csv", help="write the figures as a table; learn: the weights, as JSON")
    parser.add_argument("--picture", metavar="FILE.svg", help="draw them (svg or png)")


def refuse_others(part: str, opts: argparse.Namespace) -> None:
    """Raise `ConfigError` for a shared option that *part* does not have."""
    for option, parts in PARTS_WITH.items():
        if part not in parts and getattr(opts, option) is not None:
            raise ConfigError(f"--{option} does not apply to {part}; leave it out")


def check(opts: argparse.Namespace, settings: BaseSettings) -> None:
    """Raise `ConfigError` for a setting out of range, and for a file that can't be written."""
    check_settings(settings)
    if opts.picture:
        check_picture(Path(opts.picture))
    for name in ("out", "picture"):
        path = getattr(opts, name)
        if path:
            check_file(Path(path), f"--{name}")


def lab_rule_options(opts: argparse.Namespace, settings: SettingValues) -> RuleOptions:
    """Return the options of all rules, those of the laboratory among them; raises `ConfigError`."""
    if not 0.0 <= opts.raw_ucb_c < math.inf:
        raise ConfigError(f"--raw-ucb-c {opts.raw_ucb_c} is out of range; write a number of 0 or more")
    return replace(rule_options(settings), raw_ucb_c=opts.raw_ucb_c)


def rule_names(text: str | None) -> list[str]:
    """Return the rules in *text*, separated by commas, or all; raises `ConfigError` for an unknown one."""
    known = [name for name in RULES if name != "best"]  # "best" needs scores, but here pages only have rewards
    names = known if text is None else [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError(f"--rules: {unknown[0]!r} is unknown; choose one of: {', '.join(sorted(known))}")
    return names


def page_budget(opts: argparse.Namespace) -> int:
    """Return the pages that `--budget` gives, or the usual ones; raises `ConfigError`."""
    return whole_number("--budget", PAGE_BUDGET if opts.budget is None else opts.budget, 1)


def whole_number(name: str, value: int, least: int) -> int:
    """Return *value* if it is from *least* to `MOST`; otherwise raise `ConfigError`."""
    if value < least:
        raise ConfigError(f"{name} {value} is too small; expected at least {least}")
    if value > MOST:
        raise ConfigError(f"{name} {value:,} is too large; expected at most {MOST:,}")
    return value
