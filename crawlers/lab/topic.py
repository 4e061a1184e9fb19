"""`scrapy lab topic`: compares topic crawls, as they ran or replayed with other strategies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawlers.cli.project_command import whole_number
from crawlers.errors import ConfigError
from crawlers.files.csv_tables import write_table
from crawlers.inputs.crawl_name import named_by
from crawlers.lab import yield_chart
from crawlers.lab.options import check, chosen_names
from crawlers.lab.simulation.experiment import checkpoints
from crawlers.lab.simulation.topic_comparison import Curves, compare
from crawlers.lab.topic_runs import as_they_ran, replayed
from crawlers.missions.topic.vectors import STRATEGIES
from crawlers.store.database import Database

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from scrapy.settings import BaseSettings

    from crawlers.lab.simulation.topic_comparison import Comparison
    from crawlers.lab.topic_runs import Runs

HELP = "compares topic crawls as they ran, or replays other strategies on the web of one."
COLUMNS = 6  # of the table
TITLES = {
    "similarity": "average similarity of the pages read",
    "authorities": "share of the {0} best authorities read",
    "hubs": "share of the {0} best hubs read",
    "nearest": "share of the {0} most similar pages read",
}  # of the fields of Curves
DRAWN = ("similarity", "authorities", "nearest")


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Add the options of the comparison to *parser*."""
    parser.add_argument("--crawls", metavar="NAME,NAME", help="compare these crawls of one topic as they ran")
    parser.add_argument(
        "--strategies",
        metavar="NAME,NAME",
        help=f"strategies to replay on the web of --crawl: {', '.join(STRATEGIES)} (default: all)",
    )
    parser.add_argument("--topic", metavar="FILE.yaml", help="replay the keywords of another topic")
    parser.add_argument("--pages", type=int, metavar="N", default=1000, help="pages to replay (default: %(default)s)")
    parser.add_argument(
        "--authorities", type=int, metavar="N", default=100, help="pages that count as important (default: %(default)s)"
    )


def run(opts: argparse.Namespace, settings: BaseSettings) -> None:
    """Compare, print the tables and write the files that *opts* names; raises `ConfigError` before anything is done."""
    important = whole_number("--authorities", opts.authorities, 1)
    most = whole_number("--pages", opts.pages, 1)
    strategies = chosen_names("--strategies", opts.strategies, list(STRATEGIES))
    if opts.crawls and (opts.crawl or opts.strategies or opts.topic):
        raise ConfigError(
            "--crawls compares crawls as they ran, but --crawl, --strategies and --topic replay one; leave out either"
        )
    check(opts, settings)
    database = Database(settings.get("DATABASE_URL"), create=False)
    try:
        if opts.crawls:
            runs = as_they_ran(database, [name.strip() for name in opts.crawls.split(",")])
        else:
            name = named_by(opts.crawl, settings)
            runs = replayed(database, name, opts.topic, strategies, most)
        found = compare(runs.topic, runs.read, runs.documents, runs.links, important)
    finally:
        database.close()
    longest = max(map(len, found.read.values()))
    print(_head(runs, found))
    print(_tables(found, _round_points(longest)))
    dense = found.curves(checkpoints(longest))
    if opts.out:
        _write(Path(opts.out), dense)
        print(f"{opts.out}: {len(dense)} runs")
    if opts.picture:
        panels = {
            TITLES[field].format(important): {name: getattr(curves, field) for name, curves in dense.items()}
            for field in DRAWN
        }
        title = f"{' '.join(list(runs.topic.terms)[:5])}: {runs.title}"
        yield_chart.draw_curves(Path(opts.picture), title, panels)
        print(f"{opts.picture}: {len(dense)} runs")


def _round_points(longest: int) -> list[int]:
    """Return 1, 2, 5, 10, 20 … pages, up to the length of the longest run."""
    points = [step * 10**power for power in range(len(str(longest))) for step in (1, 2, 5)]
    return [point for point in points if point <= longest][-COLUMNS:]


def _head(runs: Runs, found: Comparison) -> str:
    terms = ", ".join(f"{term} {weight:.2f}" for term, weight in list(runs.topic.terms.items())[:10])
    lines = [
        runs.title,
        f"topic: {terms}{' …' if len(runs.topic.terms) > 10 else ''}",
        f"measured by the {len(found.similarities):,} pages that any of them read: by their term frequencies "
        "and their links to each other",
    ]
    passed = {name: number for name, number in runs.unknown.items() if number}
    if passed:
        share = max(number / (number + len(runs.read[name])) for name, number in passed.items())
        lines.append(
            f"note: pages that the crawl never read were skipped, up to {share:.0%} of those chosen ("
            + ", ".join(f"{name} {number:,}" for name, number in passed.items())
            + "); a larger crawl gives a better replay"
        )
    ended = [f"{name} {len(pages):,}" for name, pages in runs.read.items() if len(pages) < runs.wanted]
    if ended:
        lines.append(f"note: nothing was left to read after: {', '.join(ended)} pages")
    return "\n".join(lines)


def _tables(found: Comparison, points: Sequence[int]) -> str:
    reached = found.curves(points)
    width = max(map(len, found.read)) + 2
    heads = "".join(f"{f'{point} pages':>13}" for point in points)
    lines = []
    sizes = {"authorities": len(found.authorities), "hubs": len(found.hubs), "nearest": len(found.nearest)}
    for field, title in TITLES.items():
        lines += ["", title.format(sizes.get(field)), f"{'':{width}}{heads}"]
        for name, curves in reached.items():
            values = dict(getattr(curves, field))
            cells = (f"{values[point]:>13.4f}" if point in values else f"{'-':>13}" for point in points)
            lines.append(f"{name:{width}}{''.join(cells)}")
    return "\n".join(lines)


def _write(path: Path, by_run: Mapping[str, Curves]) -> None:
    rows: Iterable[list[str | float]] = (
        [name, row[0][0], *(value for _, value in row)]
        for name, curves in by_run.items()
        for row in zip(*curves, strict=True)
    )
    write_table(path, ("run", "pages", *Curves._fields), rows)
