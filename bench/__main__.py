"""`make bench`: what the program costs, and whether it keeps what it promises, in one table; ten minutes on two cores.

    python -m bench [REGEX]         only the measurements whose commands match

Each measurement prints its own tables into a file of bench-out/, and its figures as JSON in its last line. Those that
need other sites, files or days are not among them. Figures of absolute time mean little on a shared machine; the ratios
do. Needs nginx and PostgreSQL. Exit status 1 if a measurement fails, such as one that finds a difference after a kill.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

OUT = Path("bench-out")


class Measurement(NamedTuple):
    """A module with its arguments, and what of its last line is shown: the place of a figure, what it is, its unit."""

    command: tuple[str, ...]
    figures: dict[str, tuple[str, str]]


MEASUREMENTS = (
    Measurement(
        ("bench.speed.pages", "--rounds", "2"),
        {
            "pages_per_s": ("site graph, everything stored", "pages/s"),
            "cpu_ms_per_page": ("processor time of a page", "ms"),
            "peak_mib": ("memory of the crawl", "MiB"),
            "cpu_ratio_plain": ("processor time of Scrapy's CrawlSpider, which stores nothing", "x ours"),
            "cpu_ratio_links": ("processor time of a CrawlSpider that stores links", "x ours"),
            "share_of_floor": ("processor time of Scrapy alone", "x ours"),
            "price_of_links_percent": ("price of storing links", "%"),
        },
    ),
    Measurement(
        ("bench.speed.whole", "--rounds", "3"),
        {
            "ours_cpu_s": ("a whole site graph of 1,000 pages, from prompt to graph", "s"),
            "afternoon_ratio": ("a script of an afternoon", "x ours"),
            "plain_ratio": ("Scrapy's CrawlSpider, which stores nothing", "x ours"),
        },
    ),
    Measurement(
        ("bench.speed.workers", "--sites", "4", "--rounds", "1", "--stores", "sqlite"),
        {"steady_ratio": ("pages a second with a second worker", "x")},
    ),
    Measurement(
        ("bench.speed.frontier_memory", "--urls", "200000"),
        {
            "bytes_per_url_bare": ("memory of a waiting URL", "bytes"),
            "us_few_hosts": ("lease and end of a page, 20 hosts", "µs"),
            "ratio": ("the same with 20,000 hosts", "x"),
        },
    ),
    Measurement(
        ("bench.speed.graph_writing", "--nodes", "10000", "--edges", "500000", "--repeat", "1"),
        {
            "writers.gexf.times_as_fast": ("GEXF, compared with networkx", "x as fast"),
            "writers.gexf.beyond_input_mb": ("memory to write it", "MB"),
            "reads_back": ("networkx reads back the same graph", ""),
        },
    ),
    Measurement(
        ("bench.scale.panel", "--rounds", "1", "--pages", "50000", "--listed", "1000", "--only", "^/crawls/1/"),
        {
            "p95_ms.page": ("pages of the panel, 95th percentile", "ms"),
            "p95_ms.first page": ("tables, first page", "ms"),
            "p95_ms.next page": ("tables, next page", "ms"),
            "p95_ms.filter": ("tables, filtered", "ms"),
        },
    ),
    Measurement(
        ("bench.durability.kills", "--kills", "40"),
        {
            "kills": ("kill -9 of site graphs", ""),
            "requests_again_per_kill": ("requests made again per kill", ""),
            "differences": ("differences of stores and graphs", ""),
        },
    ),
    Measurement(
        ("bench.durability.news_kills", "--kills", "10", "--each", "10"),
        {"kills": ("kill -9 of news crawls", ""), "problems": ("documents lost or stored twice", "")},
    ),
    Measurement(
        ("bench.durability.workers", "--faults", "4"),
        {"faults": ("kill -9 of one of four workers", ""), "differences": ("differences of stores and graphs", "")},
    ),
    Measurement(
        ("bench.durability.workers", "--store", "postgresql", "--mode", "cut", "--faults", "1"),
        {
            "faults": ("network of a worker cut", ""),
            "goes_on_s": ("until its sites go on", "s"),
            "differences": ("differences of stores and graphs", ""),
        },
    ),
    Measurement(
        ("bench.news.url_rules", "--seeds", "1", "--urls", "50000", "--domains", "1000"),
        {"unseen": ("learnt rules of URLs: precision and recall on other hosts", "")},
    ),
    Measurement(
        ("bench.news.press", "bench-out/press", "--pages", "1500", "--modes", "no rules;learnt, 1st generation"),
        {
            "no rules.useful": ("documents per page of a press, without rules", ""),
            "learnt, 1st generation.useful": ("the same, with rules that are learnt", ""),
        },
    ),
)


def output_of(command: tuple[str, ...]) -> tuple[int, str]:
    """Run a measurement; return its exit status and its output, which is kept in `OUT` with what went wrong."""
    name = "-".join(re.findall(r"\w+", " ".join(command)))
    with (OUT / f"{name}.err").open("w", encoding="utf-8") as errors:
        done = subprocess.run([sys.executable, "-m", *command], stdout=subprocess.PIPE, stderr=errors, text=True)
    (OUT / f"{name}.txt").write_text(done.stdout, "utf-8")
    return done.returncode, done.stdout


def value_at(figures: Any, place: str) -> str:
    """Return the figure at a *place* of nested objects, as text.

    >>> value_at({"gexf": {"write_s": 1.25}}, "gexf.write_s"), value_at({"unseen": [0.9, 1.0]}, "unseen")
    ('1.25', '0.9 / 1.0')
    """
    for name in place.split("."):
        figures = figures[name]
    if isinstance(figures, list):
        return " / ".join(map(str, figures))
    return f"{figures:.3g}" if isinstance(figures, float) and abs(figures) < 100 else str(figures)


def rows_of(measurement: Measurement, status: int, output: str) -> list[tuple[str, str, str]]:
    """Return lines of the table: what, figure, unit; if the measurement has no figures, that it failed."""
    module = measurement.command[0]
    try:
        found = json.loads(output.rstrip().rpartition("\n")[2])
        rows = [(what, value_at(found, place), unit) for place, (what, unit) in measurement.figures.items()]
    except (ValueError, KeyError, TypeError):
        return [(module, "failed", f"exit status {status}, see {OUT}")]
    return [*rows, *([(module, "failed", f"exit status {status}")] if status else [])]


def main() -> int:
    wanted = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    OUT.mkdir(exist_ok=True)
    rows, worst, began = [], 0, time.monotonic()
    for measurement in MEASUREMENTS:
        if wanted.search(" ".join(measurement.command)):
            print(f"{time.monotonic() - began:4.0f} s  python -m {' '.join(measurement.command)}", file=sys.stderr)
            status, output = output_of(measurement.command)
            rows += rows_of(measurement, status, output)
            worst = max(worst, abs(status))
    width = max((len(what) for what, *_ in rows), default=0)
    print("\n".join(f"{what:<{width}}  {figure:>14}  {unit}".rstrip() for what, figure, unit in rows))
    print(f"{(time.monotonic() - began) / 60:.0f} minutes")
    return min(worst, 1)


if __name__ == "__main__":
    sys.exit(main())
