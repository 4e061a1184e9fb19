"""`scrapy lab report`: pulls, yields and index of each site of a crawl over time, from the store."""

from __future__ import annotations

import math
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawlers.bandits.pull_trace import trace
from crawlers.cli.store_command import whole_number
from crawlers.errors import ConfigError
from crawlers.files.csv_tables import write_table
from crawlers.files.text_file import shortened_list
from crawlers.inputs.setting_readers import named_by
from crawlers.lab.options import check, draw_curves
from crawlers.plurals import counted, plural
from crawlers.reasons import sentence
from crawlers.reports.catalogue.renderers import text_table
from crawlers.reports.catalogue.report import Column, Kind
from crawlers.reports.catalogue.score_reports import feature_worths
from crawlers.reports.crawl_manifest import crawl_rules
from crawlers.reports.figures import COLOURS
from crawlers.store.database import Database
from crawlers.store.reading.crawl_settings import settings_of
from crawlers.store.reading.queries import crawl_named
from crawlers.store.schema.tables import site
from crawlers.store.writing.pulls import pulls_of
from crawlers.workers.exchange import has_work

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from scrapy.settings import BaseSettings

    from crawlers.bandits.pull_trace import Moment
    from crawlers.lab.options import Point
    from crawlers.reports.catalogue.score_reports import FeatureWorth

HELP = "shows pulls, yields and index of each site of a crawl over time, even while the crawl is running."
TAKES = frozenset({"crawl", "out", "picture"})
LATE = 50  # last pulls of a site, for its current yield
MAX_SITES = 40  # lines of the table; the file has all
LEAST_PAGES = 5  # read by links with a feature that is shown
_SITES = select(site.c.id, site.c.site, site.c.availability, site.c.max_level, has_work(site).label("has_work"))
SITES = (
    Column("site", "site"),
    Column("pages", "pages", Kind.COUNT),
    *(Column(name, name, Kind.DECIMAL) for name in ("share", "found", "per page", "recent", "index")),
    Column("state", "state"),
)
FEATURES = (
    Column("factor", "factor", Kind.DECIMAL),
    Column("pages", "pages", Kind.COUNT),
    Column("per_page", "per page", Kind.DECIMAL),
    Column("kind", "kind"),
    Column("feature", "feature"),
    Column("site", "site"),
)
MAX_FEATURES = 15  # that raise what is expected most, and that lower it most


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Add the options of the report to *parser*."""
    parser.add_argument(
        "--every", type=int, default=50, metavar="N", help="pages between two samples (default: %(default)s)"
    )


def run(opts: argparse.Namespace, settings: BaseSettings) -> None:
    """Print the table and write the files that *opts* names; raises `ConfigError`."""
    every = whole_number("--every", opts.every, 1)
    check(opts, settings)
    with closing(Database(settings.get("DATABASE_URL"), create=False)) as database:
        crawl = crawl_named(database, named_by(opts.crawl, settings))
        sites = database.rows(_SITES.where(site.c.crawl_id == crawl.id).order_by(site.c.id))
        pulls = [(one.site_id, one.reward) for one in pulls_of(database, crawl.id)]
        worths = feature_worths(database, crawl.id, LEAST_PAGES)
        recorded = {name: value for name, value in settings_of(database, crawl.id).items() if value is not None}
    if not pulls:
        raise ConfigError(f"CRAWL={crawl.name} has no figures: {_why_empty(sites)}; name another crawl with --crawl")
    rules = crawl_rules(recorded)
    rule = rules.new_rule()
    if rule is None:
        raise ConfigError(f"CRAWL={crawl.name} had RULE={rules.rule}, which is unknown here; report with its version")
    moments = list(trace(rule, [one.id for one in sites], pulls, every))
    earned = sum(reward for _, reward in pulls)
    print(
        f"crawl {crawl.name} (number {crawl.id}, {crawl.state}), RULE={rules.rule}, "
        f"ORDER={recorded.get('ORDER', 'bfs')}: {counted(len(pulls), 'page')}, "
        f"{_amount(earned)} {recorded.get('REWARD', 'new_links').replace('_', ' ')}"
    )
    print(_table(sites, pulls, moments[-len(sites) :]))
    if worths:
        print(f"\nfactors by which features of {LEAST_PAGES} pages or more change the reward that is expected")
        print(_features(worths))
    names: dict[Hashable, str] = {one.id: one.site for one in sites}
    if opts.out:
        _write(Path(opts.out), moments, names)
        print(f"{opts.out}: {len(moments)} {plural(len(moments), 'line')}")
    if opts.picture:
        draw_curves(Path(opts.picture), crawl.name, _panels(moments, names))
        print(f"{opts.picture}: {len(names)} {plural(len(names), 'site')}")


def _why_empty(sites: Sequence[Any]) -> str:
    missing = [f"{one.site} is not available ({sentence(one.availability)})" for one in sites if one.availability]
    if missing:
        return ", ".join(shortened_list(missing))
    return "it has just begun, or its mission counts no rewards, and it has no PAGE_BUDGET"


def _table(sites: Sequence[Any], pulls: Sequence[tuple[int, float]], last: Sequence[Moment]) -> str:
    late: dict[Hashable, list[float]] = {}
    for number, reward in pulls:
        late.setdefault(number, []).append(reward)
    by_id = {one.id: one for one in sites}
    rows = []
    for moment in sorted(last, key=lambda one: -one.own_pulls)[:MAX_SITES]:
        its, recent = by_id[moment.arm], late.get(moment.arm, [])[-LATE:]
        share, means = (
            f"{moment.own_pulls / len(pulls):.1%}",
            (_mean(moment.earned, moment.own_pulls), _mean(sum(recent), len(recent))),
        )
        rows.append(
            (its.site, moment.own_pulls, share, _amount(moment.earned), *means, _index(moment.index), _why_left(its))
        )
    more = len(last) - len(rows)
    return text_table(SITES, rows) + (
        f"\nand {counted(more, 'site')} with fewer pages; --out FILE.csv has all" if more else ""
    )


def _why_left(its: Any) -> str | None:
    """Return why the site of a row is not chosen any more; None if it may be."""
    if its.availability:
        return f"not available: {sentence(its.availability)}"
    if its.has_work:
        return None
    return "read completely" + ("" if its.max_level is None else f" down to level {its.max_level}")


def _features(worths: Sequence[FeatureWorth]) -> str:
    shown = worths if len(worths) <= 2 * MAX_FEATURES else [*worths[:MAX_FEATURES], *worths[-MAX_FEATURES:]]
    rows = (
        (
            round(math.exp(one.weight), 2),
            one.pages,
            round(one.found / one.pages, 2),
            one.kind,
            "" if one.text in (one.site, one.kind) else one.text,
            one.site,
        )
        for one in shown
    )
    return text_table(FEATURES, rows)


def _amount(earned: float) -> str:
    """Return a sum of rewards: of links, which are whole, or of similarities."""
    return f"{earned:,.0f}" if earned.is_integer() else f"{earned:,.2f}"


def _mean(earned: float, pulls: int) -> str | None:
    return f"{earned / pulls:.2f}" if pulls else None


def _index(index: float | None) -> str | None:
    return None if index is None else "due" if math.isinf(index) else f"{index:.3f}"


def _panels(moments: Sequence[Moment], names: Mapping[Hashable, str]) -> dict[str, dict[str, list[Point]]]:
    """Return the curves of the busiest sites over time: pages read, links found and index."""
    busiest = sorted(moments[-len(names) :], key=lambda one: -one.own_pulls)[: len(COLOURS)]
    curves = {names[site.arm]: [one for one in moments if one.arm == site.arm] for site in busiest}
    panels: dict[str, Callable[[Moment], float]] = {
        "pages read of the site": lambda one: one.own_pulls,
        "found": lambda one: one.earned,
        "index of the rule": lambda one: math.nan if one.index is None or math.isinf(one.index) else one.index,
    }
    return {
        label: {name: [(one.pulls, value(one)) for one in curve] for name, curve in curves.items()}
        for label, value in panels.items()
    }


def _write(path: Path, moments: Sequence[Moment], names: Mapping[Hashable, str]) -> None:
    rows = (
        (one.pulls, names[one.arm], one.own_pulls, one.earned, "inf" if one.index == math.inf else one.index)
        for one in moments
    )
    write_table(path, ("pages", "site", "own_pages", "found", "index"), rows)
