"""`scrapy lab simulate`: compares rules on synthetic webs, as a table, a CSV file and a picture."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.cli.store_command import whole_number
from crawlers.files.csv_tables import write_table
from crawlers.inputs.setting_readers import rule_options
from crawlers.lab.experiment import (
    BASELINE,
    OMNISCIENT,
    PROFILES,
    WEBS,
    checkpoints,
    compare,
    measure,
    tasks,
)
from crawlers.lab.options import check, draw, page_budget, rule_names
from crawlers.pages.pool import environment
from crawlers.plurals import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from scrapy.settings import BaseSettings

    from crawlers.lab.experiment import Measured, Row, Task

HELP = "compares rules on synthetic webs that are fitted to BeeBot's tables."
TAKES = frozenset({"rules", "budget", "out", "picture"})
CHUNK = 4  # webs per task of a process
FEWEST_IN_PARALLEL = 8  # webs; starting processes takes longer than measuring fewer


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Add the options of the simulation to *parser*."""
    parser.set_defaults(profile=None)  # our --profile replaces Scrapy's, which profiles the command
    parser.add_argument(
        "--profile",
        dest="webs_of",
        choices=(*PROFILES, "all"),
        default="all",
        help="kind of webs (default: %(default)s)",
    )
    parser.add_argument("--webs", type=int, metavar="N", default=WEBS, help="webs of each kind (default: %(default)s)")
    parser.add_argument("--seed", type=int, metavar="N", default=1, help="seed of the webs (default: %(default)s)")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: one per processor)")


def run(opts: argparse.Namespace, settings: BaseSettings) -> None:
    """Measure, print the tables and write the files that *opts* names; raises `ConfigError` before anything is done."""
    budget = page_budget(opts)
    for name, least in (("webs", 1), ("jobs", 1), ("seed", 0)):
        if (value := getattr(opts, name)) is not None:
            whole_number(f"--{name}", value, least)
    check(opts, settings)
    rules = rule_names(opts.rules)
    # These webs have no time.
    options = replace(rule_options(settings), page_budget=budget, quantum_s=0.0)
    kinds = PROFILES if opts.webs_of == "all" else [opts.webs_of]
    measured = _measured(
        [task for kind in kinds for task in tasks(kind, opts.webs, rules, options, opts.seed)],
        opts.jobs or os.cpu_count() or 1,
    )
    by_kind = {kind: [web for web in measured if web.profile == kind] for kind in kinds}
    tables = {kind: compare(webs) for kind, webs in by_kind.items()}
    for kind, rows in tables.items():
        print(f"{kind}: {counted(opts.webs, 'web')}, {budget} pages each\n{_table(rows)}\n")
    if opts.out:
        _write(Path(opts.out), measured, budget)
        print(f"{opts.out}: {len(measured)} webs")
    if opts.picture:
        draw(Path(opts.picture), by_kind, budget)
        print(f"{opts.picture}: {len(by_kind)} kinds of webs")


def _measured(work: Sequence[Task], jobs: int) -> list[Measured]:
    if jobs == 1 or len(work) < FEWEST_IN_PARALLEL:
        return [measure(task) for task in work]
    os.environ.update(environment())
    # spawn, because a fork would inherit the threads and signal handlers that Scrapy installed
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(measure, work, chunksize=CHUNK))


def _table(rows: Iterable[Row]) -> str:
    lines = [f"{'rule':14} {'links':>8} {'deviation':>10} {'of ' + BASELINE:>11} {'5 % to 95 %':>14} {'of oracle':>10}"]
    lines += [
        f"{row.rule:14} {row.mean:8.0f} {row.deviation:10.0f} {row.of_baseline:11.3f} "
        f"{f'{row.low:.2f} to {row.high:.2f}':>14} {row.of_oracle:10.3f}"
        for row in rows
        if row.rule != OMNISCIENT
    ]
    return "\n".join(lines)


def _write(path: Path, measured: Iterable[Measured], page_budget: int) -> None:
    points = checkpoints(page_budget)
    rows = (
        (web.profile, web.web, rule, *at)
        for web in measured
        for rule, found in web.found.items()
        for at in zip(points, found, strict=True)
    )
    write_table(path, ("webs", "web", "rule", "pages", "links"), rows)
