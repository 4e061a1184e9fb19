"""Crawls the simulated press as news is crawled, without rules, with hand-written ones, and with learnt ones.

    python -m bench.news.press FOLDER [--sites 40] [--pages 20000] [--every 1000] [--modes "no rules;hand-written"]

Each mode is a crawl of its own of the same press from the same moment on, with a store of its own under FOLDER; the
second generation is given the rules that the first has learnt. What was fetched is read from the log of the server,
what was stored from the store, and what is true from the press itself. Draws FOLDER/press.svg.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench.news.press_truth import HEADER, compare, documents, learnt_rules
from crawlers.lab.options import draw_curves
from examples.press.server import Options, read_log, serve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.news.press_truth import Outcome
    from examples.press.press import Press

    Rules = Mapping[str, Sequence[str]]

ROOT = Path(__file__).resolve().parents[2]
# The press begins so long before now that it is not ahead of the crawler's clock when the crawl ends: at ten minutes
# a second, half an hour is 12.5 days. What a feed dates in the future would be no date.
LEAD_S = 14 * 86_400.0
# Of every mode. The sites are on this machine: no delay; twenty at once, so that the order counts.
FIXED: Mapping[str, object] = {
    "LOG_LEVEL": "ERROR",
    "STOP_FILE": "",
    "SITE_DELAY_SECONDS": 0,
    "CONCURRENT_REQUESTS": 20,
    "DATABASE_URL": "sqlite:///crawl.sqlite",
}


@dataclass(frozen=True, slots=True)
class Mode:
    """A way to crawl: *rules* are those given, of a person or of the *generation before*."""

    settings: Mapping[str, object]
    is_given_rules: bool = False
    before: str = ""


# Seconds by the clock of the press: divided by its speed, for the crawler lives by the real clock.
PACED: Mapping[str, float] = {
    "FEED_MIN_SECONDS": 300.0,
    "FEED_MAX_SECONDS": 21_600.0,
}


# The settings that make the difference stand here and nowhere else.
MODES: Mapping[str, Mode] = {
    "no rules": Mode({"NEWS_RULES": "none"}),
    "hand-written": Mode({"NEWS_RULES": "manual"}, is_given_rules=True),
    "learnt, 1st generation": Mode({}),
    "learnt, 2nd generation": Mode({}, before="learnt, 1st generation"),
}


def _rules(mode: Mode, press: Press, folder: Path) -> Rules | None:
    """What the crawl is told of which URLs are articles."""
    if mode.before:
        return learnt_rules(_store(folder, mode.before), press.hosts)
    return {host: press.rules(host) for host in press.hosts} if mode.is_given_rules else None


def _store(folder: Path, name: str) -> Path:
    return _place(folder, name) / "crawl.sqlite"


def _place(folder: Path, name: str) -> Path:
    return folder / name.replace(",", "").replace(" ", "-")


def run(folder: Path, name: str, options: Options, pages: int, every: int) -> Outcome:
    """Crawl in the mode *name*, and print the result."""
    mode, place = MODES[name], _place(folder, name)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    log = place / "asked.tsv"
    options = replace(options, real_began=time.time(), log=str(log.resolve()))
    with serve(options) as served:
        sources = served.press.sources(_rules(mode, served.press, folder))
        (place / "sources.yaml").write_text(sources, "utf-8")
        command = [sys.executable, "-m", "scrapy", "crawl", "news", "-a", "sources=sources.yaml"]
        paced = {setting: seconds / options.speed for setting, seconds in PACED.items()}
        for setting, value in {**FIXED, **paced, **mode.settings, "PAGE_BUDGET": pages}.items():
            command += ["-s", f"{setting}={value}"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawlers.settings"}
        subprocess.run(command, cwd=place, env=environment, check=True, stdout=subprocess.DEVNULL)
    return compare(served, options, read_log(log), documents(_store(folder, name)), every)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sites", type=int, default=40)
    parser.add_argument("--pages", type=int, default=20_000, help="PAGE_BUDGET of each crawl")
    parser.add_argument("--every", type=int, default=1000, help="pages of an iteration")
    parser.add_argument("--speed", type=float, default=600.0, help="seconds of the press in a second")
    parser.add_argument("--per-day", type=float, default=15.0, help="articles that a site publishes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--modes", default=";".join(MODES), help="names, with ; between them")
    chosen = parser.parse_args()
    options = Options(
        chosen.seed, chosen.sites, time.time() - LEAD_S, real_began=0.0, speed=chosen.speed, per_day=chosen.per_day
    )
    print(f"| rules | {HEADER} |")
    print(f"|---|{'--:|' * len(HEADER.split('|'))}", flush=True)
    outcomes: dict[str, Outcome] = {}
    for name in chosen.modes.split(";"):
        outcomes[name] = run(chosen.folder, name, options, chosen.pages, chosen.every)
        print(f"| {name} | {outcomes[name].row()} |", flush=True)
    panels = {
        "documents per page fetched": {n: [(p.pages, p.useful) for p in o.points] for n, o in outcomes.items()},
        "documents found of all": {n: [(p.pages, p.recall) for p in o.points] for n, o in outcomes.items()},
    }
    draw_curves(chosen.folder / "press.svg", f"A press of {chosen.sites} sites", panels)
    print(json.dumps({name: {"useful": one.useful, "recall": one.recall} for name, one in outcomes.items()}))


if __name__ == "__main__":
    main()
